-- Keep endpoints of a disabled tenant disabled.
CREATE OR REPLACE FUNCTION hold_calls_of_disabled() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.disabled_at IS NULL AND EXISTS (SELECT 1 FROM disabled_tenants AS d WHERE d.tenant_id = NEW.tenant_id) THEN
        NEW.disabled_at := now();
        NEW.disabled_reason := 'tenant';
    END IF;
    RETURN NEW;
END
$$;
