-- Redeliver from the first try on; false where a try is under way, or there is no such delivery.
CREATE OR REPLACE FUNCTION retry_webhook(p_tenant bigint, p_subject uuid) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE webhook_deliveries AS d
       SET stage = 'webhook', run_at = now(), attempt = 0, deaths = 0, holder = NULL, finished_at = NULL,
           entered_at = now()
     WHERE d.tenant_id = p_tenant AND d.subject = p_subject AND d.holder IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM pg_notify('fe_due', 'webhook');
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION retry_webhook TO fe_front, fe_portal, fe_worker, fe_operator;
