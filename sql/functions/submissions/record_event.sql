-- Append an event to a submission's history. Its hash covers the hash before it, so that no event can be changed or
-- removed unseen.
CREATE OR REPLACE FUNCTION record_event(
    p_tenant bigint, p_submission uuid, p_at timestamptz, p_kind text, p_detail jsonb
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    previous record;
    next_seq int;
BEGIN
    SELECT e.seq, e.hash INTO previous
      FROM submission_events AS e
     WHERE e.tenant_id = p_tenant AND e.submission_id = p_submission
     ORDER BY e.seq DESC
     LIMIT 1;
    next_seq := coalesce(previous.seq, 0) + 1;
    INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
    VALUES (p_tenant, p_submission, next_seq, p_at, p_kind, p_detail,
            event_hash(previous.hash, p_tenant, p_submission, next_seq, p_at, p_kind, p_detail));
    IF p_kind IN ('verdict', 'error', 'discarded') THEN
        PERFORM tell_outcomes(ARRAY[p_tenant], ARRAY[p_submission], p_at);
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION record_event TO fe_front, fe_portal, fe_worker, fe_operator;
