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
    CONSTRAINT webhook_endpoints_reason_known CHECK (disabled_reason IN ('gone', 'failing'))
);

-- Who wants to hear of the outcomes of its submissions: looked at with each verdict.
CREATE INDEX webhook_endpoints_of_outcomes ON webhook_endpoints (tenant_id)
WHERE enabled AND removed_at IS NULL
AND events && ARRAY['submission.accepted', 'submission.conditional', 'submission.rejected', 'submission.error'];

-- What calls are signed with, encrypted. A secret that was replaced signs beside the new one until it ends.
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
    -- What it is about: the id of a received document or a submission, a sequence, a certificate.
    about text NOT NULL,
    -- As it is sent, and signed, every time.
    body bytea NOT NULL,
    created_at timestamptz NOT NULL,
    CONSTRAINT webhook_events_pk PRIMARY KEY (tenant_id, event_id)
);

-- A queue table (docs/reference/queue-table.md): what is due waits in stage `webhook`. In the others it rests: `held` while
-- its endpoint is not called, `delivered`, or `failed` after the last try. The subject is the id of the delivery.
CREATE TABLE webhook_deliveries (
    tenant_id bigint NOT NULL,
    subject uuid NOT NULL,
    stage text COLLATE "C" NOT NULL,
    environment environment NOT NULL DEFAULT 'ecf',
    -- The endpoint: its deliveries wait for each other, and for nobody else's.
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
    -- It was confirmed by a redirect, which nobody followed.
    redirected boolean NOT NULL DEFAULT false,
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

-- What was told once and is not told again: a threshold that was passed.
CREATE TABLE webhook_notices (
    tenant_id bigint NOT NULL,
    kind text NOT NULL,
    about text NOT NULL,
    told_at timestamptz NOT NULL,
    CONSTRAINT webhook_notices_pk PRIMARY KEY (tenant_id, kind, about)
);

-- What is to be delivered again: another queue table. `position` is the last event that was looked at.
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

DO $$
DECLARE
    walled text;
BEGIN
    FOREACH walled IN ARRAY ARRAY['webhook_endpoints', 'webhook_secrets', 'webhook_events', 'webhook_deliveries',
                                  'webhook_attempts', 'webhook_notices', 'webhook_recoveries'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', walled);
        EXECUTE format('CREATE POLICY every_tenant ON %I TO fe_worker, fe_operator USING (true)', walled);
        EXECUTE format('CREATE POLICY every_tenant_read ON %I FOR SELECT TO fe_readonly USING (true)', walled);
        EXECUTE format('CREATE POLICY own_tenant ON %I TO fe_front
                        USING (tenant_id = nullif(current_setting(''fe.tenant'', true), '''')::bigint)', walled);
    END LOOP;
    FOREACH walled IN ARRAY ARRAY['webhook_endpoints', 'webhook_events', 'webhook_deliveries'] LOOP
        EXECUTE format('CREATE POLICY receiving_tenant ON %I TO fe_reception
                        USING (tenant_id = nullif(current_setting(''fe.tenant'', true), '''')::bigint)', walled);
    END LOOP;
END
$$;

-- Reception adds the event of what it received, and knows of an endpoint no more than whether it wants it.
GRANT SELECT (
    tenant_id, endpoint_id, environment, enabled, events, disabled_at, removed_at
) ON webhook_endpoints TO fe_reception;
GRANT INSERT ON webhook_events, webhook_deliveries TO fe_reception;

-- The front configures, looks, and has a delivery made again.
GRANT SELECT, INSERT, UPDATE ON webhook_endpoints TO fe_front, fe_operator;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_secrets TO fe_front, fe_operator;
GRANT SELECT, INSERT ON webhook_events, webhook_recoveries TO fe_front, fe_operator;
GRANT SELECT, INSERT, UPDATE (
    stage, run_at, attempt, deaths, holder, entered_at, finished_at
) ON webhook_deliveries TO fe_front, fe_operator;
GRANT SELECT ON webhook_attempts TO fe_front, fe_operator;
GRANT SELECT ON webhook_notices TO fe_operator;

GRANT SELECT, UPDATE (failing_since, disabled_at, disabled_reason) ON webhook_endpoints TO fe_worker;
GRANT SELECT, DELETE ON webhook_secrets TO fe_worker;
GRANT SELECT, INSERT, DELETE ON webhook_events, webhook_attempts, webhook_notices TO fe_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_deliveries, webhook_recoveries TO fe_worker;
-- A received document whose event was never written is told of when it is asked for again.
GRANT SELECT ON received, acknowledgements TO fe_worker;

GRANT SELECT ON webhook_events, webhook_deliveries, webhook_attempts, webhook_notices, webhook_recoveries
TO fe_readonly;
GRANT SELECT (
    tenant_id, endpoint_id, environment, url, enabled, events, created_at, updated_at, failing_since, disabled_at,
    disabled_reason, removed_at
) ON webhook_endpoints TO fe_readonly;
GRANT SELECT (
    tenant_id, secret_id, endpoint_id, created_at, expires_at
) ON webhook_secrets TO fe_readonly;

-- The id of what is made of `p_seed` at a moment: in its order of time, and the same each time it is asked for.
CREATE FUNCTION webhook_id(p_at timestamptz, p_seed text) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT
RETURN (
    left(replace(uuid_floor(p_at)::text, '-', ''), 12) || '7' || substr(md5(p_seed), 1, 3)
    || '8' || substr(md5(p_seed), 4, 15)
)::uuid;

-- A moment as events write it.
CREATE FUNCTION webhook_moment(p_at timestamptz) RETURNS text
LANGUAGE sql STABLE STRICT
RETURN to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

-- Whether anybody wants to hear of this.
CREATE FUNCTION webhook_wanted(p_tenant bigint, p_environment text, p_kind text) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (
        SELECT 1
          FROM webhook_endpoints AS e
         WHERE e.tenant_id = p_tenant AND e.enabled AND e.removed_at IS NULL AND p_kind = ANY (e.events)
           AND (e.environment IS NULL OR p_environment IS NULL OR e.environment = p_environment));
END
$$;

-- Put an event on its way to an endpoint, or to each that wants it. Those that are not called keep it.
CREATE FUNCTION deliver_event(
    p_tenant bigint, p_event uuid, p_environment text, p_kind text, p_at timestamptz, p_endpoint uuid
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_deliveries (tenant_id, subject, stage, environment, host, run_at, event_id, endpoint_id,
                                    created_at)
    SELECT e.tenant_id, webhook_id(p_at, p_event::text || e.endpoint_id::text),
           CASE WHEN e.disabled_at IS NULL THEN 'webhook' ELSE 'held' END,
           coalesce(p_environment, 'ecf'), e.endpoint_id::text, now(), p_event, e.endpoint_id, p_at
      FROM webhook_endpoints AS e
     WHERE e.tenant_id = p_tenant AND e.removed_at IS NULL
       AND CASE WHEN p_endpoint IS NULL
                THEN e.enabled AND p_kind = ANY (e.events)
                     AND (e.environment IS NULL OR p_environment IS NULL OR e.environment = p_environment)
                ELSE e.endpoint_id = p_endpoint END
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM pg_notify('fe_due', 'webhook');
    END IF;
END
$$;

-- Write an event down and put it on its way. `p_endpoint` names the only one that is told, whatever it wants; NULL: each
-- that wants it. The caller has made sure that there is one.
CREATE FUNCTION tell_webhooks(
    p_tenant bigint, p_event uuid, p_environment text, p_kind text, p_about text, p_at timestamptz, p_body text,
    p_endpoint uuid
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO webhook_events (tenant_id, event_id, environment, kind, about, body, created_at)
    VALUES (p_tenant, p_event, p_environment, p_kind, p_about, convert_to(p_body, 'UTF8'), p_at)
    ON CONFLICT DO NOTHING;
    PERFORM deliver_event(p_tenant, p_event, p_environment, p_kind, p_at, p_endpoint);
END
$$;

-- Tell of a threshold, once for ever; true: it was told now. Where nobody wants to hear it, it is not used up.
CREATE FUNCTION tell_webhooks_once(
    p_tenant bigint, p_environment text, p_kind text, p_about text, p_at timestamptz, p_body text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT webhook_wanted(p_tenant, p_environment, p_kind) THEN
        RETURN false;
    END IF;
    INSERT INTO webhook_notices (tenant_id, kind, about, told_at)
    VALUES (p_tenant, p_kind, p_about, p_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM tell_webhooks(p_tenant, webhook_id(p_at, p_kind || ' ' || p_about), p_environment, p_kind, p_about, p_at,
                          p_body, NULL);
    RETURN true;
END
$$;

-- What is told of a received document (the Events section of the interface), as it was on arrival.
CREATE FUNCTION received_event_body(p_tenant bigint, p_received uuid, p_at timestamptz) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
    body text;
BEGIN
    SELECT row_to_json(told)::text INTO body
      FROM (SELECT 'received_ecf' AS event,
                   webhook_moment(p_at) AS "sentAt",
                   (SELECT row_to_json(shown)
                      FROM (SELECT r.received_id AS id, r.e_ncf AS encf, 'E' || r.ecf_type AS "tipoEcf",
                                   r.issuer_rnc AS "rncEmisor", r.buyer_rnc AS "rncComprador", r.total AS "montoTotal",
                                   r.issued_on AS "fechaEmision", 'pending' AS "approvalStatus",
                                   webhook_moment(r.received_at) AS "receivedAt") AS shown) AS "receivedEcf",
                   ltrim(convert_from(a.document, 'UTF8'), chr(65279)) AS xml
              FROM received AS r
              JOIN acknowledgements AS a
                ON a.tenant_id = r.tenant_id AND a.environment = r.environment AND a.digest = r.digest AND a.reason = 0
             WHERE r.tenant_id = p_tenant AND a.tenant_id = p_tenant AND r.received_id = p_received) AS told;
    RETURN body;
END
$$;

-- As in 0018, and the event with it: what is acknowledged as received is told in the same transaction.
CREATE OR REPLACE FUNCTION keep_received(
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
        IF p_reason = 0 AND webhook_wanted(p_tenant, p_environment, 'received_ecf') THEN
            PERFORM tell_webhooks(p_tenant, p_received, p_environment, 'received_ecf', p_received::text, p_at,
                                  received_event_body(p_tenant, p_received, p_at), NULL);
        END IF;
        RETURN p_acknowledgement;
    END IF;
    SELECT a.acknowledgement INTO said
      FROM acknowledgements AS a
     WHERE a.tenant_id = p_tenant AND a.environment = p_environment AND a.digest = p_digest AND a.reason = p_reason;
    RETURN said;
END
$$;

-- Tell of submissions that have ended, those who want to hear it. What is written was booked a moment before, in this very
-- transaction. NULL among the submissions: one that was not booked.
CREATE FUNCTION tell_outcomes(p_tenants bigint[], p_submissions uuid[], p_at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    ended record;
BEGIN
    IF NOT EXISTS (
        SELECT 1
          FROM webhook_endpoints AS e
         WHERE e.tenant_id = ANY (p_tenants) AND e.enabled AND e.removed_at IS NULL
           AND e.events && ARRAY['submission.accepted', 'submission.conditional', 'submission.rejected',
                                 'submission.error']) THEN
        RETURN;
    END IF;
    FOR ended IN
        SELECT s.*, k.kind
          FROM unnest(p_tenants, p_submissions) AS b (tenant_id, submission_id)
          JOIN submissions AS s ON s.tenant_id = b.tenant_id AND s.submission_id = b.submission_id
          JOIN (VALUES ('Aceptado', 'submission.accepted'), ('Aceptado Condicional', 'submission.conditional'),
                       ('Rechazado', 'submission.rejected'), ('error', 'submission.error')) AS k (status, kind)
            ON k.status = s.status
         WHERE webhook_wanted(s.tenant_id, s.environment, k.kind)
    LOOP
        PERFORM tell_webhooks(
            ended.tenant_id, webhook_id(p_at, ended.kind || ' ' || ended.submission_id::text), ended.environment,
            ended.kind, ended.submission_id::text, p_at,
            (SELECT row_to_json(told)::text
               FROM (SELECT ended.kind AS event, webhook_moment(p_at) AS "sentAt",
                            (SELECT row_to_json(submission)
                               FROM (SELECT ended.submission_id AS "taxLogId",
                                            ended.client_request_id AS "clientRequestId",
                                            ended.environment AS environment, ended.status AS status,
                                            ended.e_ncf AS "eNCF", ended.number_fate AS "numberFate",
                                            ended.track_id AS "trackId", ended.security_code AS "securityCode",
                                            ended.qr_code_url AS "qrCodeUrl", ended.response AS response,
                                            webhook_moment(p_at) AS "updatedAt") AS submission) AS submission) AS told),
            NULL);
    END LOOP;
END
$$;

-- As in 0005, and whoever wants to hear of the end is told.
CREATE OR REPLACE FUNCTION record_event(
    p_tenant bigint, p_submission uuid, p_at timestamptz, p_kind text, p_detail jsonb
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    previous record;
    next_seq int;
BEGIN
    SELECT e.seq, e.hash INTO previous
      FROM submission_events AS e
     WHERE e.tenant_id = p_tenant AND e.submission_id = p_submission
     ORDER BY e.seq DESC
     LIMIT 1;
    next_seq := coalesce(previous.seq, 0) + 1;
    INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
    VALUES (p_tenant, p_submission, next_seq, p_at, p_kind, p_detail,
            event_hash(previous.hash, p_tenant, p_submission, next_seq, p_at, p_kind, p_detail));
    IF p_kind IN ('verdict', 'error', 'discarded') THEN
        PERFORM tell_outcomes(ARRAY[p_tenant], ARRAY[p_submission], p_at);
    END IF;
END
$$;

-- As in 0013, and the same.
CREATE OR REPLACE FUNCTION record_event_batch(
    p_tenants bigint[], p_submissions uuid[], p_at timestamptz, p_kind text, p_details jsonb[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
    SELECT b.tenant_id, b.submission_id, coalesce(last.seq, 0) + 1, p_at, p_kind, b.detail,
           event_hash(last.hash, b.tenant_id, b.submission_id, coalesce(last.seq, 0) + 1, p_at, p_kind, b.detail)
      FROM unnest(p_tenants, p_submissions, p_details) AS b (tenant_id, submission_id, detail)
      LEFT JOIN LATERAL (SELECT e.seq, e.hash
                           FROM submission_events AS e
                          WHERE e.tenant_id = b.tenant_id AND e.submission_id = b.submission_id
                          ORDER BY e.seq DESC
                          LIMIT 1) AS last ON true
     WHERE b.submission_id IS NOT NULL;
    IF p_kind IN ('verdict', 'error') THEN
        PERFORM tell_outcomes(p_tenants, p_submissions, p_at);
    END IF;
END
$$;

-- What tries came to, many at once, each fenced by its claim as in 0013. `p_stages` is where it goes: `webhook`, to be tried
-- again after p_afters (where that does not count, the attempt is given back), or where it rests. A try that was made has
-- a moment in p_begun, and is put on record. Answers the deliveries whose claims held, with NULL for the others.
--
-- What a try showed of its endpoint is noted with it: an endpoint that answers is well; one of which every try has failed
-- for p_patience is called no more, nor is one that said it is gone (p_gone), and its deliveries are held.
CREATE FUNCTION book_webhooks_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_stages text[], p_afters interval[],
    p_counts boolean[], p_begun timestamptz[], p_durations int[], p_statuses int[], p_errors text[],
    p_redirected boolean[], p_answers bytea[], p_gone boolean[], p_patience interval
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
    endpoints uuid[];
    attempts int[];
BEGIN
    WITH booked AS (
        UPDATE webhook_deliveries AS d
           SET stage = b.stage, holder = NULL, deaths = 0, last_error = b.error, redirected = b.redirected,
               run_at = moment + b.after,
               attempt = CASE WHEN b.counts THEN d.attempt ELSE greatest(d.attempt - 1, 0) END,
               entered_at = CASE WHEN b.stage = d.stage THEN d.entered_at ELSE moment END,
               finished_at = CASE WHEN b.stage IN ('delivered', 'failed') THEN p_at END
          FROM unnest(p_tenants, p_subjects, p_epochs, p_stages, p_afters, p_counts, p_errors, p_redirected)
                       WITH ORDINALITY AS b (tenant_id, subject, epoch, stage, after, counts, error, redirected, n)
         WHERE d.tenant_id = b.tenant_id AND d.subject = b.subject AND d.epoch = b.epoch AND d.holder IS NOT NULL
        RETURNING b.n, d.endpoint_id, d.attempt
    )
    SELECT array_agg(CASE WHEN booked.n IS NOT NULL THEN b.subject END ORDER BY b.n),
           array_agg(booked.endpoint_id ORDER BY b.n), array_agg(booked.attempt ORDER BY b.n)
      INTO mine, endpoints, attempts
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN booked ON booked.n = b.n;
    INSERT INTO webhook_attempts (tenant_id, delivery_id, epoch, attempt, at, duration_ms, status, error, redirected,
                                  answer)
    SELECT b.tenant_id, b.subject, b.epoch, b.attempt, b.begun, b.duration, b.status, b.error, b.redirected, b.answer
      FROM unnest(p_tenants, mine, p_epochs, attempts, p_begun, p_durations, p_statuses, p_errors, p_redirected,
                  p_answers)
                   AS b (tenant_id, subject, epoch, attempt, begun, duration, status, error, redirected, answer)
     WHERE b.subject IS NOT NULL AND b.begun IS NOT NULL
    ON CONFLICT DO NOTHING;
    PERFORM note_endpoints(p_tenants, endpoints, p_at, p_stages, p_begun, p_gone, p_patience);
    RETURN mine;
END
$$;

-- Part of the one above: what the tries of a batch showed of their endpoints. Only rows that change are locked, in order.
CREATE FUNCTION note_endpoints(
    p_tenants bigint[], p_endpoints uuid[], p_at timestamptz, p_stages text[], p_begun timestamptz[], p_gone boolean[],
    p_patience interval
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    noted record;
BEGIN
    FOR noted IN
        SELECT e.tenant_id, e.endpoint_id,
               CASE WHEN seen.is_well THEN NULL ELSE coalesce(e.failing_since, p_at) END AS failing_since,
               CASE WHEN seen.is_gone THEN 'gone'
                    WHEN NOT seen.is_well AND e.failing_since <= p_at - p_patience THEN 'failing' END AS reason
          FROM (SELECT b.tenant_id, b.endpoint_id, bool_or(b.stage = 'delivered') AS is_well, bool_or(b.gone) AS is_gone
                  FROM unnest(p_tenants, p_endpoints, p_stages, p_begun, p_gone)
                               AS b (tenant_id, endpoint_id, stage, begun, gone)
                 WHERE b.endpoint_id IS NOT NULL AND b.begun IS NOT NULL
                 GROUP BY b.tenant_id, b.endpoint_id) AS seen
          JOIN webhook_endpoints AS e ON e.tenant_id = seen.tenant_id AND e.endpoint_id = seen.endpoint_id
         WHERE e.disabled_at IS NULL
           AND (seen.is_gone OR (e.failing_since IS NULL) <> seen.is_well OR e.failing_since <= p_at - p_patience)
         ORDER BY e.tenant_id, e.endpoint_id
           FOR UPDATE OF e
    LOOP
        UPDATE webhook_endpoints AS e
           SET failing_since = noted.failing_since,
               disabled_at = CASE WHEN noted.reason IS NOT NULL THEN p_at END,
               disabled_reason = noted.reason
         WHERE e.tenant_id = noted.tenant_id AND e.endpoint_id = noted.endpoint_id;
        IF noted.reason IS NOT NULL THEN
            -- Those under way and those beyond are held one by one, as they come up.
            UPDATE webhook_deliveries AS d
               SET stage = 'held', entered_at = now()
             WHERE d.tenant_id = noted.tenant_id
               AND d.subject = ANY (ARRAY(
                   SELECT w.subject
                     FROM webhook_deliveries AS w
                    WHERE w.tenant_id = noted.tenant_id AND w.host = noted.endpoint_id::text AND w.stage = 'webhook'
                      AND w.holder IS NULL
                    LIMIT 10000
                      FOR UPDATE SKIP LOCKED));
        END IF;
    END LOOP;
END
$$;

-- Have a delivery made again, from the first try on; false where it is under way at this moment, or is not there.
CREATE FUNCTION retry_webhook(p_tenant bigint, p_subject uuid) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE webhook_deliveries AS d
       SET stage = 'webhook', run_at = now(), attempt = 0, deaths = 0, holder = NULL, finished_at = NULL,
           entered_at = now()
     WHERE d.tenant_id = p_tenant AND d.subject = p_subject AND d.holder IS NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM pg_notify('fe_due', 'webhook');
    RETURN true;
END
$$;

-- One stretch of a recovery: of the next p_limit things that happened in its time, each that its endpoint wants and has not
-- confirmed is due again; what was received and never told is told now. Fenced by the claim. Answers how many were put on
-- their way, and whether that was all; no row: the claim is no longer ours.
CREATE FUNCTION recover_webhooks(p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_limit int)
RETURNS TABLE (found int, is_done boolean) LANGUAGE plpgsql AS $$
DECLARE
    job webhook_recoveries%ROWTYPE;
    endpoint record;
    one record;
    last uuid;
    seen int := 0;
    put int := 0;
BEGIN
    SELECT r.* INTO job
      FROM webhook_recoveries AS r
     WHERE r.tenant_id = p_tenant AND r.subject = p_subject AND r.epoch = p_epoch AND r.holder IS NOT NULL
       FOR UPDATE;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    SELECT e.environment, e.events, e.enabled AND e.removed_at IS NULL AS is_on INTO endpoint
      FROM webhook_endpoints AS e
     WHERE e.tenant_id = p_tenant AND e.endpoint_id = job.endpoint_id;
    last := job.position;
    FOR one IN
        SELECT i.id, v.kind, v.environment, v.created_at, r.received_id, r.environment AS received_environment,
               r.received_at, d.subject AS delivery, d.stage
          FROM (SELECT v.event_id AS id
                  FROM webhook_events AS v
                 WHERE v.tenant_id = p_tenant AND v.event_id > job.position AND v.event_id < uuid_floor(job.until)
                 UNION
                SELECT r.received_id AS id
                  FROM received AS r
                 WHERE r.tenant_id = p_tenant AND r.received_id > job.position
                   AND r.received_id < uuid_floor(job.until) AND NOT job.only_held
                 ORDER BY id
                 LIMIT p_limit) AS i
          LEFT JOIN webhook_events AS v ON v.tenant_id = p_tenant AND v.event_id = i.id
          LEFT JOIN received AS r ON r.tenant_id = p_tenant AND r.received_id = i.id
          LEFT JOIN webhook_deliveries AS d
            ON d.tenant_id = p_tenant
           AND d.subject = webhook_id(coalesce(v.created_at, r.received_at), i.id::text || job.endpoint_id::text)
         ORDER BY i.id
    LOOP
        seen := seen + 1;
        last := one.id;
        CONTINUE WHEN NOT endpoint.is_on OR one.kind = 'test';
        CONTINUE WHEN NOT coalesce(one.kind, 'received_ecf') = ANY (endpoint.events);
        CONTINUE WHEN endpoint.environment
                      <> coalesce(one.environment, one.received_environment, endpoint.environment);
        IF one.delivery IS NOT NULL THEN
            IF one.stage = 'held' OR (one.stage = 'failed' AND NOT job.only_held) THEN
                put := put + retry_webhook(p_tenant, one.delivery)::int;
            END IF;
        ELSIF NOT job.only_held THEN
            IF one.kind IS NULL THEN
                PERFORM tell_webhooks(p_tenant, one.id, one.received_environment, 'received_ecf', one.id::text,
                                      one.received_at, received_event_body(p_tenant, one.id, p_at), job.endpoint_id);
            ELSE
                PERFORM deliver_event(p_tenant, one.id, one.environment, one.kind, one.created_at, job.endpoint_id);
            END IF;
            put := put + 1;
        END IF;
    END LOOP;
    UPDATE webhook_recoveries AS r
       SET position = last, recovered = r.recovered + put, attempt = 0, deaths = 0, holder = NULL, run_at = now(),
           last_error = NULL, stage = CASE WHEN seen < p_limit THEN 'done' ELSE r.stage END,
           finished_at = CASE WHEN seen < p_limit THEN p_at END
     WHERE r.tenant_id = p_tenant AND r.subject = p_subject;
    found := put;
    is_done := seen < p_limit;
    RETURN NEXT;
END
$$;

GRANT EXECUTE ON FUNCTION webhook_id, webhook_moment, webhook_wanted, deliver_event, tell_webhooks
TO fe_front, fe_worker, fe_operator, fe_reception;
GRANT EXECUTE ON FUNCTION uuid_floor TO fe_reception;
GRANT EXECUTE ON FUNCTION tell_outcomes TO fe_front, fe_worker, fe_operator;
GRANT EXECUTE ON FUNCTION received_event_body TO fe_reception, fe_worker;
GRANT EXECUTE ON FUNCTION tell_webhooks_once, book_webhooks_batch, note_endpoints, recover_webhooks TO fe_worker;
GRANT EXECUTE ON FUNCTION retry_webhook TO fe_front, fe_worker, fe_operator;
