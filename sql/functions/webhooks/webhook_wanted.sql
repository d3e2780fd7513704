-- Whether an enabled endpoint wants an event.
CREATE OR REPLACE FUNCTION webhook_wanted(p_tenant bigint, p_environment text, p_kind text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (
        SELECT 1
          FROM webhook_endpoints AS e
         WHERE e.tenant_id = p_tenant AND e.enabled AND e.removed_at IS NULL AND p_kind = ANY (e.events)
           AND (e.environment IS NULL OR p_environment IS NULL OR e.environment = p_environment));
END
$$;

GRANT EXECUTE ON FUNCTION webhook_wanted TO fe_front, fe_portal, fe_reception, fe_worker, fe_operator;
