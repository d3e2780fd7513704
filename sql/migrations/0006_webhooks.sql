-- Webhooks: where a tenant wants to be called, what it is told, each call that is due, and what became of every try.
--
-- An event is written in the transaction of what it tells of, with the very bytes of its body; a delivery is that event
-- on its way to one endpoint, under one id for ever. Nothing here costs a tenant without an endpoint more than a look at
-- an index. The ids of events and deliveries begin with their moment, as version-7 UUIDs do, and are made from what they
-- are about: the same event is never written twice, and the same delivery never gets a second id.

-- The environment is that whose events it is told of; NULL: of all. `enabled` is the tenant's switch; `disabled_at` is
-- ours: then its deliveries are kept until it is switched on again. Headers are encrypted (fe/webhooks/secrets.py).
CREATE TABLE webhook_endpoints (
    tenant_id bigint NOT NULL,
    endpoint_id uuid NOT NULL,
    environment environment,
    url text NOT NULL,
    enabled boolean NOT NULL DEFAULT true,
    events text[] NOT NULL DEFAULT ARRAY['received_ecf'],
    headers bytea,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    -- Since when every try has failed.
    failing_since timestamptz,
    disabled_at timestamptz,
    disabled_reason text,
    removed_at timestamptz,
    CONSTRAINT webhook_endpoints_pk PRIMARY KEY (tenant_id, endpoint_id),
    CONSTRAINT webhook_endpoints_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT webhook_endpoints_url_length CHECK (length(url) BETWEEN 1 AND 2048),
    CONSTRAINT webhook_endpoints_events_known CHECK (
        cardinality(events) > 0 AND events <@ ARRAY[
        'received_ecf', 'submission.accepted', 'submission.conditional', 'submission.rejected', 'submission.error',
        'sequence.low', 'sequence.expiring', 'certificate.expiring'
        ]
        ),
    CONSTRAINT webhook_endpoints_disabled_why CHECK ((disabled_at IS NULL) = (disabled_reason IS NULL)),
    CONSTRAINT webhook_endpoints_reason_known
        CHECK (disabled_reason IN ('gone', 'failing', 'tenant'))
);

-- Endpoints that want outcomes: looked up with each verdict.
CREATE INDEX webhook_endpoints_of_outcomes ON webhook_endpoints (tenant_id)
WHERE enabled AND removed_at IS NULL
AND events && ARRAY['submission.accepted', 'submission.conditional', 'submission.rejected', 'submission.error'];

-- One address for each environment, and one for all: PUT /webhooks needs no other name.
CREATE UNIQUE INDEX webhook_endpoints_of_environment
ON webhook_endpoints (tenant_id, environment) NULLS NOT DISTINCT
WHERE removed_at IS NULL;

-- Signing secrets, encrypted. A replaced secret signs beside the new one until it ends.
CREATE TABLE webhook_secrets (
    tenant_id bigint NOT NULL,
    secret_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    secret bytea NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    CONSTRAINT webhook_secrets_pk PRIMARY KEY (tenant_id, secret_id),
    CONSTRAINT webhook_secrets_endpoint FOREIGN KEY (tenant_id, endpoint_id)
        REFERENCES webhook_endpoints (tenant_id, endpoint_id)
);

-- One secret of an endpoint is in use, without an end.
CREATE UNIQUE INDEX webhook_secrets_in_use ON webhook_secrets (tenant_id, endpoint_id) WHERE expires_at IS NULL;

CREATE INDEX webhook_secrets_of_endpoint ON webhook_secrets (tenant_id, endpoint_id);

CREATE TABLE webhook_events (
    tenant_id bigint NOT NULL,
    event_id uuid NOT NULL,
    environment environment,
    kind text NOT NULL,
    -- Its subject: the id of a received document or a submission, a sequence, a certificate.
    about text NOT NULL,
    -- As it is sent, and signed, every time.
    body bytea NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT webhook_events_pk PRIMARY KEY (tenant_id, event_id)
);

CREATE INDEX webhook_events_about ON webhook_events (tenant_id, about);

CREATE INDEX webhook_events_of_a_kind ON webhook_events (tenant_id, kind, event_id) WHERE kind <> 'submission.accepted';

-- A queue table (docs/reference/queue-table.md): what is due waits in stage `webhook`. In the others it rests: `held` while
-- its endpoint is not called, `delivered`, or `failed` after the last try. The subject is the id of the delivery.
CREATE TABLE webhook_deliveries (
    tenant_id bigint NOT NULL,
    subject uuid NOT NULL,
    stage text COLLATE "C" NOT NULL,
    environment environment NOT NULL DEFAULT 'ecf',
    -- The endpoint: its deliveries wait only for each other.
    host text COLLATE "C" NOT NULL,
    run_at timestamptz NOT NULL,
    attempt int NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,
    holder text,
    deaths int NOT NULL DEFAULT 0,
    entered_at timestamptz NOT NULL DEFAULT now(),
    last_error text,
    event_id uuid NOT NULL,
    endpoint_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    -- Answered with a redirect, which was not followed.
    redirected boolean NOT NULL DEFAULT false,
    trace text,
    CONSTRAINT webhook_deliveries_pk PRIMARY KEY (tenant_id, subject),
    CONSTRAINT webhook_deliveries_stage_known CHECK (stage IN ('webhook', 'held', 'delivered', 'failed')),
    CONSTRAINT webhook_deliveries_host CHECK (host = endpoint_id::text)
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (stage, environment, host, tenant_id, run_at);

CREATE INDEX webhook_deliveries_held ON webhook_deliveries (stage, environment, host) WHERE holder IS NOT NULL;

-- Due deliveries by time: those that wait for a later try cost nothing (fe/store/queue/host_lanes.py).
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (stage, run_at);

-- Searches among deliveries: not delivered, about one receipt, and rare events (fe/store/webhooks/deliveries.py).
CREATE INDEX webhook_deliveries_not_delivered ON webhook_deliveries (tenant_id, stage, subject)
WHERE stage IN ('failed', 'held');

CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (tenant_id, event_id);

-- Every try that came to an end. `error` is a class of errors, one word of a short list; `answer` the first bytes of it.
CREATE TABLE webhook_attempts (
    tenant_id bigint NOT NULL,
    delivery_id uuid NOT NULL,
    epoch bigint NOT NULL,
    attempt int NOT NULL,
    at timestamptz NOT NULL,
    duration_ms int NOT NULL,
    status int,
    error text,
    redirected boolean NOT NULL DEFAULT false,
    answer bytea,
    CONSTRAINT webhook_attempts_pk PRIMARY KEY (tenant_id, delivery_id, epoch),
    CONSTRAINT webhook_attempts_answer_short CHECK (octet_length(answer) <= 1024)
);

-- Notices that were sent once and are not repeated: a threshold that was passed.
CREATE TABLE webhook_notices (
    tenant_id bigint NOT NULL,
    kind text NOT NULL,
    about text NOT NULL,
    told_at timestamptz NOT NULL,
    CONSTRAINT webhook_notices_pk PRIMARY KEY (tenant_id, kind, about)
);

-- Requests to redeliver: another queue table. `position` is the last event that was looked at.
CREATE TABLE webhook_recoveries (
    tenant_id bigint NOT NULL,
    subject uuid NOT NULL,
    stage text COLLATE "C" NOT NULL,
    environment environment NOT NULL DEFAULT 'ecf',
    host text COLLATE "C" NOT NULL DEFAULT '',
    run_at timestamptz NOT NULL,
    attempt int NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,
    holder text,
    deaths int NOT NULL DEFAULT 0,
    entered_at timestamptz NOT NULL DEFAULT now(),
    last_error text,
    endpoint_id uuid NOT NULL,
    since timestamptz NOT NULL,
    until timestamptz NOT NULL,
    -- Only what is held, or what failed too; and what was never on its way.
    only_held boolean NOT NULL DEFAULT false,
    position uuid NOT NULL,
    recovered int NOT NULL DEFAULT 0,
    asked_at timestamptz NOT NULL,
    finished_at timestamptz,
    CONSTRAINT webhook_recoveries_pk PRIMARY KEY (tenant_id, subject),
    CONSTRAINT webhook_recoveries_stage_known CHECK (stage IN ('webhook_recovery', 'done', 'failed'))
);

CREATE INDEX webhook_recoveries_due ON webhook_recoveries (stage, environment, host, tenant_id, run_at);
