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
    -- Whose certificate the client asked for, and which one was chosen when it was signed.
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

-- The clientRequestId of a submission: unique per tenant and environment, for ever. Apart from `submissions` because a
-- unique rule over all months cannot live in a table that is cut by month.
CREATE TABLE client_requests (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    client_request_id text NOT NULL,
    submission_id uuid NOT NULL,
    CONSTRAINT client_requests_pk PRIMARY KEY (tenant_id, environment, client_request_id),
    CONSTRAINT client_requests_length CHECK (length(client_request_id) BETWEEN 1 AND 120)
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

-- The smallest version-7 UUID of a moment: its first 48 bits are the milliseconds since 1970, rounded down as in the ids.
CREATE FUNCTION uuid_floor(moment timestamptz) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT
RETURN (lpad(to_hex(floor(extract(EPOCH FROM moment) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- Make the partitions of the month that `moment` lies in. Harmless when they are there, and from many places at once.
--
-- Rows that came before their month was made wait in the default partition and move over; as long as they lay there, the
-- month could not be made at all. Attaching locks less than creating in place: readers and writers of other months go on.
CREATE FUNCTION ensure_month(moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    first_day timestamptz := date_trunc('month', moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
    next_first timestamptz := (date_trunc('month', moment AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';
    suffix text := to_char(first_day AT TIME ZONE 'UTC', 'YYYY_MM');
    parent text;
    child text;
    others text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('ensure_month'));
    FOREACH parent IN ARRAY ARRAY['submissions', 'submission_documents', 'submission_events', 'sends'] LOOP
        child := parent || '_' || suffix;
        others := parent || '_default';
        IF to_regclass(child) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
            IF parent = 'submission_documents' THEN
                -- Signed XML hardly shrinks and is read rarely: do not spend the accepting path's time on compression.
                EXECUTE format('ALTER TABLE %I ALTER COLUMN content SET STORAGE EXTERNAL', child);
                -- Nor on cutting it in chunks of 2 kB with an index of their own, as long as two rows fit on a page.
                EXECUTE format('ALTER TABLE %I SET (toast_tuple_target = 4080)', child);
            END IF;
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', others);
            EXECUTE format('WITH moved AS (DELETE FROM %I WHERE submission_id >= %L AND submission_id < %L RETURNING *)
                            INSERT INTO %I SELECT * FROM moved',
                           others, uuid_floor(first_day), uuid_floor(next_first), child);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                           parent, child, uuid_floor(first_day), uuid_floor(next_first));
        END IF;
    END LOOP;
END
$$;
