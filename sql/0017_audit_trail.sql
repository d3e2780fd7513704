-- What was done to the installation itself, in a chain that nobody who works with it can write into or change.
--
-- Each link's hash covers the one before, and the table's own constraints see to it: a link is changed, left out or put
-- between only by whoever can change the table. Cutting the end off shows against any hash that was noted before.

CREATE TABLE audit_trail (
    number bigint NOT NULL,
    -- What was done: an object in JSON, kept as the very text that was hashed. No secret, nor the hash of one, is in it.
    entry text NOT NULL,
    previous bytea,
    hash bytea NOT NULL,
    CONSTRAINT audit_trail_pk PRIMARY KEY (number),
    CONSTRAINT audit_trail_hash_unique UNIQUE (hash),
    CONSTRAINT audit_trail_one_follows UNIQUE (previous),
    CONSTRAINT audit_trail_chain FOREIGN KEY (previous) REFERENCES audit_trail (hash),
    CONSTRAINT audit_trail_begins_once CHECK ((previous IS NULL) = (number = 0)),
    CONSTRAINT audit_trail_hash_right CHECK (hash = sha256(coalesce(previous, '') || convert_to(entry, 'UTF8')))
);

INSERT INTO audit_trail (number, entry, hash)
SELECT
    0 AS number,
    b.entry,
    sha256(convert_to(b.entry, 'UTF8')) AS hash
FROM (SELECT jsonb_build_object('number', 0, 'act', 'begin', 'at', now())::text AS entry) AS b;

-- Add a link for what a statement did to a row. The lock lets one transaction at a time add its links, in the order in
-- which they are committed. `login` is who the server knows has logged in, whatever role was taken.
CREATE FUNCTION note_in_audit_trail() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER AS $$
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
               - ARRAY['secret_hash', 'p12', 'passphrase']);
    INSERT INTO audit_trail (number, entry, previous, hash)
    VALUES (last.number + 1, added, last.hash, sha256(last.hash || convert_to(added, 'UTF8')));
    RETURN NULL;
END
$$;

-- Not even the owner changes it by a slip.
CREATE FUNCTION keep_audit_trail() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is only added to' USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE TRIGGER audit_trail_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_trail
FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_trail();

-- What is noted. A hash that moves to another pepper is none of it, and neither is a number that is drawn.
CREATE TRIGGER tenants_audited AFTER INSERT OR UPDATE OR DELETE ON tenants
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER users_audited AFTER INSERT OR UPDATE OR DELETE ON users
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER api_keys_audited AFTER INSERT OR DELETE OR UPDATE OF environment, scopes, expires_at, revoked_at
ON api_keys
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER certificates_audited AFTER INSERT OR UPDATE OR DELETE ON certificates
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER excise_rates_audited AFTER INSERT OR UPDATE OR DELETE ON excise_rates
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER operator_actions_audited AFTER INSERT ON operator_actions
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

-- A lockout that is lifted; the front forgets attempts that grew old, which is no act.
CREATE TRIGGER login_attempts_audited AFTER DELETE ON login_attempts
FOR EACH ROW WHEN (current_user = 'fe_operator') EXECUTE FUNCTION note_in_audit_trail();

-- A fixed path, so that no name in it can be slipped under.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION note_in_audit_trail() SET search_path = %I, pg_temp', current_schema());
END
$$;

GRANT SELECT ON audit_trail TO fe_operator, fe_readonly;
