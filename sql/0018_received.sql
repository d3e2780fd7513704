-- What suppliers send: the e-CF they issue to a tenant, what was acknowledged, and their word on the tenant's own receipts.
--
-- None of these tables is cut by month: a number is received once for ever, and that rule cannot live in a table that is.
-- One more role, for the processes that strangers talk to (docs/decisions/reception-apart.md):
--   fe_reception  reads whom it receives for and what it has received, adds to that, and changes nothing

DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fe_reception') THEN
        CREATE ROLE fe_reception NOLOGIN;
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN
        NULL;
    WHEN insufficient_privilege THEN
        RAISE EXCEPTION 'the role fe_reception is missing and % may not create roles', current_user
              USING ERRCODE = 'insufficient_privilege',
                    HINT = 'let an administrator of the server run CREATE ROLE fe_reception NOLOGIN, then migrate again';
END
$$;

DO $$
BEGIN
    EXECUTE format('GRANT USAGE ON SCHEMA %I TO fe_reception', current_schema());
END
$$;

-- Whom reception is open for: the tax id stands in the path, so it is looked up before the tenant is known.
CREATE TABLE receivers (
    environment environment NOT NULL,
    rnc text COLLATE "C" NOT NULL,
    tenant_id bigint NOT NULL,
    -- Whether a sender needs a token (that is its own choice: docs/reference/authority.md#receivers).
    demands_token boolean NOT NULL DEFAULT false,
    since timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT receivers_pk PRIMARY KEY (environment, rnc),
    CONSTRAINT receivers_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT receivers_rnc_form CHECK (rnc ~ '^([0-9]{9}|[0-9]{11})$')
);

CREATE INDEX receivers_by_tenant ON receivers (tenant_id);

-- What was received: acknowledged with state 0. The unique key decides between two that come at once.
CREATE TABLE received (
    tenant_id bigint NOT NULL,
    received_id uuid NOT NULL,
    environment environment NOT NULL,
    issuer_rnc text COLLATE "C" NOT NULL,
    e_ncf text COLLATE "C" NOT NULL,
    ecf_type text NOT NULL,
    issuer_name text NOT NULL,
    buyer_rnc text NOT NULL,
    issued_on date NOT NULL,
    total numeric(18, 2) NOT NULL,
    digest bytea NOT NULL,
    received_at timestamptz NOT NULL,
    CONSTRAINT received_pk PRIMARY KEY (tenant_id, received_id),
    CONSTRAINT received_number_unique UNIQUE (tenant_id, environment, issuer_rnc, e_ncf),
    CONSTRAINT received_digest_length CHECK (octet_length(digest) = 32)
);

-- Every acknowledgement that was said, and the bytes it was said about, as they came. `reason` is that of the protocol, 0
-- for received. Said once for the same bytes: who asks again with the same bytes is given the same acknowledgement.
-- Bytes that nobody's signature vouches for are not kept: any stranger can send any number of them.
CREATE TABLE acknowledgements (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    digest bytea NOT NULL,
    reason smallint NOT NULL,
    issuer_rnc text NOT NULL,
    e_ncf text NOT NULL,
    -- Whose certificate signed the document; and who presented it, where a token was demanded.
    signer text,
    presenter text,
    document bytea,
    acknowledgement bytea NOT NULL,
    said_at timestamptz NOT NULL,
    CONSTRAINT acknowledgements_pk PRIMARY KEY (tenant_id, environment, digest, reason),
    CONSTRAINT acknowledgements_digest_length CHECK (octet_length(digest) = 32),
    CONSTRAINT acknowledgements_reason_known CHECK (reason BETWEEN 0 AND 4),
    CONSTRAINT acknowledgements_received_is_kept CHECK (reason <> 0 OR document IS NOT NULL)
);

ALTER TABLE acknowledgements ALTER COLUMN document SET STORAGE EXTERNAL;

-- The buyer's word on a receipt of the tenant's own: one for each, the first that came.
CREATE TABLE received_approvals (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    approved boolean NOT NULL,
    reason text,
    signer text,
    presenter text,
    document bytea NOT NULL,
    received_at timestamptz NOT NULL,
    CONSTRAINT received_approvals_pk PRIMARY KEY (tenant_id, submission_id)
);

-- Seeds that came back signed. A seed carries its own proof, so the others leave no trace.
CREATE TABLE spent_seeds (
    tenant_id bigint NOT NULL,
    seed bytea NOT NULL,
    expires_at timestamptz NOT NULL,
    CONSTRAINT spent_seeds_pk PRIMARY KEY (tenant_id, seed)
);

CREATE INDEX spent_seeds_by_end ON spent_seeds (expires_at);

DO $$
DECLARE
    walled text;
BEGIN
    FOREACH walled IN ARRAY ARRAY['receivers', 'received', 'acknowledgements', 'received_approvals', 'spent_seeds'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', walled);
        EXECUTE format('CREATE POLICY every_tenant ON %I TO fe_worker, fe_operator USING (true)', walled);
        EXECUTE format('CREATE POLICY every_tenant_read ON %I FOR SELECT TO fe_readonly USING (true)', walled);
        EXECUTE format('CREATE POLICY own_tenant ON %I TO fe_front
                        USING (tenant_id = nullif(current_setting(''fe.tenant'', true), '''')::bigint)', walled);
    END LOOP;
    FOREACH walled IN ARRAY ARRAY['receivers', 'received', 'acknowledgements', 'received_approvals', 'spent_seeds',
                                  'certificates', 'submissions'] LOOP
        EXECUTE format('CREATE POLICY receiving_tenant ON %I TO fe_reception
                        USING (tenant_id = nullif(current_setting(''fe.tenant'', true), '''')::bigint)', walled);
    END LOOP;
END
$$;

CREATE POLICY before_the_tenant_is_known ON receivers FOR SELECT TO fe_reception USING (true);

GRANT SELECT ON schema_migrations, applied_migrations, receivers TO fe_reception;
-- The encrypted key, too: who acknowledges signs. What opens it is not in the database.
GRANT SELECT ON certificates TO fe_reception;
GRANT SELECT (
    tenant_id, submission_id, environment, root, e_ncf, issuer_rnc, buyer_rnc, status
) ON submissions TO fe_reception;
GRANT SELECT, INSERT ON received, acknowledgements, received_approvals, spent_seeds TO fe_reception;

GRANT SELECT ON received, acknowledgements, received_approvals TO fe_front;
GRANT SELECT, DELETE ON spent_seeds TO fe_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON receivers TO fe_operator;
GRANT SELECT ON received, acknowledgements, received_approvals TO fe_operator;
GRANT SELECT ON receivers, received, acknowledgements, received_approvals TO fe_readonly;

-- Keep a document and what is said about it, in one transaction; gives the acknowledgement that counts: this one, or that
-- which was said before about the same bytes; NULL when the number is another document's, and then nothing was kept.
-- What the tenant is told of it by an event belongs here, in this transaction, when there are events.
CREATE FUNCTION keep_received(
    p_tenant bigint, p_environment text, p_digest bytea, p_reason int, p_issuer text, p_e_ncf text, p_signer text,
    p_presenter text, p_document bytea, p_acknowledgement bytea, p_at timestamptz, p_received uuid, p_type text,
    p_issuer_name text, p_buyer text, p_issued_on date, p_total numeric
) RETURNS bytea LANGUAGE plpgsql AS $$
DECLARE
    said bytea;
BEGIN
    IF p_reason = 0 THEN
        INSERT INTO received (tenant_id, received_id, environment, issuer_rnc, e_ncf, ecf_type, issuer_name, buyer_rnc,
                              issued_on, total, digest, received_at)
        VALUES (p_tenant, p_received, p_environment, p_issuer, p_e_ncf, p_type, p_issuer_name, p_buyer,
                p_issued_on, p_total, p_digest, p_at)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            SELECT a.acknowledgement INTO said
              FROM acknowledgements AS a
             WHERE a.tenant_id = p_tenant AND a.environment = p_environment AND a.digest = p_digest AND a.reason = 0;
            RETURN said;
        END IF;
    END IF;
    INSERT INTO acknowledgements (tenant_id, environment, digest, reason, issuer_rnc, e_ncf, signer, presenter,
                                  document, acknowledgement, said_at)
    VALUES (p_tenant, p_environment, p_digest, p_reason, p_issuer, p_e_ncf, p_signer, p_presenter,
            p_document, p_acknowledgement, p_at)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        RETURN p_acknowledgement;
    END IF;
    SELECT a.acknowledgement INTO said
      FROM acknowledgements AS a
     WHERE a.tenant_id = p_tenant AND a.environment = p_environment AND a.digest = p_digest AND a.reason = p_reason;
    RETURN said;
END
$$;

-- Keep the buyer's word on a submission. True: it is what is known now, or was known already; false: it contradicts that.
CREATE FUNCTION keep_approval(
    p_tenant bigint, p_submission uuid, p_approved boolean, p_reason text, p_signer text, p_presenter text,
    p_document bytea, p_at timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO received_approvals (tenant_id, submission_id, approved, reason, signer, presenter, document, received_at)
    VALUES (p_tenant, p_submission, p_approved, p_reason, p_signer, p_presenter, p_document, p_at)
    ON CONFLICT DO NOTHING;
    RETURN FOUND OR EXISTS (
        SELECT 1
          FROM received_approvals AS r
         WHERE r.tenant_id = p_tenant AND r.submission_id = p_submission AND r.approved = p_approved);
END
$$;

GRANT EXECUTE ON FUNCTION keep_received, keep_approval TO fe_reception;
