-- Due work. A row says which step a subject waits for; a submission has exactly one row until its verdict.
--
-- A claim raises epoch and pushes run_at past the lease, committed before any work begins. Whoever books the outcome must
-- name the epoch it claimed with: a worker that was presumed dead finds another epoch and books nothing.

CREATE TABLE outbox (
    tenant_id bigint NOT NULL,
    subject uuid NOT NULL,
    stage text NOT NULL,
    environment text NOT NULL,
    run_at timestamptz NOT NULL,
    -- Failed or unfinished tries of this stage, counted when claimed.
    attempt int NOT NULL DEFAULT 0,
    -- The fencing token: grows with every claim, over all stages.
    epoch bigint NOT NULL DEFAULT 0,
    -- Who holds the row now; NULL when nobody does. A claim that still finds a holder has found a death.
    holder text,
    deaths int NOT NULL DEFAULT 0,
    entered_at timestamptz NOT NULL DEFAULT now(),
    last_error text,
    CONSTRAINT outbox_pk PRIMARY KEY (tenant_id, subject),
    CONSTRAINT outbox_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT outbox_stage_known CHECK (stage IN ('sign', 'send', 'track', 'reconcile')),
    CONSTRAINT outbox_environment_known CHECK (environment IN ('ecf', 'certecf', 'testecf'))
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX outbox_due ON outbox (stage, environment, tenant_id, run_at);

-- Rows that gave up. Everything a replay needs, out of the way of the hot table.
CREATE TABLE dead_letters (
    tenant_id bigint NOT NULL,
    subject uuid NOT NULL,
    stage text NOT NULL,
    environment text NOT NULL,
    attempt int NOT NULL,
    epoch bigint NOT NULL,
    deaths int NOT NULL,
    entered_at timestamptz NOT NULL,
    died_at timestamptz NOT NULL,
    error text NOT NULL,
    CONSTRAINT dead_letters_pk PRIMARY KEY (tenant_id, subject),
    CONSTRAINT dead_letters_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id)
);

-- Every time a document's bytes were about to leave the house. Written and committed before the first byte goes out;
-- `outcome` stays 'intended' when we died before we learned what became of it; 'unknown' when we lived and did not learn;
-- 'not_known' when the authority was asked and did not know it; 'not_sent' when certainly no byte was processed.
CREATE TABLE sends (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    epoch bigint NOT NULL,
    digest bytea NOT NULL,
    intended_at timestamptz NOT NULL,
    outcome text NOT NULL DEFAULT 'intended',
    answered_at timestamptz,
    track_id text,
    CONSTRAINT sends_pk PRIMARY KEY (tenant_id, submission_id, epoch),
    CONSTRAINT sends_outcome_known CHECK (
        outcome IN ('intended', 'received', 'refused', 'not_sent', 'unknown', 'not_known')
    ),
    CONSTRAINT sends_digest_length CHECK (octet_length(digest) = 32)
);
