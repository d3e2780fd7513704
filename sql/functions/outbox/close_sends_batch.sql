-- Close the open sends of submissions with an outcome.
CREATE OR REPLACE FUNCTION close_sends_batch(
    p_tenants bigint[], p_subjects uuid[], p_at timestamptz, p_outcome text, p_track_ids text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_subjects);
BEGIN
    UPDATE sends AS d
       SET outcome = p_outcome, answered_at = p_at, track_id = b.track_id
      FROM unnest(p_tenants, p_subjects, p_track_ids) AS b (tenant_id, subject, track_id)
     WHERE d.tenant_id = b.tenant_id AND d.submission_id = b.subject AND d.outcome IN ('intended', 'unknown')
       AND d.submission_id BETWEEN span.first AND span.last;
END
$$;

GRANT EXECUTE ON FUNCTION close_sends_batch TO fe_worker;
