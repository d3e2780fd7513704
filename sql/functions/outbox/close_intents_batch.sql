-- Close the sends that these claims announced and did not make.
CREATE OR REPLACE FUNCTION close_intents_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_outcome text
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sends AS d
       SET outcome = p_outcome, answered_at = p_at
      FROM unnest(p_tenants, p_subjects, p_epochs) AS b (tenant_id, subject, epoch)
     WHERE d.tenant_id = b.tenant_id AND d.submission_id = b.subject AND d.epoch = b.epoch AND d.outcome = 'intended';
END
$$;

GRANT EXECUTE ON FUNCTION close_intents_batch TO fe_worker;
