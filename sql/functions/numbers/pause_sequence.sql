-- Pause the sequence that gave a submission its number, because another document holds the number.
--   'paused'
--   'known'  it was paused before, or resumed after it gave the number, or is gone
--   NULL     the number came with the document, or a client requested this answer
CREATE OR REPLACE FUNCTION pause_sequence(p_tenant bigint, p_submission uuid) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    given record;
    its_sequence text;
    moment timestamptz := clock_timestamp();
BEGIN
    SELECT s.environment, s.e_ncf, s.submitted_at INTO given
      FROM submissions AS s
      JOIN submission_events AS e
        ON e.tenant_id = p_tenant AND e.submission_id = p_submission AND e.seq = 1 AND e.kind = 'accepted'
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_submission AND (e.detail ->> 'drawn')::boolean
       AND NOT EXISTS (SELECT 1 FROM simulations AS z WHERE z.tenant_id = p_tenant AND z.submission_id = p_submission);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT (array_agg(q.prefix ORDER BY number_lies(given.e_ncf, q.prefix, q.min_number, q.max_number, q.former_ranges)))[1]
      INTO its_sequence
      FROM sequences AS q
     WHERE q.tenant_id = p_tenant AND q.environment = given.environment AND left(q.prefix, 3) = left(given.e_ncf, 3)
       AND number_lies(given.e_ncf, q.prefix, q.min_number, q.max_number, q.former_ranges) IS NOT NULL;
    UPDATE sequences AS q
       SET paused_at = moment, paused_for = given.e_ncf
     WHERE q.tenant_id = p_tenant AND q.environment = given.environment AND q.prefix = its_sequence
       AND q.paused_at IS NULL AND (q.resumed_at IS NULL OR q.resumed_at < given.submitted_at);
    RETURN CASE WHEN FOUND THEN 'paused' ELSE 'known' END;
END
$$;

GRANT EXECUTE ON FUNCTION pause_sequence TO fe_worker;
