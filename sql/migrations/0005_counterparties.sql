-- Tenants that reception is open for: the tax id is in the path, so it is looked up before the tenant is known.
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

-- Received documents, acknowledged with state 0. The unique key decides between two that arrive at once.
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

CREATE INDEX received_of_an_environment ON received (tenant_id, environment, received_id);

CREATE INDEX received_by_issuer ON received (tenant_id, environment, issuer_rnc, received_id);

CREATE INDEX received_by_number ON received (tenant_id, e_ncf, received_id);

-- Acknowledgements, and the bytes that each is about. `reason` is the protocol's, 0 for received. The same bytes get
-- the same acknowledgement again. Bytes without a valid signature are not kept: any stranger can send any number of
-- them.
CREATE TABLE acknowledgements (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    digest bytea NOT NULL,
    reason smallint NOT NULL,
    issuer_rnc text NOT NULL,
    e_ncf text NOT NULL,
    -- Holder of the signing certificate; and the presenter, where a token was required.
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

-- Kept as it is: a signed document is compressed badly.
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

-- Decisions of a tenant about a received document. Appended to: a further round begins only when the ACECF of the one
-- before was refused or could not be made, so two concurrent decisions meet at the key.
CREATE TABLE approvals (
    tenant_id bigint NOT NULL,
    received_id uuid NOT NULL,
    round int NOT NULL,
    submission_id uuid NOT NULL,
    approved boolean NOT NULL,
    reason text,
    decided_at timestamptz NOT NULL,
    CONSTRAINT approvals_pk PRIMARY KEY (tenant_id, received_id, round),
    CONSTRAINT approvals_submission_unique UNIQUE (tenant_id, submission_id),
    CONSTRAINT approvals_received_fk FOREIGN KEY (tenant_id, received_id) REFERENCES received (tenant_id, received_id),
    CONSTRAINT approvals_rejected_with_reason CHECK (approved = (reason IS NULL))
);

-- Deliveries to counterparties and their state; one for each submission. `answer` is the signed ARECF, or the last
-- other answer, for evidence.
CREATE TABLE counterparty_deliveries (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    environment environment NOT NULL,
    -- RNC to look up the address of.
    counterparty_rnc text NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'pending',
    reason text,
    url text,
    answer bytea,
    since timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    -- Last epoch of the queue's row: a replay continues from it, so that a claim from before cannot book.
    epoch bigint NOT NULL DEFAULT 0,
    CONSTRAINT counterparty_deliveries_pk PRIMARY KEY (tenant_id, submission_id),
    CONSTRAINT counterparty_deliveries_kind_known CHECK (kind IN ('receipt', 'approval')),
    CONSTRAINT counterparty_deliveries_state_known CHECK (
        state IN ('pending', 'delivered', 'refused', 'unlisted', 'gave_up')
        )
);

CREATE INDEX counterparty_deliveries_given_up ON counterparty_deliveries (changed_at) WHERE state = 'gave_up';

-- Every time the bytes were about to leave the house; committed before the first one. 'intended' stays where we died
-- before we learned what became of it, 'unknown' where we lived and did not learn.
CREATE TABLE counterparty_sends (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    epoch bigint NOT NULL,
    digest bytea NOT NULL,
    url text NOT NULL,
    intended_at timestamptz NOT NULL,
    outcome text COLLATE "C" NOT NULL DEFAULT 'intended',
    status int,
    answered_at timestamptz,
    CONSTRAINT counterparty_sends_pk PRIMARY KEY (tenant_id, submission_id, epoch),
    CONSTRAINT counterparty_sends_digest_length CHECK (octet_length(digest) = 32),
    CONSTRAINT counterparty_sends_outcome_known CHECK (outcome IN ('intended', 'not_sent', 'unknown', 'answered'))
);

-- docs/reference/queue-table.md. Stage 'address' looks the counterparty up at the authority, whose host is its lane;
-- 'pass_on' sends, and its lane is the counterparty's host.
CREATE TABLE counterparty_outbox (
    tenant_id bigint NOT NULL,
    subject uuid NOT NULL,
    stage text COLLATE "C" NOT NULL,
    environment environment NOT NULL,
    host text COLLATE "C" NOT NULL DEFAULT '',
    run_at timestamptz NOT NULL,
    attempt int NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,
    holder text,
    deaths int NOT NULL DEFAULT 0,
    entered_at timestamptz NOT NULL DEFAULT now(),
    last_error text,
    CONSTRAINT counterparty_outbox_pk PRIMARY KEY (tenant_id, subject),
    CONSTRAINT counterparty_outbox_stage_known CHECK (stage IN ('address', 'pass_on'))
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX counterparty_outbox_due ON counterparty_outbox (stage, environment, host, tenant_id, run_at);

CREATE INDEX counterparty_outbox_held ON counterparty_outbox (stage, environment, host) WHERE holder IS NOT NULL;

CREATE INDEX counterparty_outbox_by_time ON counterparty_outbox (stage, run_at);
