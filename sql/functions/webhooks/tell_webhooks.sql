-- Record an event and queue it. `p_endpoint`: the only endpoint that gets it; NULL: each that wants it, of which there
-- is at least one.
CREATE OR REPLACE FUNCTION tell_webhooks(
    p_tenant bigint, p_event uuid, p_environment text, p_kind text, p_about text, p_at timestamptz, p_body text,
    p_endpoint uuid
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_events (tenant_id, event_id, environment, kind, about, body, created_at)
    VALUES (p_tenant, p_event, p_environment, p_kind, p_about, convert_to(p_body, 'UTF8'), p_at)
    ON CONFLICT DO NOTHING;
    PERFORM deliver_event(p_tenant, p_event, p_environment, p_kind, p_at, p_endpoint);
END
$$;

GRANT EXECUTE ON FUNCTION tell_webhooks TO fe_front, fe_portal, fe_reception, fe_worker, fe_operator;
