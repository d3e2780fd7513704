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

-- On a node: [lane, tenant, round] of those in one shard, by name, that have work due and are not paused. A lane is an
-- environment and a host, a tenant to begin after and a moment before which nothing is due; round 2 begins anew from the first.
CREATE OR REPLACE FUNCTION due_in_shard(
    p_shard text, p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[],
    p_paused bigint[], p_paused_in text[], p_scope int
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    due jsonb;
BEGIN
    EXECUTE format($walk$
        SELECT coalesce(jsonb_agg(jsonb_build_array(lane.n, found.tenant_id, found.round)), '[]')
          FROM unnest($2, $3, $4, $5) WITH ORDINALITY AS lane (environment, host, after, since, n)
         CROSS JOIN (VALUES (1), (2)) AS turn (round)
         CROSS JOIN LATERAL (
            WITH RECURSIVE ahead (tenant_id, run_at) AS (
                (SELECT o.tenant_id, o.run_at
                   FROM %1$s AS o
                  WHERE o.stage = $1 AND o.environment = lane.environment AND o.host = lane.host
                    AND o.tenant_id > CASE turn.round WHEN 1 THEN lane.after ELSE -1 END AND o.run_at >= lane.since
                    AND o.run_at < 'infinity'
                  ORDER BY o.tenant_id, o.run_at
                  LIMIT 1)
                UNION ALL
                SELECT following.tenant_id, following.run_at
                  FROM ahead
                 CROSS JOIN LATERAL (SELECT o.tenant_id, o.run_at
                                       FROM %1$s AS o
                                      WHERE o.stage = $1 AND o.environment = lane.environment AND o.host = lane.host
                                        AND o.tenant_id > ahead.tenant_id AND o.run_at >= lane.since
                                        AND o.run_at < 'infinity'
                                        AND o.tenant_id <= CASE turn.round WHEN 1 THEN 9223372036854775807
                                                                         ELSE lane.after END
                                      ORDER BY o.tenant_id, o.run_at
                                      LIMIT 1) AS following
            )
            SELECT ahead.tenant_id, turn.round
              FROM ahead
             WHERE ahead.run_at <= statement_timestamp() AND (turn.round = 1 OR ahead.tenant_id <= lane.after)
               AND NOT EXISTS (SELECT
                                 FROM unnest($6, $7) AS p (tenant_id, environment)
                                WHERE p.tenant_id IN (0, ahead.tenant_id) AND p.environment IN ('', lane.environment))
             LIMIT $8) AS found
        $walk$, p_shard)
       INTO due
      USING p_stage, p_environments, p_hosts, p_afters, p_floors, p_paused, p_paused_in, p_scope;
    RETURN due;
END
$$;

-- On a node: the same of all its shards of a table. The anchor is only the way there.
CREATE OR REPLACE FUNCTION due_on_node(
    p_anchor bigint, p_table text, p_stage text, p_environments text[], p_hosts text[], p_afters bigint[],
    p_floors timestamptz[], p_paused bigint[], p_paused_in text[], p_scope int
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    due jsonb := '[]';
    look text;
    shard text;
BEGIN
    -- Where nothing is due, which is mostly so, one look at all shards says it.
    SELECT string_agg(format($look$
               SELECT %1$L
                WHERE EXISTS (SELECT
                                FROM unnest($2, $3, $4) AS lane (environment, host, since)
                               CROSS JOIN LATERAL (SELECT
                                                     FROM %1$I AS o
                                                    WHERE o.stage = $1 AND o.environment = lane.environment
                                                      AND o.host = lane.host AND o.run_at >= lane.since
                                                      AND o.run_at <= statement_timestamp()
                                                      AND o.run_at < 'infinity' AND o.epoch >= 0
                                                    LIMIT 1) AS first)
               $look$, p_table || '_' || s.shardid), ' UNION ALL ')
      INTO look
      FROM pg_dist_shard AS s
      JOIN pg_dist_placement AS p ON p.shardid = s.shardid
      JOIN pg_dist_local_group AS here ON here.groupid = p.groupid
     WHERE s.logicalrelid = p_table::regclass;
    IF look IS NULL THEN
        RETURN due;
    END IF;
    FOR shard IN EXECUTE look USING p_stage, p_environments, p_hosts, p_floors
    LOOP
        due := due || due_in_shard(
            format('%I', shard), p_stage, p_environments, p_hosts, p_afters, p_floors, p_paused, p_paused_in, p_scope);
    END LOOP;
    RETURN due;
END
$$;

-- The same of all nodes.
CREATE OR REPLACE FUNCTION due_anywhere(
    p_table text, p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[],
    p_scope int
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    paused bigint[];
    paused_in text[];
    every_node bigint[];
    one jsonb;
    due jsonb := '[]';
BEGIN
    SELECT coalesce(array_agg(p.tenant_id), '{}'), coalesce(array_agg(p.environment), '{}') INTO paused, paused_in
      FROM pauses AS p;
    SELECT CASE WHEN bool_and(n.anchor IS NOT NULL) THEN array_agg(n.anchor) END INTO every_node
      FROM (SELECT min(a.anchor) AS anchor
              FROM pg_dist_shard AS s
              JOIN pg_dist_placement AS p ON p.shardid = s.shardid
              LEFT JOIN anchored_shards AS a ON a.shard = s.shardid
             WHERE s.logicalrelid = 'anchors'::regclass
             GROUP BY p.groupid) AS n;
    IF every_node IS NOT NULL THEN
        BEGIN
            FOR one IN
                SELECT due_on_node(a.anchor, p_table, p_stage, p_environments, p_hosts, p_afters, p_floors, paused,
                                   paused_in, p_scope)
                  FROM anchors AS a
                 WHERE a.anchor = ANY (every_node)
            LOOP
                due := due || one;
            END LOOP;
            RETURN due;
        EXCEPTION
            WHEN connection_exception THEN
                due := '[]';
        END;
    END IF;
    SELECT coalesce(jsonb_agg(found.due), '[]') INTO due
      FROM run_command_on_shards(p_table, format(
               'SELECT due_in_shard(''%%s'', %L, %L::text[], %L::text[], %L::bigint[], %L::timestamptz[], %L::bigint[],
                                    %L::text[], %s)',
               p_stage, p_environments, p_hosts, p_afters, p_floors, paused, paused_in, p_scope)) AS shard
     CROSS JOIN jsonb_array_elements(shard.result::jsonb) AS found (due)
     WHERE shard.success;
    RETURN due;
END
$$;

GRANT SELECT ON anchors, anchored_shards TO fe_worker, fe_operator;

GRANT EXECUTE ON FUNCTION due_in_shard, due_on_node, due_anywhere TO fe_worker;
