-- Queue an event for an endpoint, or for each that wants it. Disabled endpoints keep it held.
CREATE OR REPLACE FUNCTION deliver_event(
    p_tenant bigint, p_event uuid, p_environment text, p_kind text, p_at timestamptz, p_endpoint uuid
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_deliveries (tenant_id, subject, stage, environment, host, run_at, event_id, endpoint_id,
                                    created_at)
    SELECT e.tenant_id, webhook_id(p_at, p_event::text || e.endpoint_id::text),
           CASE WHEN e.disabled_at IS NULL THEN 'webhook' ELSE 'held' END,
           coalesce(p_environment, 'ecf'), e.endpoint_id::text, now(), p_event, e.endpoint_id, p_at
      FROM webhook_endpoints AS e
     WHERE e.tenant_id = p_tenant AND e.removed_at IS NULL
       AND CASE WHEN p_endpoint IS NULL
                THEN e.enabled AND p_kind = ANY (e.events)
                     AND (e.environment IS NULL OR p_environment IS NULL OR e.environment = p_environment)
                ELSE e.endpoint_id = p_endpoint END
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM pg_notify('fe_due', 'webhook');
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION deliver_event TO fe_front, fe_portal, fe_reception, fe_worker, fe_operator;
