-- Restart a delivery that ended without success, for an operator. False when it did not.
CREATE OR REPLACE FUNCTION replay_delivery(p_tenant bigint, p_subject uuid, p_at timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE counterparty_deliveries AS d
       SET state = 'pending', reason = NULL, changed_at = p_at
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject AND d.state IN ('gave_up', 'refused', 'unlisted');
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- The epoch goes on where it stood: each send has its own. (What ended before its last one was kept: that of the last send.)
    INSERT INTO counterparty_outbox (tenant_id, subject, stage, environment, host, run_at, epoch)
    SELECT d.tenant_id, d.submission_id, 'address', d.environment, 'ecf', clock_timestamp(),
           greatest(d.epoch, (SELECT max(s.epoch)
                                FROM counterparty_sends AS s
                               WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject))
      FROM counterparty_deliveries AS d
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject;
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION replay_delivery TO fe_operator;
