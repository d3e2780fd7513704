-- Book a delivery that is not tried again. Fenced by the epoch, which the row keeps.
CREATE OR REPLACE FUNCTION book_delivery_end(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_state text, p_reason text, p_answer bytea,
    p_status int
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM counterparty_outbox AS o
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF p_status IS NOT NULL THEN
        UPDATE counterparty_sends AS s
           SET outcome = 'answered', status = p_status, answered_at = p_at
         WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject AND s.epoch = p_epoch;
    END IF;
    UPDATE counterparty_deliveries AS d
       SET state = p_state, reason = p_reason, answer = coalesce(p_answer, d.answer), changed_at = p_at,
           epoch = p_epoch
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject;
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION book_delivery_end TO fe_worker;
