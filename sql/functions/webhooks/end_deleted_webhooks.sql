-- End what deleted endpoints still have undelivered: tries that were under way when they were deleted, events that were
-- written at that moment, and more than one call ended. Returns how many.
CREATE OR REPLACE FUNCTION end_deleted_webhooks(p_at timestamptz, p_limit int) RETURNS int
LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT coalesce(sum(end_webhook(e.tenant_id, e.endpoint_id, p_at, p_limit)), 0)
          FROM webhook_endpoints AS e
         WHERE e.removed_at IS NOT NULL
           AND EXISTS (
                   SELECT 1
                     FROM webhook_deliveries AS d
                    WHERE d.stage IN ('webhook', 'held') AND d.environment IN ('testecf', 'certecf', 'ecf')
                      AND d.host = e.endpoint_id::text AND d.tenant_id = e.tenant_id AND d.holder IS NULL));
END
$$;

GRANT EXECUTE ON FUNCTION end_deleted_webhooks TO fe_worker;
