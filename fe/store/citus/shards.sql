-- The way to a shard: how the coordinator has a whole booking done where its rows are, in one call (by_shard.py).
--
-- A call goes to a node by the row of `anchors` that lies in one of its shards. The transaction enters each shard first, by a change of
-- that row which changes nothing: to Citus that is a write of this shard. So it keeps the shard where it is until the transaction
-- has ended, sends the call on the same connection, and does not take a commit that the node refused for one that it made.
--
-- A call that is all there is to do, and goes to one node, stands alone (by_shard.py, `_alone`): no transaction is open there for it, and the
-- node has committed when it answers. Then it need not be entered from here. In any case the node enters its shards itself.

-- The anchor of the shard that a tenant is in. One that has none (it was split off since) gets the tenant's own number.
CREATE OR REPLACE FUNCTION anchor_of(p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    here bigint := get_shard_id_for_distribution_column('anchors', p_tenant);
BEGIN
    RETURN coalesce((SELECT a.anchor FROM anchored_shards AS a WHERE a.shard = here), drop_anchor(here, p_tenant));
END
$$;

-- By whoever writes there next: Citus lets nobody else write to what one user has changed in a transaction.
CREATE OR REPLACE FUNCTION drop_anchor(p_shard bigint, p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO anchored_shards (shard, anchor) VALUES (p_shard, p_tenant) ON CONFLICT DO NOTHING;
    INSERT INTO anchors (anchor) VALUES (p_tenant) ON CONFLICT DO NOTHING;
    RETURN (SELECT a.anchor FROM anchored_shards AS a WHERE a.shard = p_shard);
END
$$;

-- Whether what is done stands alone.
CREATE OR REPLACE FUNCTION stands_alone() RETURNS boolean LANGUAGE sql STABLE
RETURN current_setting('fe.alone', true) IS NOT DISTINCT FROM 'on';

-- It does not, as it turned out: whatever is done from here on is one transaction.
CREATE OR REPLACE FUNCTION stand_together() RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('fe.alone', 'off', true);
    PERFORM set_config('citus.function_opens_transaction_block', 'on', true);
END
$$;

-- Enter the shard that a tenant is in; answers its anchor. Whoever waited here until the shard was split looks again.
CREATE OR REPLACE FUNCTION enter_shard_of(p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    here bigint;
BEGIN
    LOOP
        here := anchor_of(p_tenant);
        EXIT WHEN stands_alone();
        UPDATE anchors AS a SET entered = a.entered WHERE a.anchor = here AND a.entered < 0;
        EXIT WHEN get_shard_id_for_distribution_column('anchors', here)
                  = get_shard_id_for_distribution_column('anchors', p_tenant);
    END LOOP;
    RETURN here;
END
$$;

-- Enter the shards of these anchors. One connection to each node does it all, and nobody waits for others who are in the same shards:
-- what is changed in name is nobody's. A plan that is made once would go to every shard there is.
CREATE OR REPLACE FUNCTION enter_shards_of(p_anchors bigint[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode TO force_custom_plan SET "citus.multi_shard_modify_mode" TO sequential
SET "citus.all_modifications_commutative" TO on AS $$
BEGIN
    UPDATE anchors AS a SET entered = a.entered WHERE a.anchor = ANY (p_anchors) AND a.entered < 0;
END
$$;

-- Enter the shards that a batch has rows in, and answer the ways there.
CREATE OR REPLACE FUNCTION enter_shards(p_tenants bigint[]) RETURNS TABLE (way bigint, places int[], shards bigint[])
LANGUAGE plpgsql AS $$
DECLARE
    whose bigint[];
    entries bigint[];
    first record;
    many int := 0;
BEGIN
    IF cardinality(p_tenants) > 0 AND p_tenants[1] = ALL (p_tenants) THEN
        way := enter_shard_of(p_tenants[1]);
        RETURN NEXT;
        RETURN;
    END IF;
    whose := outbox_shards(p_tenants);
    IF stands_alone() THEN
        FOR first IN SELECT * FROM ways_to(p_tenants, whose) LOOP
            many := many + 1;
            way := first.way;
            places := first.places;
            shards := first.shards;
        END LOOP;
        IF many = 1 THEN
            RETURN NEXT;
            RETURN;
        END IF;
        PERFORM stand_together();
    END IF;
    WHILE whose <> '{}' LOOP
        SELECT array_agg(anchor_of(x.tenant_id)) INTO entries
          FROM (SELECT min(t.tenant_id) AS tenant_id
                  FROM unnest(p_tenants, whose) AS t (tenant_id, shard)
                 GROUP BY t.shard
                 ORDER BY t.shard) AS x;
        PERFORM enter_shards_of(entries);
        EXIT WHEN whose = outbox_shards(p_tenants);
        whose := outbox_shards(p_tenants);
    END LOOP;
    RETURN QUERY SELECT * FROM ways_to(p_tenants, whose);
END
$$;

-- Of each node that a batch has rows on, by the shard of the outbox of each: an anchor as the way there, the places of its rows in the
-- batch (NULL: all), and of each of these the shard (NULL: the anchor's).
CREATE OR REPLACE FUNCTION ways_to(p_tenants bigint[], p_shards bigint[])
RETURNS TABLE (way bigint, places int[], shards bigint[])
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT anchor_of(x.tenant_id), CASE WHEN x.nodes > 1 THEN x.places END, CASE WHEN x.several THEN x.shards END
      FROM (SELECT min(t.tenant_id) AS tenant_id, array_agg(t.n::int ORDER BY t.n) AS places,
                   array_agg(t.shard ORDER BY t.n) AS shards, min(t.shard) < max(t.shard) AS several,
                   count(*) OVER () AS nodes, p.groupid
              FROM unnest(p_tenants, p_shards) WITH ORDINALITY AS t (tenant_id, shard, n)
              JOIN pg_dist_placement AS p ON p.shardid = t.shard
             GROUP BY p.groupid) AS x
     ORDER BY x.groupid;
END
$$;

-- Whoever found no way, or rows that are not where it led, is refused and tries again: the anchor of a new shard is seen on the
-- coordinator a moment before it is on the node, and what a node knows of shards may be older than what the coordinator does.
CREATE OR REPLACE FUNCTION require_way(p_found boolean) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_found IS NOT TRUE THEN
        RAISE EXCEPTION 'the way to a shard is not there yet' USING ERRCODE = 'serialization_failure';
    END IF;
END
$$;

-- The shard of the outbox that each of these tenants is in.
CREATE OR REPLACE FUNCTION outbox_shards(p_tenants bigint[]) RETURNS bigint[]
LANGUAGE plpgsql AS $$
BEGIN
    IF cardinality(p_tenants) > 0 AND p_tenants[1] = ALL (p_tenants) THEN
        RETURN array_fill(get_shard_id_for_distribution_column('outbox', p_tenants[1]), ARRAY[cardinality(p_tenants)]);
    END IF;
    RETURN ARRAY(SELECT get_shard_id_for_distribution_column('outbox', t.tenant_id)
                   FROM unnest(p_tenants) WITH ORDINALITY AS t (tenant_id, n)
                  ORDER BY t.n);
END
$$;

-- On a node: those of these shards that are here, and the places of each.
CREATE OR REPLACE FUNCTION shards_here(p_shards bigint[]) RETURNS TABLE (shard bigint, places int[])
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT s.shard, array_agg(s.n::int ORDER BY s.n)
      FROM unnest(p_shards) WITH ORDINALITY AS s (shard, n)
      JOIN pg_dist_placement AS p ON p.shardid = s.shard
      JOIN pg_dist_local_group AS here ON here.groupid = p.groupid
     GROUP BY s.shard
     ORDER BY s.shard;
END
$$;

-- The elements of an array, if there is one, that are at these places; NULL: all.
CREATE OR REPLACE FUNCTION picked(p_of anyarray, p_places int[]) RETURNS anyarray
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF p_places IS NULL OR p_of IS NULL THEN
        RETURN p_of;
    END IF;
    RETURN ARRAY(SELECT p_of[x.place] FROM unnest(p_places) WITH ORDINALITY AS x (place, n) ORDER BY x.n);
END
$$;

-- Documents one after the other, for the way to a node, and how long each is; NULL: there is none.
CREATE OR REPLACE FUNCTION joined(p_of bytea[]) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (SELECT string_agg(x.document, ''::bytea ORDER BY x.n) FROM unnest(p_of) WITH ORDINALITY AS x (document, n));
END
$$;

CREATE OR REPLACE FUNCTION lengths_of(p_of bytea[]) RETURNS int[]
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN ARRAY(SELECT octet_length(x.document) FROM unnest(p_of) WITH ORDINALITY AS x (document, n) ORDER BY x.n);
END
$$;

-- On a node: the same as they were.
CREATE OR REPLACE FUNCTION parted(p_joined bytea, p_lengths int[]) RETURNS bytea[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    parts bytea[] := '{}';
    first int := 1;
BEGIN
    FOR n IN 1 .. cardinality(p_lengths) LOOP
        parts[n] := substring(p_joined FROM first FOR p_lengths[n]);
        first := first + coalesce(p_lengths[n], 0);
    END LOOP;
    RETURN parts;
END
$$;

-- Of each lease that is asked for: for how long, or NULL where there is none, or where its work is paused.
CREATE OR REPLACE FUNCTION leases_unless_paused(p_tenants bigint[], p_environments text[], p_leases interval[])
RETURNS interval[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_leases IS NULL OR num_nonnulls(VARIADIC p_leases) = 0 THEN
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

-- On a node: enter the shard that all of these tenants are in, as Citus does for whoever writes to one: it is not moved or split until the
-- transaction has ended. Answers it; refused unless it is here. With the rights of its owner, who alone may hold a shard.
CREATE OR REPLACE FUNCTION shard_entered(p_tenants bigint[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    here bigint := get_shard_id_for_distribution_column('outbox', p_tenants[1]);
BEGIN
    PERFORM lock_shard_metadata(5, ARRAY[here]);
    IF NOT p_tenants[1] = ALL (p_tenants) THEN
        PERFORM require_way(here = ALL (outbox_shards(p_tenants)));
    END IF;
    PERFORM FROM pg_dist_placement AS p JOIN pg_dist_local_group AS local ON local.groupid = p.groupid WHERE p.shardid = here;
    PERFORM require_way(FOUND);
    RETURN here;
END
$$;

-- On a node: enter these shards, of each of these tenants one. Whether they are here, shards_here tells.
CREATE OR REPLACE FUNCTION enter_these(p_shards bigint[], p_tenants bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM lock_shard_metadata(5, ARRAY(SELECT DISTINCT s.shard FROM unnest(p_shards) AS s (shard) ORDER BY s.shard));
    PERFORM require_way(p_shards = outbox_shards(p_tenants));
END
$$;

-- On a node: name the tenant whose rows are written there.
CREATE OR REPLACE FUNCTION named_here(p_tenant bigint) RETURNS bigint
LANGUAGE sql VOLATILE
RETURN set_config('fe.tenant', p_tenant::text, true)::bigint;

-- On a node: make the functions of one more shard, and have them called. With the rights of its owner: what it makes is what
-- shard_functions() and shard_callers() say, and nothing else.
CREATE OR REPLACE FUNCTION make_shard_functions(p_shard bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET "citus.enable_ddl_propagation" TO off AS $$
DECLARE
    names jsonb;
    function_text text;
    function_name text;
    one text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('shard functions'));
    -- Whoever waited finds that they were made.
    IF EXISTS (SELECT
                 FROM pg_proc AS p
                WHERE p.oid = to_regproc('due_batch_in_shard') AND p.prosrc LIKE '%p_shard = ' || p_shard || ' THEN%') THEN
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
        IF to_regproc(function_name) IS NULL THEN
            EXECUTE function_text;
            EXECUTE format('GRANT EXECUTE ON FUNCTION %I TO fe_front, fe_portal, fe_worker, fe_operator', function_name);
        END IF;
    END LOOP;
    PERFORM make_shard_callers();
END
$$;

-- On a node: what calls the function of a shard, anew, with a branch for each shard that has one. A call by a name that is put together each
-- time would be parsed and planned each time.
CREATE OR REPLACE FUNCTION make_shard_callers() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    caller text[];
    branches text;
BEGIN
    FOREACH caller SLICE 1 IN ARRAY shard_callers() LOOP
        SELECT string_agg(replace(caller[3], '{{shard}}', made.shard), '' ORDER BY made.shard) INTO branches
          FROM (SELECT substring(p.proname FROM '[0-9]+$') AS shard
                  FROM pg_proc AS p
                 WHERE p.pronamespace = current_schema()::regnamespace
                   AND p.proname ~ ('^' || caller[1] || '_[0-9]+$')) AS made;
        EXECUTE replace(caller[2], '{{branches}}', coalesce(branches, ''));
    END LOOP;
END
$$;

-- On a node: make them anew, as the migrations have them now. Those of a shard that comes later are made when they are first asked for; two
-- that ask several nodes for such at once may wait for each other, and one of them is refused.
CREATE OR REPLACE FUNCTION renew_shard_functions() RETURNS void
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
    PERFORM make_shard_callers();
    PERFORM make_shard_functions(here.shard) FROM outbox_shards_here() AS here (shard);
END
$$;

ALTER TABLE anchors ADD COLUMN IF NOT EXISTS entered int NOT NULL DEFAULT 0;

GRANT SELECT, INSERT, UPDATE (entered) ON anchors TO fe_front, fe_portal, fe_worker, fe_operator;

GRANT SELECT, INSERT ON anchored_shards TO fe_front, fe_portal, fe_worker, fe_operator;

GRANT EXECUTE ON FUNCTION anchor_of, drop_anchor, outbox_shards, shards_here, enter_shard_of, enter_shards_of,
enter_shards, ways_to, require_way, picked, joined, lengths_of, parted, leases_unless_paused, named_here,
make_shard_functions, stands_alone, stand_together, shard_entered, enter_these
TO fe_front, fe_portal, fe_worker, fe_operator;
