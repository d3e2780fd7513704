-- Who people are: what is kept while somebody logs in, links that set a password anew, and attempts of people counted
-- beside those of keys.

-- Attempts of people, by what was typed as their address, and at their second factor.
ALTER TABLE login_attempts DROP CONSTRAINT login_attempts_kind_known;
ALTER TABLE login_attempts ADD CONSTRAINT login_attempts_kind_known
CHECK (kind IN ('address', 'key', 'person', 'second factor'));

-- Somebody has shown the first factor and not the second: no session, and good for minutes. Under the browser's token.
CREATE TABLE portal_logins (
    token_hash bytea NOT NULL,
    person_id uuid NOT NULL,
    -- How the first factor was shown: `password` or `openid`.
    way text NOT NULL,
    began_at timestamptz NOT NULL,
    CONSTRAINT portal_logins_pk PRIMARY KEY (token_hash),
    CONSTRAINT portal_logins_person_fk FOREIGN KEY (person_id) REFERENCES people (person_id)
);
CREATE INDEX portal_logins_by_person ON portal_logins (person_id);
CREATE INDEX portal_logins_by_age ON portal_logins (began_at);

-- A browser was sent to the OpenID provider and has not come back. Its nonce and verifier are derived from the state, of
-- which only the hash is here.
CREATE TABLE openid_requests (
    state_hash bytea NOT NULL,
    -- Of the browser's token: an answer that another browser brings is none.
    browser_hash bytea NOT NULL,
    -- `sign in`, `link`, `again` or `invitation`.
    purpose text NOT NULL,
    next text NOT NULL,
    -- For an invitation its token's hash.
    invitation_hash bytea,
    began_at timestamptz NOT NULL,
    CONSTRAINT openid_requests_pk PRIMARY KEY (state_hash),
    CONSTRAINT openid_requests_purpose CHECK (purpose IN ('sign in', 'link', 'again', 'invitation'))
);
CREATE INDEX openid_requests_by_age ON openid_requests (began_at);

-- A link by which somebody sets a password anew; an operator hands it over. Of its token only the hash.
CREATE TABLE password_resets (
    token_hash bytea NOT NULL,
    person_id uuid NOT NULL,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    CONSTRAINT password_resets_pk PRIMARY KEY (token_hash),
    CONSTRAINT password_resets_person_fk FOREIGN KEY (person_id) REFERENCES people (person_id)
);
CREATE INDEX password_resets_by_person ON password_resets (person_id);

CREATE TRIGGER password_resets_audited AFTER INSERT OR UPDATE ON password_resets
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

GRANT SELECT, INSERT, DELETE ON portal_logins, openid_requests TO fe_portal;
GRANT SELECT, DELETE ON portal_logins TO fe_operator;
GRANT SELECT, UPDATE (used_at) ON password_resets TO fe_portal;
GRANT SELECT, INSERT, UPDATE (used_at) ON password_resets TO fe_operator;

-- Seeds are encrypted under the keys that the actors' process has, and are wrapped anew where certificates are.
GRANT SELECT (person_id, totp_secret) ON people TO fe_worker;

-- The portal makes no operators and disables nobody: that takes an operator's rights.
REVOKE INSERT, UPDATE ON people FROM fe_portal;
GRANT INSERT (person_id, email, name, language, password_hash, created_at) ON people TO fe_portal;
GRANT UPDATE (name, language, password_hash, totp_secret, totp_since, totp_last_step) ON people TO fe_portal;
-- And of an invitation only its fate is changed.
REVOKE UPDATE ON invitations FROM fe_portal;
GRANT UPDATE (accepted_at, withdrawn_at) ON invitations TO fe_portal;
