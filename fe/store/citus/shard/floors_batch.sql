-- First due moment of each lane, now or later; NULL: none.
CREATE FUNCTION floors_batch(p_stage text, p_environments text[], p_hosts text[]) RETURNS timestamptz[]
LANGUAGE plpgsql SET enable_seqscan TO off AS $$
BEGIN
    RETURN ARRAY(
        SELECT (SELECT o.run_at
                  FROM outbox AS o
                 WHERE o.stage = p_stage AND o.environment = lane.environment AND o.host = lane.host
                   AND o.run_at < 'infinity' AND o.epoch >= 0
                 ORDER BY o.run_at
                 LIMIT 1)
          FROM unnest(p_environments, p_hosts) WITH ORDINALITY AS lane (environment, host, n)
         ORDER BY lane.n);
END
$$;
