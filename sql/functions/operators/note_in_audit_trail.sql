-- Add a link to the audit trail for a changed row, without secrets. The lock adds links one transaction at a time, in
-- the order of commits. `login` is the session's user, whatever role it took.
CREATE OR REPLACE FUNCTION note_in_audit_trail() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    last record;
    added text;
BEGIN
    PERFORM pg_advisory_xact_lock(7305737267200);
    SELECT a.number, a.hash INTO last FROM audit_trail AS a ORDER BY a.number DESC LIMIT 1;
    added := jsonb_build_object(
        'number', last.number + 1,
        'at', clock_timestamp(),
        'login', session_user,
        'act', TG_TABLE_NAME || ' ' || lower(TG_OP),
        'row', (CASE WHEN TG_OP = 'DELETE' THEN to_jsonb(OLD) ELSE to_jsonb(NEW) END)
               - ARRAY['secret_hash', 'p12', 'passphrase', 'password_hash', 'totp_secret', 'token_hash']);
    INSERT INTO audit_trail (number, entry, previous, hash)
    VALUES (last.number + 1, added, last.hash, sha256(last.hash || convert_to(added, 'UTF8')));
    RETURN NULL;
END
$$;
