-- Append one event to the history of each submission.
CREATE OR REPLACE FUNCTION record_event_batch(
    p_tenants bigint[], p_submissions uuid[], p_at timestamptz, p_kind text, p_details jsonb[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_submissions);
BEGIN
    INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
    SELECT b.tenant_id, b.submission_id, coalesce(last.seq, 0) + 1, p_at, p_kind, b.detail,
           event_hash(last.hash, b.tenant_id, b.submission_id, coalesce(last.seq, 0) + 1, p_at, p_kind, b.detail)
      FROM unnest(p_tenants, p_submissions, p_details) AS b (tenant_id, submission_id, detail)
      LEFT JOIN LATERAL (SELECT e.seq, e.hash
                           FROM submission_events AS e
                          WHERE e.tenant_id = b.tenant_id AND e.submission_id = b.submission_id
                            AND e.submission_id BETWEEN span.first AND span.last
                          ORDER BY e.seq DESC
                          LIMIT 1) AS last ON true
     WHERE b.submission_id IS NOT NULL;
    IF p_kind IN ('verdict', 'error') THEN
        PERFORM tell_outcomes(p_tenants, p_submissions, p_at);
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION record_event_batch TO fe_worker;
