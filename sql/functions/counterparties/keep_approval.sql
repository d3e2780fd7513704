-- Record the buyer's decision on a submission. True: it is the decision now, or was already; false: it contradicts an
-- earlier one.
CREATE OR REPLACE FUNCTION keep_approval(
    p_tenant bigint, p_submission uuid, p_approved boolean, p_reason text, p_signer text, p_presenter text,
    p_document bytea, p_at timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO received_approvals (tenant_id, submission_id, approved, reason, signer, presenter, document, received_at)
    VALUES (p_tenant, p_submission, p_approved, p_reason, p_signer, p_presenter, p_document, p_at)
    ON CONFLICT DO NOTHING;
    RETURN FOUND OR EXISTS (
        SELECT 1
          FROM received_approvals AS r
         WHERE r.tenant_id = p_tenant AND r.submission_id = p_submission AND r.approved = p_approved);
END
$$;

GRANT EXECUTE ON FUNCTION keep_approval TO fe_reception;
