CREATE TABLE people (
    person_id uuid NOT NULL,
    email text NOT NULL,
    name text NOT NULL,
    language text NOT NULL DEFAULT 'es',
    -- argon2id with its parameters; NULL: none chosen yet, or sign-in by OpenID Connect alone.
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

-- A person's identity elsewhere: subject of an OpenID provider.
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

-- Sign-ins after the first factor and before the second: no session, valid for minutes. By the browser's token.
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

-- Links to set a password; an operator hands them over. Only the hash of the token is kept.
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

-- A form of a receipt as it was last typed, so that going back, reloading, or switching the language or environment does
-- not lose it. It ends when its receipt is issued, or with its age (fe/store/portal/drafts.py).
CREATE TABLE portal_drafts (
    tenant_id bigint NOT NULL,
    person_id uuid NOT NULL,
    draft_id uuid NOT NULL,
    saved_at timestamptz NOT NULL,
    -- JSON; jsonb refuses characters that people paste.
    content bytea NOT NULL,
    CONSTRAINT portal_drafts_pk PRIMARY KEY (tenant_id, person_id, draft_id)
);

CREATE INDEX portal_drafts_by_age ON portal_drafts (saved_at);

-- Until when a person has looked at a company's rejected and failed receipts: the overview shows later ones.
CREATE TABLE portal_troubles_seen (
    tenant_id bigint NOT NULL,
    person_id uuid NOT NULL,
    seen_at timestamptz NOT NULL,
    CONSTRAINT portal_troubles_seen_pk PRIMARY KEY (tenant_id, person_id)
);
