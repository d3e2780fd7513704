-- Taking back what was set up: tenants that are shut out, a tenant's data that change, users and keys that are removed.
--
-- What was signed stays provable: users and certificates are marked, never deleted. What is acknowledged is still sent:
-- whatever work in flight needs is not taken away from it, and each refusal is decided here, in the act's transaction.

-- Who is in here is shut out: its keys log nobody in and hand nothing in, its endpoints are not called. What was accepted
-- before goes on (docs/decisions/disabled-tenants.md).
CREATE TABLE disabled_tenants (
    tenant_id bigint NOT NULL,
    since timestamptz NOT NULL,
    CONSTRAINT disabled_tenants_pk PRIMARY KEY (tenant_id),
    CONSTRAINT disabled_tenants_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id)
);

ALTER TABLE disabled_tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;

CREATE POLICY every_tenant ON disabled_tenants TO fe_worker, fe_operator USING (true);

CREATE POLICY every_tenant_read ON disabled_tenants FOR SELECT TO fe_readonly USING (true);

CREATE POLICY own_tenant ON disabled_tenants TO fe_front
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);

-- It is asked with the key, before anybody knows whose that is (as in 0008); and for all tenants of a batch at once.
CREATE POLICY before_the_tenant_is_known ON disabled_tenants FOR SELECT TO fe_front USING (true);

GRANT SELECT ON disabled_tenants TO fe_front, fe_worker, fe_readonly;

GRANT SELECT, INSERT, DELETE ON disabled_tenants TO fe_operator;

CREATE TRIGGER disabled_tenants_audited AFTER INSERT OR UPDATE OR DELETE ON disabled_tenants
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

-- The last word, whatever a process still believes of a key: nothing new of a disabled tenant is taken in, by whichever
-- function. Looked at once for a statement, however many submissions it brings.
CREATE FUNCTION refuse_disabled() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM disabled_tenants AS d JOIN added AS a ON a.tenant_id = d.tenant_id) THEN
        RAISE EXCEPTION 'the tenant is disabled' USING ERRCODE = 'FE004';
    END IF;
    RETURN NULL;
END
$$;

CREATE TRIGGER submissions_of_the_enabled AFTER INSERT ON submissions
REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION refuse_disabled();

-- An endpoint of a disabled tenant is not called, whoever makes it or switches it on: what is for it is held.
ALTER TABLE webhook_endpoints DROP CONSTRAINT webhook_endpoints_reason_known;

ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_reason_known
CHECK (disabled_reason IN ('gone', 'failing', 'tenant'));

CREATE FUNCTION hold_calls_of_disabled() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.disabled_at IS NULL AND EXISTS (SELECT 1 FROM disabled_tenants AS d WHERE d.tenant_id = NEW.tenant_id) THEN
        NEW.disabled_at := now();
        NEW.disabled_reason := 'tenant';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER webhook_endpoints_of_the_enabled BEFORE INSERT OR UPDATE OF disabled_at ON webhook_endpoints
FOR EACH ROW EXECUTE FUNCTION hold_calls_of_disabled();

-- Change a tenant: what is NULL stays as it is.
--   'changed'
--   'none'      there is no such tenant
--   'taken'     the name is another's
--   'issued'    it has handed documents in: under another RNC it would be another taxpayer
--   'receives'  suppliers reach it under its RNC
CREATE FUNCTION change_tenant(p_tenant bigint, p_name text, p_issuer jsonb, p_consumer_summary text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    before text;
BEGIN
    SELECT t.issuer ->> 'RNCEmisor' INTO before FROM tenants AS t WHERE t.tenant_id = p_tenant FOR UPDATE;
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

GRANT UPDATE (name, issuer, consumer_summary) ON tenants TO fe_operator;

GRANT EXECUTE ON FUNCTION change_tenant TO fe_operator;

-- A user that was removed signs nothing more, and is found by nobody but who asks whose certificate signed something. Its
-- address may be given to another.
ALTER TABLE users ADD COLUMN removed_at timestamptz;

DROP INDEX users_email_unique;

CREATE UNIQUE INDEX users_email_unique ON users (tenant_id, lower(email)) WHERE removed_at IS NULL;

GRANT UPDATE (removed_at) ON users TO fe_operator;

-- The certificate itself (X.509, which every document that it signed carries too) stays; of its key, after `destroyed_at`,
-- nothing. Of those stored before this it is read out when their key is destroyed.
ALTER TABLE certificates ADD COLUMN x509 bytea;

ALTER TABLE certificates ADD COLUMN destroyed_at timestamptz;

ALTER TABLE certificates ALTER COLUMN p12 DROP NOT NULL;

ALTER TABLE certificates ADD CONSTRAINT certificates_key_or_its_end CHECK ((p12 IS NULL) = (destroyed_at IS NOT NULL));

ALTER TABLE certificates ADD CONSTRAINT certificates_retired_first
CHECK (destroyed_at IS NULL OR retired_at IS NOT NULL);

-- Who destroys a key says when, and that is all there is to say: no role may replace what is encrypted (0008), and none
-- needs to for this. What was said is not taken back.
CREATE FUNCTION destroy_key() RETURNS trigger
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

CREATE TRIGGER certificates_destroyed BEFORE UPDATE OF destroyed_at ON certificates
FOR EACH ROW EXECUTE FUNCTION destroy_key();

GRANT UPDATE (x509, destroyed_at) ON certificates TO fe_operator;

GRANT SELECT (x509, destroyed_at) ON certificates TO fe_readonly;

-- How many documents of a tenant are not signed yet, and are to be signed as this user (NULL: no user), or also as nobody
-- in particular; with those that gave up before they were signed, for an operator may set them going again.
CREATE FUNCTION unsigned_work(p_tenant bigint, p_user uuid, p_email text, p_and_nobody_s boolean) RETURNS bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT count(*)
          FROM (SELECT o.subject FROM outbox AS o WHERE o.tenant_id = p_tenant AND o.stage = 'sign'
                UNION ALL
                SELECT d.subject FROM dead_letters AS d WHERE d.tenant_id = p_tenant AND d.stage = 'sign') AS w
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = w.subject
         WHERE CASE WHEN s.as_user_id IS NOT NULL THEN s.as_user_id = p_user
                    WHEN s.as_user IS NOT NULL THEN lower(s.as_user) = lower(p_email)
                    ELSE p_and_nobody_s END);
END
$$;

-- Sign with a certificate no more, without another in its place. `waiting` says how many documents stand against it.
--   'retired'
--   'none'      there is no such certificate
--   'before'    it was retired before
--   'needed'    documents wait to be signed with it
--   'receives'  suppliers' documents are acknowledged with it
CREATE FUNCTION retire_certificate(
    p_tenant bigint, p_certificate uuid, p_at timestamptz, OUT outcome text, OUT waiting bigint
)
LANGUAGE plpgsql AS $$
DECLARE
    mine record;
    others record;
BEGIN
    waiting := 0;
    SELECT c.user_id, c.retired_at, u.email INTO mine
      FROM certificates AS c
      LEFT JOIN users AS u ON u.tenant_id = p_tenant AND u.user_id = c.user_id
     WHERE c.tenant_id = p_tenant AND c.certificate_id = p_certificate
       FOR UPDATE OF c;
    IF NOT FOUND THEN
        outcome := 'none';
        RETURN;
    ELSIF mine.retired_at IS NOT NULL THEN
        outcome := 'before';
        RETURN;
    END IF;
    -- Who is not asked for by name: the company signs, or the only user who can (interface.md#certificate-selection).
    SELECT bool_or(c.user_id IS NULL) AS company, count(*) AS users INTO others
      FROM certificates AS c
     WHERE c.tenant_id = p_tenant AND c.retired_at IS NULL AND c.certificate_id <> p_certificate;
    waiting := unsigned_work(p_tenant, mine.user_id, mine.email,
                             mine.user_id IS NULL OR others.company IS NOT TRUE);
    IF waiting > 0 THEN
        outcome := 'needed';
        RETURN;
    END IF;
    -- They are acknowledged by the company, else by the only user.
    IF ((mine.user_id IS NULL AND others.users <> 1) OR (mine.user_id IS NOT NULL AND others.users = 0))
       AND EXISTS (SELECT 1 FROM receivers AS r WHERE r.tenant_id = p_tenant) THEN
        outcome := 'receives';
        RETURN;
    END IF;
    UPDATE certificates AS c SET retired_at = p_at WHERE c.tenant_id = p_tenant AND c.certificate_id = p_certificate;
    outcome := 'retired';
END
$$;

-- Destroy the key of a retired certificate; `p_x509` is the certificate itself, where it was read.
--   'destroyed'
--   'none'      there is no such certificate
--   'before'    its key was destroyed before
--   'in use'    it was not retired
--   'needed'    documents that it signed are on their way: the authority and receivers are spoken to with it
CREATE FUNCTION destroy_certificate(
    p_tenant bigint, p_certificate uuid, p_at timestamptz, p_x509 bytea, OUT outcome text, OUT waiting bigint
)
LANGUAGE plpgsql AS $$
DECLARE
    mine record;
BEGIN
    waiting := 0;
    SELECT c.retired_at, c.destroyed_at INTO mine
      FROM certificates AS c
     WHERE c.tenant_id = p_tenant AND c.certificate_id = p_certificate
       FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'none';
        RETURN;
    ELSIF mine.destroyed_at IS NOT NULL THEN
        outcome := 'before';
        RETURN;
    ELSIF mine.retired_at IS NULL THEN
        outcome := 'in use';
        RETURN;
    END IF;
    -- Whoever signs at this moment may have chosen it while it was in use.
    waiting := (
        SELECT count(*)
          FROM (SELECT o.subject, o.stage = 'sign' AND o.holder IS NOT NULL AS signing
                  FROM outbox AS o
                 WHERE o.tenant_id = p_tenant
                UNION ALL
                SELECT d.subject, false FROM dead_letters AS d WHERE d.tenant_id = p_tenant
                UNION ALL
                SELECT c.subject, false FROM counterparty_outbox AS c WHERE c.tenant_id = p_tenant) AS w
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = w.subject
         WHERE w.signing OR s.certificate_id = p_certificate);
    IF waiting > 0 THEN
        outcome := 'needed';
        RETURN;
    END IF;
    UPDATE certificates AS c
       SET destroyed_at = p_at, x509 = coalesce(c.x509, p_x509)
     WHERE c.tenant_id = p_tenant AND c.certificate_id = p_certificate;
    outcome := 'destroyed';
END
$$;

-- Remove a user.
--   'removed'
--   'none'         there is no such user
--   'certificate'  a certificate of it is in use: that is retired first
--   'needed'       documents wait to be signed as it
CREATE FUNCTION remove_user(p_tenant bigint, p_user uuid, p_at timestamptz, OUT outcome text, OUT waiting bigint)
LANGUAGE plpgsql AS $$
DECLARE
    mine record;
BEGIN
    waiting := 0;
    SELECT u.email INTO mine
      FROM users AS u
     WHERE u.tenant_id = p_tenant AND u.user_id = p_user AND u.removed_at IS NULL
       FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'none';
        RETURN;
    END IF;
    IF EXISTS (SELECT 1
                 FROM certificates AS c
                WHERE c.tenant_id = p_tenant AND c.user_id = p_user AND c.retired_at IS NULL) THEN
        outcome := 'certificate';
        RETURN;
    END IF;
    waiting := unsigned_work(p_tenant, p_user, mine.email, false);
    IF waiting > 0 THEN
        outcome := 'needed';
        RETURN;
    END IF;
    UPDATE users AS u SET removed_at = p_at WHERE u.tenant_id = p_tenant AND u.user_id = p_user;
    outcome := 'removed';
END
$$;

GRANT EXECUTE ON FUNCTION unsigned_work, retire_certificate, destroy_certificate, remove_user TO fe_operator;

GRANT SELECT ON counterparty_outbox, receivers TO fe_operator;

-- Who did it, for whom and why, is in the operators' book, as for their other acts.
ALTER TABLE operator_actions DROP CONSTRAINT operator_actions_known;

ALTER TABLE operator_actions ADD CONSTRAINT operator_actions_known CHECK (
    action IN (
        'replay', 'discard', 'pause', 'resume', 'plan', 'billing enable', 'billing disable', 'billing price',
        'billing retry', 'tenant disable', 'tenant enable', 'tenant update', 'user remove', 'certificate retire',
        'certificate remove'
    )
);
