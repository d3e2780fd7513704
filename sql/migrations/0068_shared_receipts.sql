-- Receipts that their issuer shares with the buyer by a link, and the role of the buyer's page
-- (docs/decisions/buyers-page.md).

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fe_share') THEN
        BEGIN
            CREATE ROLE fe_share NOLOGIN;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN
                NULL;
            WHEN insufficient_privilege THEN
                RAISE EXCEPTION 'the role fe_share is missing and % may not create roles', current_user
                      USING ERRCODE = 'insufficient_privilege',
                            HINT = 'let an administrator of the server run CREATE ROLE fe_share NOLOGIN, '
                                   'then migrate again';
        END;
    END IF;
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO fe_share', current_schema());
END
$$;

GRANT SELECT ON applied_migrations, applied_functions TO fe_share;

-- A copy of what the page shows, made when the receipt is shared: so its role reads this table alone.
CREATE TABLE shared_receipts (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    -- The key and the nonce that the token is derived with.
    key_id text NOT NULL,
    nonce bytea NOT NULL,
    -- SHA-256 of the token.
    token_hash bytea NOT NULL,
    shared_at timestamptz NOT NULL,
    environment environment NOT NULL,
    status submission_status NOT NULL,
    security_code text,
    qr_code_url text,
    document bytea NOT NULL,
    CONSTRAINT shared_receipts_pk PRIMARY KEY (tenant_id, submission_id, key_id),
    CONSTRAINT shared_receipts_by_token UNIQUE (token_hash),
    CONSTRAINT shared_receipts_nonce_length CHECK (octet_length(nonce) = 16),
    CONSTRAINT shared_receipts_token_hash_length CHECK (octet_length(token_hash) = 32)
);

ALTER TABLE shared_receipts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON shared_receipts TO fe_worker USING (true);
CREATE POLICY own_tenant ON shared_receipts TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
-- Only the receipt whose hash the transaction names: who cannot name a token sees no row.
CREATE POLICY named_by_its_link ON shared_receipts FOR SELECT TO fe_share
USING (token_hash = decode(nullif(current_setting('fe.share', true), ''), 'hex'));
GRANT SELECT, INSERT, DELETE ON shared_receipts TO fe_front, fe_portal;
GRANT SELECT, INSERT ON shared_receipts TO fe_worker;
GRANT SELECT (token_hash, environment, status, security_code, qr_code_url, document) ON shared_receipts TO fe_share;
