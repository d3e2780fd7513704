-- Keep tenant_rncs in step with the tenants.
CREATE OR REPLACE FUNCTION note_tenant_rnc() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        DELETE FROM tenant_rncs WHERE holder = OLD.tenant_id;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.issuer ->> 'RNCEmisor' IS NOT NULL THEN
        INSERT INTO tenant_rncs (rnc, holder) VALUES (NEW.issuer ->> 'RNCEmisor', NEW.tenant_id);
    END IF;
    RETURN NULL;
END
$$;
