-- Release held deliveries of enabled endpoints, p_limit at most; returns how many.
CREATE OR REPLACE FUNCTION let_go_of_held(p_tenant bigint, p_limit int) RETURNS int
LANGUAGE plpgsql AS $$
BEGIN
    RETURN (
        SELECT count(*) FILTER (WHERE retry_webhook(p_tenant, held.subject))
          FROM (SELECT d.subject
                  FROM webhook_deliveries AS d
                  JOIN webhook_endpoints AS e ON e.tenant_id = p_tenant AND e.endpoint_id = d.endpoint_id
                  JOIN webhook_events AS v ON v.tenant_id = p_tenant AND v.event_id = d.event_id AND v.kind <> 'test'
                 WHERE d.tenant_id = p_tenant AND d.stage = 'held'
                   AND e.enabled AND e.disabled_at IS NULL AND e.removed_at IS NULL
                 ORDER BY d.subject
                 LIMIT p_limit
                   FOR UPDATE OF d SKIP LOCKED) AS held);
END
$$;

GRANT EXECUTE ON FUNCTION let_go_of_held TO fe_worker;
