-- Due work. A row has the stage that a subject waits for; a submission has exactly one row until its verdict.
--
-- A claim raises epoch and moves run_at past the lease, committed before any work begins. Booking names the claimed
-- epoch: a worker that was presumed dead finds another epoch and books nothing.
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
    -- Holder of the row; NULL: none. A claim that still finds a holder has found a crash.
    holder text,
    deaths int NOT NULL DEFAULT 0,
    entered_at timestamptz NOT NULL DEFAULT now(),
    last_error text,
    -- Trace of the submission, if it is traced (docs/decisions/tracing.md): W3C Trace Context, `traceparent` and after
    -- a blank `tracestate`.
    --
    -- Triggers move it with the row, from stage to stage and to the row that replaces it in the same transaction: a
    -- dead letter, webhook deliveries, and back with a replay. Between two rows it is in the setting fe.traces: for
    -- each subject a line feed, the subject, a blank and the trace. No HTTP header can hold a line feed.
    trace text,
    -- No foreign key to tenants: every insert would lock the tenant's row, and simultaneous ones would share that lock. The
    -- tenant comes from an API key, which has the foreign key, and tenants are never deleted.
    CONSTRAINT outbox_pk PRIMARY KEY (tenant_id, subject),
    CONSTRAINT outbox_trace_form CHECK (trace ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}( .*)?$')
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX outbox_due ON outbox (stage, environment, host, tenant_id, run_at) WHERE run_at < 'infinity';

-- The earliest due rows of a lane (docs/decisions/micro-performance.md): tenants that wait for a later try cost nothing.
-- The condition (epoch >= 0, true of all rows) keeps queries by tenant on the other index.
CREATE INDEX outbox_due_by_time ON outbox (stage, environment, host, run_at)
WHERE run_at < 'infinity' AND epoch >= 0;

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
    trace text,
    CONSTRAINT dead_letters_pk PRIMARY KEY (tenant_id, subject),
    CONSTRAINT dead_letters_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id)
);

-- Heartbeats of processes, so that hot rows need none: when a process falls silent its rows are due long before their
-- leases end.
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

-- Pauses by operators: one tenant (or, with tenant_id 0, all) in one environment (or, with '', all).
CREATE TABLE pauses (
    tenant_id bigint NOT NULL,
    environment text NOT NULL,
    paused_at timestamptz NOT NULL,
    paused_by text NOT NULL,
    reason text NOT NULL,
    CONSTRAINT pauses_pk PRIMARY KEY (tenant_id, environment),
    CONSTRAINT pauses_environment_known CHECK (environment IN ('', 'ecf', 'certecf', 'testecf'))
);

-- Where a front shows that it can write. The table is always empty: what is written is taken back.

-- The fill factor has each row start a page of its own: on a full disk that is what fails first, while changes in
-- pages that are there may go on for long. A row is small, because it goes through the server's log.
CREATE TABLE write_probes (
    probe_id uuid NOT NULL,
    filler text NOT NULL,
    CONSTRAINT write_probes_pk PRIMARY KEY (probe_id)
) WITH (fillfactor = 10);

-- Which process does what one is enough for. It only saves work: what is done is right when two do it.
CREATE TABLE duties (
    duty text NOT NULL,
    holder text NOT NULL,
    held_until timestamptz NOT NULL,
    CONSTRAINT duties_pk PRIMARY KEY (duty)
) WITH (fillfactor = 50);
