-- Book permanent failures: status `error`, not retried. Numbers that were never signed are returned.
CREATE OR REPLACE FUNCTION book_failure_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_responses jsonb[],
    p_number_fates text[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    mine uuid[] := complete_batch(p_tenants, p_subjects, p_epochs);
BEGIN
    IF EXISTS (SELECT 1 FROM voided_ranges AS v WHERE v.tenant_id = ANY (p_tenants)) THEN
        -- A number that was voided meanwhile is not free again.
        p_number_fates := ARRAY(
            SELECT CASE WHEN voiding_of(b.tenant_id, s.environment, s.e_ncf) IS NULL THEN b.number_fate ELSE 'used' END
              FROM unnest(p_tenants, p_subjects, p_number_fates) WITH ORDINALITY AS b (tenant_id, subject, number_fate, n)
              LEFT JOIN submissions AS s
                ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject AND s.root IN ('ECF', 'RFCE')
             ORDER BY b.n);
    END IF;
    UPDATE submissions AS s
       SET status = 'error', response = b.response, number_fate = b.number_fate, updated_at = p_at
      FROM unnest(p_tenants, mine, p_responses, p_number_fates) AS b (tenant_id, subject, response, number_fate)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject;
    PERFORM close_intents_batch(p_tenants, mine, p_epochs, p_at, 'refused');
    PERFORM record_event_batch(p_tenants, mine, p_at, 'error', ARRAY(
        SELECT jsonb_build_object('error', b.response -> 'error', 'numberFate', b.number_fate)
          FROM unnest(p_responses, p_number_fates) WITH ORDINALITY AS b (response, number_fate, n)
         ORDER BY b.n));
    PERFORM return_numbers(p_tenants, mine);
    PERFORM note_ends(p_tenants, mine, p_at);
    RETURN mine;
END
$$;

GRANT EXECUTE ON FUNCTION book_failure_batch TO fe_worker;
