-- The portal: people who log in with a browser, what they may do, and what they changed (docs/portal.md).
--
-- A person is nobody's: the same one may work for several tenants, in each with a role of its own, and may be an operator
-- of the installation beside that. One more role for the process that serves them:
--   fe_portal  does for one tenant at a time what its programs may do (fe_front), and what people set up

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fe_portal') THEN
        CREATE ROLE fe_portal NOLOGIN;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN
        NULL;
    WHEN insufficient_privilege THEN
        RAISE EXCEPTION 'the role fe_portal is missing and % may not create roles', current_user
              USING ERRCODE = 'insufficient_privilege',
                    HINT = 'let an administrator of the server run CREATE ROLE fe_portal NOLOGIN, then migrate again';
END
$$;

CREATE TYPE portal_role AS ENUM ('owner', 'member', 'accountant');

CREATE TABLE people (
    person_id uuid NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    language text NOT NULL DEFAULT 'es',
    -- argon2id with its parameters; none for who comes by OpenID Connect alone, or has not chosen one yet.
    password_hash text,
    is_operator boolean NOT NULL DEFAULT false,
    -- The seed of one-time passwords, encrypted; counted from `totp_since` on, each step taken once.
    totp_secret bytea,
    totp_since timestamptz,
    totp_last_step bigint,
    created_at timestamptz NOT NULL DEFAULT now(),
    disabled_at timestamptz,
    CONSTRAINT people_pk PRIMARY KEY (person_id),
    CONSTRAINT people_language CHECK (language IN ('es', 'en')),
    CONSTRAINT people_email_length CHECK (length(email) BETWEEN 3 AND 254),
    CONSTRAINT people_name_length CHECK (length(name) BETWEEN 1 AND 200)
);
CREATE UNIQUE INDEX people_by_email ON people (lower(email));

CREATE TABLE recovery_codes (
    person_id uuid NOT NULL,
    code_hash bytea NOT NULL,
    used_at timestamptz,
    CONSTRAINT recovery_codes_pk PRIMARY KEY (person_id, code_hash),
    CONSTRAINT recovery_codes_person_fk FOREIGN KEY (person_id) REFERENCES people (person_id)
);

-- Who a person is elsewhere: subject of an OpenID provider.
CREATE TABLE identities (
    issuer text NOT NULL,
    subject text NOT NULL,
    person_id uuid NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT identities_pk PRIMARY KEY (issuer, subject),
    CONSTRAINT identities_person_fk FOREIGN KEY (person_id) REFERENCES people (person_id)
);
CREATE INDEX identities_by_person ON identities (person_id);

CREATE TABLE memberships (
    tenant_id bigint NOT NULL,
    person_id uuid NOT NULL,
    role portal_role NOT NULL,
    since timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT memberships_pk PRIMARY KEY (tenant_id, person_id),
    CONSTRAINT memberships_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT memberships_person_fk FOREIGN KEY (person_id) REFERENCES people (person_id)
);
CREATE INDEX memberships_by_person ON memberships (person_id);

-- Only the hash of what stands in the link is kept. One without a tenant makes an operator.
CREATE TABLE invitations (
    invitation_id uuid NOT NULL,
    tenant_id bigint,
    role portal_role,
    email text NOT NULL,
    token_hash bytea NOT NULL,
    invited_by text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    accepted_at timestamptz,
    withdrawn_at timestamptz,
    CONSTRAINT invitations_pk PRIMARY KEY (invitation_id),
    CONSTRAINT invitations_token_unique UNIQUE (token_hash),
    CONSTRAINT invitations_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT invitations_role_of_a_tenant CHECK ((tenant_id IS NULL) = (role IS NULL))
);
CREATE INDEX invitations_by_tenant ON invitations (tenant_id);

-- Kept here and not in the cookie, so that logging out, everywhere too, ends them. Of the token only the hash.
CREATE TABLE portal_sessions (
    token_hash bytea NOT NULL,
    person_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    -- When the person last showed who it is: what is sensitive asks for it again.
    authenticated_at timestamptz NOT NULL,
    address text NOT NULL,
    user_agent text NOT NULL,
    -- Said on the next page, once.
    notice jsonb,
    CONSTRAINT portal_sessions_pk PRIMARY KEY (token_hash),
    CONSTRAINT portal_sessions_person_fk FOREIGN KEY (person_id) REFERENCES people (person_id)
);
CREATE INDEX portal_sessions_by_person ON portal_sessions (person_id);
CREATE INDEX portal_sessions_by_age ON portal_sessions (created_at);

-- Forms that were sent: one that is sent twice does its work once.
CREATE TABLE portal_forms (
    form_id uuid NOT NULL,
    sent_at timestamptz NOT NULL,
    CONSTRAINT portal_forms_pk PRIMARY KEY (form_id)
);
CREATE INDEX portal_forms_by_age ON portal_forms (sent_at);

-- What was changed, for the tenant to read: who, when, from what to what. Nothing secret. Only added to.
CREATE TABLE tenant_changes (
    tenant_id bigint NOT NULL,
    change_id uuid NOT NULL,
    at timestamptz NOT NULL,
    by_whom text NOT NULL,
    person_id uuid,
    -- `portal` or `cli`.
    through text NOT NULL,
    action text NOT NULL,
    subject text NOT NULL,
    before jsonb,
    after jsonb,
    CONSTRAINT tenant_changes_pk PRIMARY KEY (tenant_id, change_id),
    CONSTRAINT tenant_changes_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id)
);

-- What people are and may do is noted like everything else that opens doors (sql/0017_audit_trail.sql), without secrets.
CREATE OR REPLACE FUNCTION note_in_audit_trail() RETURNS trigger
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
               - ARRAY['secret_hash', 'p12', 'passphrase', 'password_hash', 'totp_secret', 'token_hash']);
    INSERT INTO audit_trail (number, entry, previous, hash)
    VALUES (last.number + 1, added, last.hash, sha256(last.hash || convert_to(added, 'UTF8')));
    RETURN NULL;
END
$$;

CREATE TRIGGER people_audited
AFTER INSERT OR DELETE OR UPDATE OF email, password_hash, is_operator, totp_secret, totp_since, disabled_at ON people
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER memberships_audited AFTER INSERT OR UPDATE OR DELETE ON memberships
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER identities_audited AFTER INSERT OR UPDATE OR DELETE ON identities
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER invitations_audited AFTER INSERT OR UPDATE ON invitations
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER tenant_changes_audited AFTER INSERT ON tenant_changes
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

-- The portal does for a tenant what its programs do: the rights of the front, table by table and function by function.
DO $$
DECLARE
    given record;
    here regnamespace := current_schema()::regnamespace;
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %s TO fe_portal', here);
    EXECUTE format('ALTER FUNCTION note_in_audit_trail() SET search_path = %s, pg_temp', here);
    FOR given IN
        SELECT c.relname AS of_what, a.privilege_type AS what, '' AS columns
          FROM pg_class AS c, aclexplode(c.relacl) AS a
         WHERE c.relnamespace = here AND c.relkind IN ('r', 'p') AND a.grantee = 'fe_front'::regrole
         UNION ALL
        SELECT c.relname, x.privilege_type, format('(%I)', t.attname)
          FROM pg_class AS c
          JOIN pg_attribute AS t ON t.attrelid = c.oid, aclexplode(t.attacl) AS x
         WHERE c.relnamespace = here AND c.relkind IN ('r', 'p') AND x.grantee = 'fe_front'::regrole
    LOOP
        EXECUTE format('GRANT %s %s ON %I TO fe_portal', given.what, given.columns, given.of_what);
    END LOOP;
    FOR given IN
        SELECT p.oid::regprocedure AS what
          FROM pg_proc AS p, aclexplode(p.proacl) AS a
         WHERE p.pronamespace = here AND a.grantee = 'fe_front'::regrole
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO fe_portal', given.what);
    END LOOP;
    -- And it sees what the front sees: one tenant at a time, through the same gates.
    FOR given IN
        SELECT p.policyname, p.tablename, p.roles FROM pg_policies AS p
         WHERE p.schemaname = here::text AND 'fe_front' = ANY (p.roles)
    LOOP
        EXECUTE format('ALTER POLICY %I ON %I TO %s, fe_portal',
                       given.policyname, given.tablename, array_to_string(given.roles, ', '));
    END LOOP;
END
$$;

-- What people set up.
GRANT INSERT ON api_keys, users, certificates, tenant_changes, submission_events TO fe_portal;
GRANT UPDATE (revoked_at) ON api_keys TO fe_portal;
GRANT SELECT, UPDATE (retired_at) ON certificates TO fe_portal;
GRANT SELECT ON tenant_changes, submissions, sends, api_key_uses TO fe_portal;
GRANT SELECT, INSERT, UPDATE ON people, recovery_codes, identities, memberships, invitations TO fe_portal, fe_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON portal_sessions TO fe_portal;
GRANT DELETE ON recovery_codes, memberships, identities TO fe_portal, fe_operator;
GRANT SELECT, DELETE ON portal_sessions TO fe_operator;
GRANT SELECT, INSERT, DELETE ON portal_forms TO fe_portal;
GRANT SELECT, INSERT ON tenant_changes TO fe_operator;
GRANT SELECT ON memberships, tenant_changes TO fe_readonly;
GRANT SELECT ON schema_migrations, applied_migrations TO fe_portal;
GRANT SELECT (
    person_id, email, name, language, is_operator, totp_since, created_at, disabled_at
) ON people TO fe_readonly;

GRANT EXECUTE ON FUNCTION change_tenant, remove_user, retire_certificate TO fe_portal;

ALTER TABLE memberships ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE invitations ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE tenant_changes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY every_tenant ON memberships TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant ON invitations TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant ON tenant_changes TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON memberships FOR SELECT TO fe_readonly USING (true);
CREATE POLICY every_tenant_read ON invitations FOR SELECT TO fe_readonly USING (true);
CREATE POLICY every_tenant_read ON tenant_changes FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON memberships TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
CREATE POLICY own_tenant ON invitations TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
CREATE POLICY own_tenant ON tenant_changes TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
-- Two gates: for whom a person works is asked before a tenant is chosen, and an invitation is looked up by its token.
CREATE POLICY before_the_tenant_is_chosen ON memberships FOR SELECT TO fe_portal USING (true);
CREATE POLICY before_the_tenant_is_known ON invitations FOR SELECT TO fe_portal USING (true);
