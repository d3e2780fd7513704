-- The way to a shard: how the coordinator has a whole booking done where its rows are, in one call (by_shard.py).
--
-- A call goes to a shard by the row of `anchors` that lies there. The transaction enters the shard first, by a change of that row which
-- changes nothing: to Citus that is a write of this shard. So it keeps the shard where it is until the transaction has ended,
-- sends the call on the same connection, and does not take a commit that the node refused for one that it made.


-- The anchor of the shard that a tenant is in. One that has none (it was split off since) gets the tenant's own number.
CREATE OR REPLACE FUNCTION anchor_of(p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    here bigint := get_shard_id_for_distribution_column('anchors', p_tenant);
BEGIN
    RETURN coalesce((SELECT a.anchor FROM anchored_shards AS a WHERE a.shard = here), drop_anchor(here, p_tenant));
END
$$;

CREATE OR REPLACE FUNCTION drop_anchor(p_shard bigint, p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    INSERT INTO anchored_shards (shard, anchor) VALUES (p_shard, p_tenant) ON CONFLICT DO NOTHING;
    INSERT INTO anchors (anchor) VALUES (p_tenant) ON CONFLICT DO NOTHING;
    RETURN (SELECT a.anchor FROM anchored_shards AS a WHERE a.shard = p_shard);
END
$$;

-- The shards that a batch has rows in: of each its anchor, and the places in the batch; NULL: all.
CREATE OR REPLACE FUNCTION shards_of(p_tenants bigint[]) RETURNS TABLE (anchor bigint, places int[])
LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(p_tenants) = 0 THEN
        RETURN;
    END IF;
    IF p_tenants[1] = ALL (p_tenants) THEN
        anchor := anchor_of(p_tenants[1]);
        RETURN NEXT;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT anchor_of(x.tenant_id), CASE WHEN x.shards > 1 THEN x.places END
      FROM (SELECT min(t.tenant_id) AS tenant_id, array_agg(t.n::int ORDER BY t.n) AS places, count(*) OVER () AS shards,
                   get_shard_id_for_distribution_column('anchors', t.tenant_id) AS shard
              FROM unnest(p_tenants) WITH ORDINALITY AS t (tenant_id, n)
             GROUP BY 4) AS x
     ORDER BY x.shard;
END
$$;

CREATE OR REPLACE FUNCTION enter_shard(p_anchor bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE anchors AS a SET entered = a.entered WHERE a.anchor = p_anchor AND a.entered < 0;
END
$$;

-- The elements of an array that are at these places.
CREATE OR REPLACE FUNCTION picked(p_of anyarray, p_places int[]) RETURNS anyarray
LANGUAGE sql IMMUTABLE AS $$
    SELECT ARRAY(SELECT p_of[x.place] FROM unnest(p_places) WITH ORDINALITY AS x (place, n) ORDER BY x.n)
$$;

-- Of each lease that is asked for: for how long, or NULL where there is none, or where its work is paused.
CREATE OR REPLACE FUNCTION leases_unless_paused(p_tenants bigint[], p_environments text[], p_leases interval[])
RETURNS interval[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF num_nonnulls(VARIADIC p_leases) = 0 THEN
        RETURN p_leases;
    END IF;
    RETURN ARRAY(SELECT CASE WHEN NOT EXISTS (
                            SELECT 1
                              FROM pauses AS p
                             WHERE p.tenant_id IN (0, b.tenant_id) AND p.environment IN ('', b.environment))
                        THEN b.lease END
                   FROM unnest(p_tenants, p_environments, p_leases) WITH ORDINALITY
                        AS b (tenant_id, environment, lease, n)
                  ORDER BY b.n);
END
$$;

-- On a node: name the tenant whose rows are written there.
CREATE OR REPLACE FUNCTION named_here(p_tenant bigint) RETURNS bigint
LANGUAGE sql VOLATILE
RETURN set_config('fe.tenant', p_tenant::text, true)::bigint;

-- On a node: the name of a function of that shard of the outbox. They are made when one is first asked for.
CREATE OR REPLACE FUNCTION of_shard(p_name text, p_shard bigint) RETURNS text
LANGUAGE plpgsql AS $$
BEGIN
    IF to_regproc(p_name || '_' || p_shard) IS NULL THEN
        PERFORM make_shard_functions(p_shard);
    END IF;
    RETURN p_name || '_' || p_shard;
END
$$;

-- With the rights of its owner: what it makes is what shard_functions() says, and nothing else.
CREATE OR REPLACE FUNCTION make_shard_functions(p_shard bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET "citus.enable_ddl_propagation" TO off AS $$
DECLARE
    names jsonb;
    function_text text;
    function_name text;
    one text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('shard functions'));
    IF to_regproc('complete_batch_' || p_shard) IS NOT NULL THEN
        RETURN;
    END IF;
    SELECT jsonb_object_agg(beside.logicalrelid::text, beside.logicalrelid::text || '_' || beside.shardid) INTO names
      FROM pg_dist_shard AS s
      JOIN pg_dist_partition AS p ON p.logicalrelid = s.logicalrelid
      JOIN pg_dist_partition AS q ON q.colocationid = p.colocationid
      JOIN pg_dist_shard AS beside ON beside.logicalrelid = q.logicalrelid AND beside.shardminvalue = s.shardminvalue
     WHERE s.shardid = p_shard;
    FOREACH function_text IN ARRAY shard_functions() LOOP
        function_name := (regexp_match(function_text, '\{\{(\w+)\}\}'))[1] || '_' || p_shard;
        FOR one IN SELECT DISTINCT (regexp_matches(function_text, '\{\{(\w+)\}\}', 'g'))[1] LOOP
            function_text := replace(function_text, '{{' || one || '}}', coalesce(names ->> one, one || '_' || p_shard));
        END LOOP;
        EXECUTE function_text;
        EXECUTE format('GRANT EXECUTE ON FUNCTION %I TO fe_front, fe_worker, fe_operator', function_name);
    END LOOP;
END
$$;

-- On a node: make them anew when they are next asked for, as the migrations have them now.
CREATE OR REPLACE FUNCTION forget_shard_functions() RETURNS void
LANGUAGE plpgsql SET "citus.enable_ddl_propagation" TO off AS $$
DECLARE
    one text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('shard functions'));
    FOR one IN
        SELECT p.oid::regprocedure::text
          FROM pg_proc AS p
          JOIN unnest(shard_functions()) AS f (text)
            ON p.proname ~ ('^' || (regexp_match(f.text, '\{\{(\w+)\}\}'))[1] || '_[0-9]+$')
         WHERE p.pronamespace = current_schema()::regnamespace
    LOOP
        EXECUTE 'DROP FUNCTION ' || one;
    END LOOP;
END
$$;

ALTER TABLE anchors ADD COLUMN IF NOT EXISTS entered int NOT NULL DEFAULT 0;

GRANT SELECT, UPDATE (entered) ON anchors TO fe_front, fe_worker, fe_operator;

GRANT SELECT ON anchored_shards TO fe_front;

GRANT EXECUTE ON FUNCTION anchor_of, drop_anchor, shards_of, enter_shard, picked, leases_unless_paused, of_shard,
named_here, make_shard_functions, shard_functions TO fe_front, fe_worker, fe_operator;
