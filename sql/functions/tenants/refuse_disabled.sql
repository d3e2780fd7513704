-- Refuse new submissions of a disabled tenant, whichever function adds them. One look for each statement.
CREATE OR REPLACE FUNCTION refuse_disabled() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM disabled_tenants AS d JOIN added AS a ON a.tenant_id = d.tenant_id) THEN
        RAISE EXCEPTION 'the tenant is disabled' USING ERRCODE = 'FE004';
    END IF;
    RETURN NULL;
END
$$;
