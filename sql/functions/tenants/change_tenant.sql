-- Change a tenant; NULL leaves a field as it is.
--   'changed'
--   'none'      there is no such tenant
--   'taken'     another tenant has the name
--   'issued'    it has submitted documents: another RNC would be another taxpayer
--   'receives'  suppliers reach it under its RNC
-- The lock is FOR NO KEY UPDATE: rows that refer to the tenant by a foreign key can be written meanwhile.
CREATE OR REPLACE FUNCTION change_tenant(p_tenant bigint, p_name text, p_issuer jsonb, p_consumer_summary text)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    before text;
BEGIN
    SELECT t.issuer ->> 'RNCEmisor' INTO before FROM tenants AS t WHERE t.tenant_id = p_tenant FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN 'none';
    END IF;
    IF p_issuer ->> 'RNCEmisor' IS DISTINCT FROM before AND p_issuer IS NOT NULL THEN
        IF EXISTS (SELECT 1 FROM submissions AS s WHERE s.tenant_id = p_tenant) THEN
            RETURN 'issued';
        ELSIF EXISTS (SELECT 1 FROM receivers AS r WHERE r.tenant_id = p_tenant AND r.rnc = before) THEN
            RETURN 'receives';
        END IF;
    END IF;
    UPDATE tenants AS t
       SET name = coalesce(p_name, t.name), issuer = coalesce(p_issuer, t.issuer),
           consumer_summary = coalesce(p_consumer_summary, t.consumer_summary)
     WHERE t.tenant_id = p_tenant;
    RETURN 'changed';
EXCEPTION
    WHEN unique_violation THEN
        RETURN 'taken';
END
$$;

GRANT EXECUTE ON FUNCTION change_tenant TO fe_portal, fe_operator;
