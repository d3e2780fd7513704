CREATE TABLE sequences (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    prefix text NOT NULL,
    sequence_id uuid NOT NULL,
    min_number bigint NOT NULL,
    max_number bigint NOT NULL,
    -- The next number to consume; max_number + 1 says that the range is used up.
    current_number bigint NOT NULL,
    is_active boolean NOT NULL DEFAULT true,
    expire_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    -- The newest first.
    former_ranges former_range [] NOT NULL DEFAULT '{}',
    -- When its range or its next number was last set; NULL: not known.
    set_at timestamptz,
    -- A sequence is paused when the authority has one of its numbers under another document of the issuer: this
    -- database has lost rows (failover, restored backup), or another program draws from the same range. Draws are
    -- refused until the next number is set or the sequence is resumed. Since when; for which number; and when it was
    -- last resumed: numbers accepted before that do not pause it again.
    paused_at timestamptz,
    paused_for text,
    resumed_at timestamptz,
    CONSTRAINT sequences_pk PRIMARY KEY (tenant_id, environment, prefix),
    CONSTRAINT sequences_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT sequences_prefix_known CHECK (
        prefix IN ('E31', 'E32', 'E33', 'E34', 'E41', 'E43', 'E44', 'E45', 'E46', 'E47')
        ),
    CONSTRAINT sequences_range CHECK (min_number >= 1 AND min_number <= max_number AND max_number <= 9999999999),
    CONSTRAINT sequences_current CHECK (current_number BETWEEN min_number AND max_number + 1)
) WITH (fillfactor = 50);

-- A submission, the bytes that belong to it, and the story of its life.
--
-- The tables are partitioned by month. The key is a version-7 UUID made by the application from the moment of
-- acceptance, so the month lies in the id itself: looking a submission up by id reads one partition, the newest-first
-- list walks partitions in order, and no key needs a date beside the id.
CREATE TABLE submissions (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    environment environment NOT NULL,
    api_key_id text NOT NULL,
    client_request_id text,
    body_digest bytea NOT NULL,
    format submission_format NOT NULL,
    root document_root NOT NULL,
    ecf_type text,
    e_ncf text,
    issuer_rnc text,
    buyer_rnc text,
    -- User whose certificate the client requested, and the certificate that signed.
    as_user text,
    as_user_id uuid,
    certificate_id uuid,
    status submission_status NOT NULL DEFAULT 'queued',
    track_id text,
    security_code text,
    qr_code_url text,
    ncf_expiration date,
    signed_at timestamptz,
    number_fate number_fate NOT NULL DEFAULT 'reserved',
    response jsonb,
    submitted_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    -- When the authority first said anything about this document: the end of the latency that /usage reports.
    first_answer_at timestamptz,
    verdict_at timestamptz,
    -- Its outbox epoch when an operator last set it going again: sends up to that one do not count against its attempts.
    -- No moment, because operators' and workers' clocks may differ.
    replayed_epoch bigint NOT NULL DEFAULT 0,
    CONSTRAINT submissions_pk PRIMARY KEY (tenant_id, submission_id),
    CONSTRAINT submissions_verdict_dated CHECK (
        (verdict_at IS NOT NULL) = (status IN ('Aceptado', 'Aceptado Condicional', 'Rechazado'))
        )
) PARTITION BY RANGE (submission_id);

CREATE INDEX submissions_by_track_id ON submissions (tenant_id, track_id) WHERE track_id IS NOT NULL;

CREATE INDEX submissions_by_e_ncf ON submissions (tenant_id, e_ncf, submission_id) WHERE e_ncf IS NOT NULL;

-- Verdicts of a month or of days, without walking the history.
CREATE INDEX submissions_by_verdict ON submissions (tenant_id, environment, verdict_at)
WHERE verdict_at IS NOT null;

-- A buyer's receipts, newest first, for the `rnc` filter of the list.
CREATE INDEX submissions_by_buyer ON submissions (tenant_id, buyer_rnc, submission_id)
WHERE buyer_rnc IS NOT null;

-- Searches of the portal: type of receipt, not accepted, certificate, supplier. A page reads one index from its newest
-- end, so its cost does not grow with the history.
CREATE INDEX submissions_of_a_kind ON submissions (tenant_id, environment, ecf_type, submission_id);

-- The few that need attention.
CREATE INDEX submissions_not_quite_accepted ON submissions (tenant_id, environment, status, submission_id)
WHERE status IN ('Rechazado', 'error', 'Aceptado Condicional');

CREATE INDEX submissions_as_user ON submissions (tenant_id, as_user, submission_id) WHERE as_user IS NOT NULL;

CREATE INDEX submissions_as_user_id ON submissions (tenant_id, as_user_id, submission_id) WHERE as_user_id IS NOT NULL;

-- The clientRequestId of a submission: unique per tenant and environment, for ever. Apart from `submissions` because a
-- unique rule over all months cannot live in a table that is cut by month.
CREATE TABLE client_requests (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    client_request_id text NOT NULL,
    submission_id uuid NOT NULL,
    CONSTRAINT client_requests_pk PRIMARY KEY (tenant_id, environment, client_request_id),
    CONSTRAINT client_requests_length CHECK (length(client_request_id) BETWEEN 1 AND 120)
) WITH (
    autovacuum_analyze_scale_factor = 1, autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 250000, autovacuum_vacuum_cost_delay = 10
);

-- The bytes. `original` is what the client sent (XML, or the structured payload as JSON); `signed` is what we signed and
-- what every send of the document carries; `sent` is there when the authority gets something other than `signed`: the
-- summary of a consumer invoice. Bytes are kept as bytes: what the door accepted is always readable again.
CREATE TABLE submission_documents (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    kind document_kind NOT NULL,
    content bytea NOT NULL,
    CONSTRAINT submission_documents_pk PRIMARY KEY (tenant_id, submission_id, kind)
) PARTITION BY RANGE (submission_id);

-- The life of a submission: append-only and hash-chained. Each row's hash covers the one before it.
CREATE TABLE submission_events (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    seq int NOT NULL,
    at timestamptz NOT NULL,
    kind text NOT NULL,
    detail jsonb NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT submission_events_pk PRIMARY KEY (tenant_id, submission_id, seq)
) PARTITION BY RANGE (submission_id);

-- Every time a document's bytes were about to leave the house. Written and committed before the first byte goes out;
-- `outcome` stays 'intended' when we died before we learned what became of it; 'unknown' when we lived and did not learn;
-- 'not_known' when the authority was asked and did not know it; 'not_sent' when certainly no byte was processed.
CREATE TABLE sends (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    epoch bigint NOT NULL,
    digest bytea NOT NULL,
    intended_at timestamptz NOT NULL,
    outcome send_outcome NOT NULL DEFAULT 'intended',
    answered_at timestamptz,
    track_id text,
    CONSTRAINT sends_pk PRIMARY KEY (tenant_id, submission_id, epoch),
    CONSTRAINT sends_digest_length CHECK (octet_length(digest) = 32)
) PARTITION BY RANGE (submission_id);

-- Rows whose month has no partition yet (a clock far ahead) still find a home.
CREATE TABLE submissions_default PARTITION OF submissions DEFAULT;

CREATE TABLE submission_documents_default PARTITION OF submission_documents DEFAULT;

CREATE TABLE submission_events_default PARTITION OF submission_events DEFAULT;

CREATE TABLE sends_default PARTITION OF sends DEFAULT;

-- One number, one receipt: whose a fiscal number is, when a sequence ends, and how it is put back.

-- Which submission a number belongs to, from the moment it is signed: the key decides between two that come at once. It is
-- the issuer's number, and a tenant may issue for several. The row stays for ever, as the number does; it goes over to
-- another submission only when the first one's fate is `reusable`.
CREATE TABLE held_numbers (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    -- Compared byte by byte, so that numbers of one prefix are in their order.
    e_ncf text COLLATE "C" NOT NULL,
    issuer_rnc text NOT NULL,
    submission_id uuid NOT NULL,
    CONSTRAINT held_numbers_pk PRIMARY KEY (tenant_id, environment, e_ncf, issuer_rnc)
) WITH (
    autovacuum_analyze_scale_factor = 1, autovacuum_vacuum_insert_scale_factor = 0,
    autovacuum_vacuum_insert_threshold = 250000, autovacuum_vacuum_cost_delay = 10
);

-- Outcomes that clients request of a simulated authority (docs/api/testing.md). They are no part of the document.
--
-- Production has no row. The sender looks up the row of its work's environment, so production never finds one, whatever
-- its settings.
CREATE TABLE simulations (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    environment environment NOT NULL,
    outcome text COLLATE "C" NOT NULL,
    code int,
    seconds int,
    CONSTRAINT simulations_pk PRIMARY KEY (tenant_id, submission_id),
    CONSTRAINT simulations_never_in_production CHECK (environment <> 'ecf'),
    CONSTRAINT simulations_outcome_known CHECK (
        outcome IN ('rejected', 'conditional', 'stuck', 'lost-answer', 'slow')
        ),
    CONSTRAINT simulations_code_in_bounds CHECK (code BETWEEN 1 AND 99999),
    CONSTRAINT simulations_seconds_in_bounds CHECK (seconds BETWEEN 1 AND 3600)
);

-- A number that was drawn for a receipt that ended before it was signed goes back to its sequence: the next draw gives it.

-- The numbers to give before the sequence goes on; the row is deleted by the draw that gives it.
CREATE TABLE returned_numbers (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    prefix text COLLATE "C" NOT NULL,
    number bigint NOT NULL,
    CONSTRAINT returned_numbers_pk PRIMARY KEY (tenant_id, environment, prefix, number)
);
