-- Refuse new submissions of a disabled tenant, as the trigger refuse_disabled does elsewhere; repeats of accepted ones
-- are answered.
CREATE OR REPLACE FUNCTION refuse_of_disabled(p_tenants bigint[], p_taken jsonb) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT
          FROM jsonb_to_recordset(p_taken) AS x (place int, outcome text)
          JOIN disabled_tenants AS d ON d.tenant_id = p_tenants[coalesce(x.place, 1)]
         WHERE x.outcome = 'accepted') THEN
        RAISE EXCEPTION 'the tenant is disabled' USING ERRCODE = 'FE004';
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION refuse_of_disabled TO fe_front, fe_portal, fe_worker, fe_operator;
