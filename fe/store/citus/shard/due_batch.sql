-- Tenants with due, unpaused work: [lane, tenant, round, first], by the walk of claim_due. A lane is an environment, a
-- host, a tenant to begin after and a moment before which nothing is due; round 2 begins again from the first tenant.
CREATE FUNCTION due_batch(
    p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[], p_paused bigint[],
    p_paused_in text[], p_scope int
) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    firsts timestamptz[] := ARRAY(
        SELECT (SELECT o.run_at
                  FROM outbox AS o
                 WHERE o.stage = p_stage AND o.environment = lane.environment AND o.host = lane.host
                   AND o.run_at >= lane.since AND o.run_at <= statement_timestamp() AND o.run_at < 'infinity'
                   AND o.epoch >= 0
                 ORDER BY o.run_at
                 LIMIT 1)
          FROM unnest(p_environments, p_hosts, p_floors) WITH ORDINALITY AS lane (environment, host, since, n)
         ORDER BY lane.n);
BEGIN
    -- Mostly nothing is due.
    IF num_nonnulls(VARIADIC firsts) = 0 THEN
        RETURN '[]';
    END IF;
    RETURN (
        SELECT coalesce(jsonb_agg(jsonb_build_array(lane.n, found.tenant_id, found.round, lane.since)), '[]')
          FROM unnest(p_environments, p_hosts, p_afters, firsts) WITH ORDINALITY
               AS lane (environment, host, after, since, n)
         CROSS JOIN (VALUES (1), (2)) AS turn (round)
         CROSS JOIN LATERAL (
            WITH RECURSIVE ahead (tenant_id, run_at) AS (
                (SELECT o.tenant_id, o.run_at
                   FROM outbox AS o
                  WHERE o.stage = p_stage AND o.environment = lane.environment AND o.host = lane.host
                    AND o.tenant_id > CASE turn.round WHEN 1 THEN lane.after ELSE -1 END AND o.run_at >= lane.since
                    AND o.run_at < 'infinity'
                  ORDER BY o.tenant_id, o.run_at
                  LIMIT 1)
                UNION ALL
                SELECT following.tenant_id, following.run_at
                  FROM ahead
                 CROSS JOIN LATERAL (SELECT o.tenant_id, o.run_at
                                       FROM outbox AS o
                                      WHERE o.stage = p_stage AND o.environment = lane.environment AND o.host = lane.host
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
                                 FROM unnest(p_paused, p_paused_in) AS p (tenant_id, environment)
                                WHERE p.tenant_id IN (0, ahead.tenant_id) AND p.environment IN ('', lane.environment))
             LIMIT p_scope) AS found
         WHERE lane.since IS NOT NULL);
END
$$;
