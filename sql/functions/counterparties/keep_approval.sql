-- Record the buyer's decision on a submission, with its event. True: it is the decision now, or was already; false: it
-- contradicts an earlier one.
CREATE OR REPLACE FUNCTION keep_approval(
    p_tenant bigint, p_submission uuid, p_approved boolean, p_reason text, p_signer text, p_presenter text,
    p_document bytea, p_at timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    event_kind text := CASE WHEN p_approved THEN 'buyer.approved' ELSE 'buyer.rejected' END;
    about record;
BEGIN
    INSERT INTO received_approvals (tenant_id, submission_id, approved, reason, signer, presenter, document, received_at)
    VALUES (p_tenant, p_submission, p_approved, p_reason, p_signer, p_presenter, p_document, p_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN EXISTS (
            SELECT 1
              FROM received_approvals AS r
             WHERE r.tenant_id = p_tenant AND r.submission_id = p_submission AND r.approved = p_approved);
    END IF;
    SELECT s.environment, s.e_ncf, s.buyer_rnc INTO about
      FROM submissions AS s
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_submission;
    IF webhook_wanted(p_tenant, about.environment, event_kind) THEN
        PERFORM tell_webhooks(
            p_tenant, webhook_id(p_at, event_kind || ' ' || p_submission), about.environment, event_kind,
            p_submission::text, p_at,
            json_build_object(
                'event', event_kind,
                'sentAt', webhook_moment(p_at),
                'approval', json_build_object(
                    'taxLogId', p_submission, 'environment', about.environment, 'eNCF', about.e_ncf,
                    'rncComprador', about.buyer_rnc, 'reason', p_reason, 'receivedAt', webhook_moment(p_at)))::text,
            NULL);
    END IF;
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION keep_approval TO fe_reception;
