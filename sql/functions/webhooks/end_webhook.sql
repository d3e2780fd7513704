-- End the undelivered deliveries of a deleted endpoint as failed, p_limit at most; returns how many. Those under way
-- are ended by a later call.
CREATE OR REPLACE FUNCTION end_webhook(p_tenant bigint, p_endpoint uuid, p_at timestamptz, p_limit int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    ended int;
BEGIN
    UPDATE webhook_deliveries AS d
       SET stage = 'failed', last_error = 'deleted', finished_at = p_at, entered_at = now()
     WHERE d.tenant_id = p_tenant
       AND d.subject = ANY (ARRAY(
           SELECT w.subject
             FROM webhook_deliveries AS w
            WHERE w.tenant_id = p_tenant AND w.stage IN ('webhook', 'held')
              AND w.environment IN ('testecf', 'certecf', 'ecf') AND w.host = p_endpoint::text AND w.holder IS NULL
            LIMIT p_limit
              FOR UPDATE SKIP LOCKED));
    GET DIAGNOSTICS ended = ROW_COUNT;
    RETURN ended;
END
$$;

GRANT EXECUTE ON FUNCTION end_webhook TO fe_front, fe_portal, fe_worker, fe_operator;
