-- The earliest due rows of a lane, by time.
CREATE OR REPLACE FUNCTION earliest_due_rows(
    p_stage text, p_environment text, p_host text, p_since timestamptz, p_rows int
)
RETURNS TABLE (tenant_id bigint, run_at timestamptz) LANGUAGE sql STABLE ROWS 10 AS $$
    SELECT o.tenant_id, o.run_at
      FROM outbox AS o
     WHERE o.stage = p_stage AND o.environment = p_environment AND o.host = p_host
       AND o.run_at >= p_since AND o.run_at <= statement_timestamp() AND o.run_at < 'infinity' AND o.epoch >= 0
     ORDER BY o.run_at
     LIMIT p_rows
$$;

GRANT EXECUTE ON FUNCTION earliest_due_rows TO fe_worker;
