-- Emit the event of a threshold once; true if it was emitted now. Where no endpoint wants it, it may still be emitted
-- later.
CREATE OR REPLACE FUNCTION tell_webhooks_once(
    p_tenant bigint, p_environment text, p_kind text, p_about text, p_at timestamptz, p_body text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT webhook_wanted(p_tenant, p_environment, p_kind) THEN
        RETURN false;
    END IF;
    INSERT INTO webhook_notices (tenant_id, kind, about, told_at)
    VALUES (p_tenant, p_kind, p_about, p_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM tell_webhooks(p_tenant, webhook_id(p_at, p_kind || ' ' || p_about), p_environment, p_kind, p_about, p_at,
                          p_body, NULL);
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION tell_webhooks_once TO fe_worker;
