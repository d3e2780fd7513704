-- Destroy a key by setting `destroyed_at`. No role may write the encrypted columns, and none needs to. It cannot be
-- undone.
CREATE OR REPLACE FUNCTION destroy_key() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.destroyed_at IS NOT NULL AND NEW.destroyed_at IS DISTINCT FROM OLD.destroyed_at THEN
        RAISE EXCEPTION 'a key that was destroyed stays so' USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF NEW.destroyed_at IS NOT NULL THEN
        NEW.p12 := NULL;
        NEW.passphrase := NULL;
    END IF;
    RETURN NEW;
END
$$;
