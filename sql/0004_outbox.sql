-- Due work. A row says which step a subject waits for; a submission has exactly one row until its verdict.
--
-- A claim raises epoch and pushes run_at past the lease, committed before any work begins. Whoever books the outcome must
-- name the epoch it claimed with: a worker that was presumed dead finds another epoch and books nothing.

CREATE TABLE outbox (
    tenant_id bigint NOT NULL,
    subject uuid NOT NULL,
    stage stage NOT NULL,
    -- Environment and host are the lane: while one host of one environment is away, the rows of that lane are left alone
    -- and the others flow.
    environment environment NOT NULL,
    host host NOT NULL DEFAULT '',
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
    -- No foreign key to tenants: every insert would lock the tenant's row, and simultaneous ones would share that lock. The
    -- tenant comes from an API key, which has the foreign key, and tenants are never deleted.
    CONSTRAINT outbox_pk PRIMARY KEY (tenant_id, subject)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX outbox_due ON outbox (stage, environment, host, tenant_id, run_at);

-- Rows that gave up. Everything a replay needs, out of the way of the hot table.
CREATE TABLE dead_letters (
    tenant_id bigint NOT NULL,
    subject uuid NOT NULL,
    stage stage NOT NULL,
    environment environment NOT NULL,
    host host NOT NULL,
    attempt int NOT NULL,
    epoch bigint NOT NULL,
    deaths int NOT NULL,
    entered_at timestamptz NOT NULL,
    died_at timestamptz NOT NULL,
    error text NOT NULL,
    CONSTRAINT dead_letters_pk PRIMARY KEY (tenant_id, subject),
    CONSTRAINT dead_letters_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id)
);

-- Who works. A process says here every few seconds that it lives, so that the hot rows need no sign of life of their own:
-- when one falls silent, what it held is due again long before the leases end.
CREATE TABLE workers (
    holder text NOT NULL,
    started_at timestamptz NOT NULL,
    seen_at timestamptz NOT NULL,
    CONSTRAINT workers_pk PRIMARY KEY (holder)
) WITH (fillfactor = 50);

-- Whether a host of the authority can be worked with, one row per host and environment, shared by all processes.
CREATE TABLE circuits (
    environment environment NOT NULL,
    host host NOT NULL,
    is_open boolean NOT NULL DEFAULT false,
    -- Since when it is as it is: after closing, the load is let back little by little.
    since timestamptz NOT NULL,
    reason text NOT NULL DEFAULT '',
    -- When the next probe may be made, and how many failed since it opened.
    probe_at timestamptz NOT NULL,
    failed_probes int NOT NULL DEFAULT 0,
    CONSTRAINT circuits_pk PRIMARY KEY (environment, host),
    CONSTRAINT circuits_host_named CHECK (host <> '')
) WITH (fillfactor = 50);

-- What an operator has stopped: one tenant (or, with tenant_id 0, all) in one environment (or, with '', all).
CREATE TABLE pauses (
    tenant_id bigint NOT NULL,
    environment text NOT NULL,
    paused_at timestamptz NOT NULL,
    paused_by text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT pauses_pk PRIMARY KEY (tenant_id, environment),
    CONSTRAINT pauses_environment_known CHECK (environment IN ('', 'ecf', 'certecf', 'testecf'))
);
