-- Whether one of these tenants is disabled. Then the call does not stand alone: new submissions of the tenant are
-- rolled back afterwards.
CREATE OR REPLACE FUNCTION any_disabled(p_tenants bigint[]) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM disabled_tenants AS d WHERE d.tenant_id = ANY (p_tenants)) THEN
        RETURN false;
    END IF;
    PERFORM stand_together();
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION any_disabled TO fe_front, fe_portal, fe_worker, fe_operator;
