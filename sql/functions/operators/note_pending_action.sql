-- Add to the audit trail who requested and who decided, with a digest of the request.
CREATE OR REPLACE FUNCTION note_pending_action() RETURNS trigger
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
        'row', to_jsonb(NEW) - 'request');
    INSERT INTO audit_trail (number, entry, previous, hash)
    VALUES (last.number + 1, added, last.hash, sha256(last.hash || convert_to(added, 'UTF8')));
    RETURN NULL;
END
$$;
