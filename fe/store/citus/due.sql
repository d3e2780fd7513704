-- Which tenants have work due: of each shard the walk from tenant to tenant of 0014, made where its rows are. What it costs grows
-- with the tenants that wait, never with their rows.
--
-- Each node is asked once for all of its shards, on a connection that is kept. A statement goes to a node by a row that lies
-- there, so there is a table with one row for each shard and nothing else to say; the coordinator has in which shard each lies.
-- Where a node has no such row (its shards were all split off since the last `fe migrate`) or does not answer, each shard is
-- asked on a connection of its own, and those that do not answer are passed over.

CREATE TABLE IF NOT EXISTS anchors (
    anchor bigint NOT NULL,
    entered int NOT NULL DEFAULT 0,
    CONSTRAINT anchors_pk PRIMARY KEY (anchor)
);

CREATE TABLE IF NOT EXISTS anchored_shards (
    shard bigint NOT NULL,
    anchor bigint NOT NULL,
    CONSTRAINT anchored_shards_pk PRIMARY KEY (shard)
);

-- On a node: its shards of the outbox.
CREATE OR REPLACE FUNCTION outbox_shards_here() RETURNS SETOF bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
    SELECT s.shardid
      FROM pg_dist_shard AS s
      JOIN pg_dist_placement AS p ON p.shardid = s.shardid
      JOIN pg_dist_local_group AS local ON local.groupid = p.groupid
     WHERE s.logicalrelid = 'outbox'::regclass;
END
$$;

-- On a node: who has work due in its shards of the outbox (due_batch), in one statement. The anchor is only the way there.
CREATE OR REPLACE FUNCTION due_on_node(
    p_anchor bigint, p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[],
    p_paused bigint[], p_paused_in text[], p_scope int
) RETURNS jsonb LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    here bigint;
    due jsonb := '[]';
BEGIN
    FOR here IN SELECT * FROM outbox_shards_here() LOOP
        due := due || due_batch_in_shard(here, p_stage, p_environments, p_hosts, p_afters, p_floors, p_paused, p_paused_in, p_scope);
    END LOOP;
    RETURN due;
END
$$;

-- On a node: of each lane the first moment at which a row of its shards is due (floors_batch).
CREATE OR REPLACE FUNCTION floors_on_node(p_anchor bigint, p_stage text, p_environments text[], p_hosts text[])
RETURNS timestamptz[] LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    here bigint;
    floors timestamptz[] := array_fill(NULL::timestamptz, ARRAY[cardinality(p_hosts)]);
BEGIN
    FOR here IN SELECT * FROM outbox_shards_here() LOOP
        floors := earlier_of(floors, floors_batch_in_shard(here, p_stage, p_environments, p_hosts));
    END LOOP;
    RETURN floors;
END
$$;

-- The earlier of each two; NULL: there is none.
CREATE OR REPLACE FUNCTION earlier_of(p_one timestamptz[], p_other timestamptz[]) RETURNS timestamptz[]
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN ARRAY(SELECT least(x.one, x.other) FROM unnest(p_one, p_other) WITH ORDINALITY AS x (one, other, n) ORDER BY x.n);
END
$$;

-- The nodes, by their groups, of which this session was told that they do not answer, if that is still to be believed
-- (fe/store/postgres/nodes.py).
CREATE OR REPLACE FUNCTION away_nodes() RETURNS int[]
LANGUAGE plpgsql AS $$
DECLARE
    told text := coalesce(current_setting('fe.nodes_away', true), '');
BEGIN
    IF told = '' OR substr(told, strpos(told, ' ') + 1)::timestamptz < clock_timestamp() THEN
        RETURN '{}';
    END IF;
    RETURN split_part(told, ' ', 1);
END
$$;

-- An anchor of each node, if all have one; without those that do not answer.
CREATE OR REPLACE FUNCTION anchors_of_nodes() RETURNS bigint[]
LANGUAGE plpgsql STABLE SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    away int[] := away_nodes();
BEGIN
    RETURN (SELECT CASE WHEN count(*) = count(n.anchor) THEN coalesce(array_agg(n.anchor), '{}') END
              FROM (SELECT min(a.anchor) AS anchor
                      FROM pg_dist_shard AS s
                      JOIN pg_dist_placement AS p ON p.shardid = s.shardid
                      LEFT JOIN anchored_shards AS a ON a.shard = s.shardid
                     WHERE s.logicalrelid = 'anchors'::regclass AND p.groupid <> ALL (away)
                     GROUP BY p.groupid) AS n);
END
$$;

-- The node, by its group, that the rows of each of these tenants lie on; NULL where a shard was split this moment. With the rights of its
-- owner, because some who ask have none on the outbox.
CREATE OR REPLACE FUNCTION nodes_of(p_tenants bigint[]) RETURNS int[]
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN ARRAY(SELECT (SELECT min(p.groupid) FROM pg_dist_placement AS p WHERE p.shardid = t.shard)
                   FROM unnest(outbox_shards(p_tenants)) WITH ORDINALITY AS t (shard, n)
                  ORDER BY t.n);
END
$$;

-- Who has work due, of all nodes; refused (connection_exception) where one does not answer, or has lost the way to it. A plan that is
-- made once would ask every shard there is.
CREATE OR REPLACE FUNCTION due_on_nodes(
    p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[], p_scope int
) RETURNS jsonb LANGUAGE plpgsql SET plan_cache_mode TO force_custom_plan AS $$
DECLARE
    every_node bigint[] := anchors_of_nodes();
    paused bigint[];
    paused_in text[];
    one jsonb;
    answered int := 0;
    due jsonb := '[]';
BEGIN
    SELECT coalesce(array_agg(p.tenant_id), '{}'), coalesce(array_agg(p.environment), '{}') INTO paused, paused_in
      FROM pauses AS p;
    FOR one IN
        SELECT due_on_node(a.anchor, p_stage, p_environments, p_hosts, p_afters, p_floors, paused, paused_in, p_scope)
          FROM anchors AS a
         WHERE a.anchor = ANY (every_node)
    LOOP
        due := due || one;
        answered := answered + 1;
    END LOOP;
    IF every_node IS NULL OR answered < cardinality(every_node) THEN
        RAISE EXCEPTION 'a node has lost the way to it' USING ERRCODE = 'connection_exception';
    END IF;
    RETURN due;
END
$$;

-- The same of those that answer. To be ready for one that does not costs a savepoint on each, a third of the search.
CREATE OR REPLACE FUNCTION due_anywhere(
    p_table text, p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[],
    p_scope int
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    paused bigint[];
    paused_in text[];
    due jsonb;
BEGIN
    BEGIN
        -- What the others hold of a search that fails, who is asked next would wait for: that is let go of with the block.
        RETURN due_on_nodes(p_stage, p_environments, p_hosts, p_afters, p_floors, p_scope);
    EXCEPTION
        WHEN connection_exception THEN
            NULL;
    END;
    SELECT coalesce(array_agg(p.tenant_id), '{}'), coalesce(array_agg(p.environment), '{}') INTO paused, paused_in
      FROM pauses AS p;
    SELECT coalesce(jsonb_agg(found.due), '[]') INTO due
      FROM run_command_on_shards(p_table, format(
               'SELECT due_batch_in_shard(substring(''%%s'' FROM ''[0-9]+$'')::bigint, %L, %L::text[], %L::text[],
                                          %L::bigint[], %L::timestamptz[], %L::bigint[], %L::text[], %s)',
               p_stage, p_environments, p_hosts, p_afters, p_floors, paused, paused_in, p_scope)) AS shard
     CROSS JOIN jsonb_array_elements(shard.result::jsonb) AS found (due)
     WHERE shard.success;
    RETURN due;
END
$$;

-- Of each lane the first moment at which a row is due, on the nodes that answer: what lies on one that does not is looked for when the
-- floors are asked for again.
CREATE OR REPLACE FUNCTION floors_anywhere(p_stage text, p_environments text[], p_hosts text[]) RETURNS timestamptz[]
LANGUAGE plpgsql SET plan_cache_mode TO force_custom_plan AS $$
DECLARE
    every_node bigint[] := anchors_of_nodes();
    one timestamptz[];
    nobody timestamptz[] := array_fill(NULL::timestamptz, ARRAY[cardinality(p_hosts)]);
    floors timestamptz[] := nobody;
    answered int := 0;
BEGIN
    BEGIN
        FOR one IN
            SELECT floors_on_node(a.anchor, p_stage, p_environments, p_hosts)
              FROM anchors AS a
             WHERE a.anchor = ANY (every_node)
        LOOP
            floors := earlier_of(floors, one);
            answered := answered + 1;
        END LOOP;
        IF answered = cardinality(every_node) THEN
            RETURN floors;
        END IF;
    EXCEPTION
        WHEN connection_exception THEN
            NULL;
    END;
    floors := nobody;
    FOR one IN
        SELECT shard.result::timestamptz[]
          FROM run_command_on_shards('outbox', format(
                   'SELECT floors_batch_in_shard(substring(''%%s'' FROM ''[0-9]+$'')::bigint, %L, %L::text[], %L::text[])',
                   p_stage, p_environments, p_hosts)) AS shard
         WHERE shard.success
    LOOP
        floors := earlier_of(floors, one);
    END LOOP;
    RETURN floors;
END
$$;

GRANT EXECUTE ON FUNCTION nodes_of, away_nodes TO fe_front, fe_portal, fe_worker, fe_operator, fe_reception;

GRANT EXECUTE ON FUNCTION outbox_shards_here, due_on_node, floors_on_node, earlier_of, anchors_of_nodes, due_on_nodes,
due_anywhere, floors_anywhere TO fe_worker;
