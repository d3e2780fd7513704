-- What goes from taxpayer to taxpayer: an accepted e-CF to its receiver, and a buyer's word on it to its issuer.
--
-- Both are the bytes of a submission that the authority has accepted, handed on to an address that the authority's
-- directory gives. Whether that works out changes nothing of the submission, so it has a story of its own.

ALTER TABLE tenants ADD COLUMN sends_to_receivers boolean NOT NULL DEFAULT false;

GRANT UPDATE (sends_to_receivers) ON tenants TO fe_operator;

-- What a tenant decided about a document that it received. Appended to: a further round begins only when the ACECF of the
-- one before was refused or could not be made, so two that decide at once meet at the key.
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

-- What is handed on, and how that stands; one for each submission. `answer` is the signed ARECF, or what else the last
-- answer was, for evidence.
CREATE TABLE counterparty_deliveries (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL,
    environment environment NOT NULL,
    -- Whose address is looked up.
    counterparty_rnc text NOT NULL,
    state text COLLATE "C" NOT NULL DEFAULT 'pending',
    reason text,
    url text,
    answer bytea,
    since timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
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

DO $$
DECLARE
    walled text;
BEGIN
    FOREACH walled IN ARRAY ARRAY['approvals', 'counterparty_deliveries', 'counterparty_sends', 'counterparty_outbox'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', walled);
        EXECUTE format('CREATE POLICY every_tenant ON %I TO fe_worker, fe_operator USING (true)', walled);
        EXECUTE format('CREATE POLICY every_tenant_read ON %I FOR SELECT TO fe_readonly USING (true)', walled);
        EXECUTE format('CREATE POLICY own_tenant ON %I TO fe_front
                        USING (tenant_id = nullif(current_setting(''fe.tenant'', true), '''')::bigint)', walled);
    END LOOP;
END
$$;

GRANT SELECT, INSERT ON approvals TO fe_front;
GRANT SELECT ON counterparty_deliveries TO fe_front;
GRANT SELECT ON approvals TO fe_worker, fe_operator, fe_readonly;
GRANT SELECT, INSERT, UPDATE ON counterparty_deliveries, counterparty_sends TO fe_worker;
GRANT SELECT, INSERT, UPDATE, DELETE ON counterparty_outbox TO fe_worker;
GRANT SELECT, UPDATE ON counterparty_deliveries TO fe_operator;
GRANT SELECT, INSERT ON counterparty_outbox TO fe_operator;
GRANT SELECT ON counterparty_sends TO fe_operator;
GRANT SELECT ON counterparty_deliveries, counterparty_sends, counterparty_outbox TO fe_readonly;

-- Decide about a received document: make the round, and take the ACECF in as accept_submission does, in one transaction.
--   outcome 'accepted'   the submission is new
--           'again'      this was decided before, by the submission that is told of
--           'contrary'   the opposite was decided before, and that may still be accepted or is
--           'elsewhere'  a submission about it that did not come this way is not at its end: what it says is not known
--           'taken'      the clientRequestId is another submission's
-- A round whose submission ended without being accepted (rejected, error) is no decision: the next one is open. Two at
-- once: the second waits at the key for the first's commit, is raised as a serialisation failure, and is to be called
-- again.
CREATE FUNCTION decide_received(
    p_tenant bigint, p_received uuid, p_approved boolean, p_reason text, p_submission uuid, p_at timestamptz,
    p_environment text, p_api_key text, p_client_request text, p_body_digest bytea, p_format text, p_e_ncf text,
    p_issuer text, p_buyer text, p_as_user text, p_as_user_id uuid, p_original bytea
) RETURNS TABLE (outcome text, submission_id uuid, status text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    before record;
    rounds int := 0;
BEGIN
    PERFORM set_config('fe.tenant', p_tenant::text, true);
    IF p_client_request IS NOT NULL THEN
        SELECT c.submission_id, a.approved, s.status INTO before
          FROM client_requests AS c
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = c.submission_id
          LEFT JOIN approvals AS a
            ON a.tenant_id = p_tenant AND a.submission_id = c.submission_id AND a.received_id = p_received
         WHERE c.tenant_id = p_tenant AND c.environment = p_environment AND c.client_request_id = p_client_request;
        IF FOUND THEN
            RETURN QUERY SELECT CASE WHEN before.approved IS NULL THEN 'taken'
                                     WHEN before.approved = p_approved THEN 'again'
                                     ELSE 'contrary' END,
                                before.submission_id, before.status::text;
            RETURN;
        END IF;
    END IF;

    SELECT a.round, a.submission_id, a.approved, s.status INTO before
      FROM approvals AS a
      JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = a.submission_id
     WHERE a.tenant_id = p_tenant AND a.received_id = p_received
     ORDER BY a.round DESC
     LIMIT 1;
    IF FOUND THEN
        IF before.status NOT IN ('Rechazado', 'error') THEN
            RETURN QUERY SELECT CASE WHEN before.approved = p_approved THEN 'again' ELSE 'contrary' END,
                                before.submission_id, before.status::text;
            RETURN;
        END IF;
        rounds := before.round;
    END IF;

    -- What was handed in through POST /invoices. Accepted, its bytes say what it says.
    SELECT s.submission_id, s.status,
           CASE WHEN s.status IN ('Aceptado', 'Aceptado Condicional')
                THEN (SELECT position('<Estado>1</Estado>'::bytea IN d.content) > 0
                        FROM submission_documents AS d
                       WHERE d.tenant_id = p_tenant AND d.submission_id = s.submission_id AND d.kind = 'signed')
           END AS approved INTO before
      FROM submissions AS s
     WHERE s.tenant_id = p_tenant AND s.e_ncf = p_e_ncf AND s.root = 'ACECF' AND s.environment = p_environment
       AND s.issuer_rnc = p_issuer AND s.status NOT IN ('Rechazado', 'error')
     ORDER BY s.submission_id DESC
     LIMIT 1;
    IF FOUND THEN
        RETURN QUERY SELECT CASE WHEN before.approved IS NULL THEN 'elsewhere'
                                 WHEN before.approved = p_approved THEN 'again'
                                 ELSE 'contrary' END,
                            before.submission_id, before.status::text;
        RETURN;
    END IF;

    INSERT INTO approvals (tenant_id, received_id, round, submission_id, approved, reason, decided_at)
    VALUES (p_tenant, p_received, rounds + 1, p_submission, p_approved, p_reason, p_at)
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'decided at the same time' USING ERRCODE = 'serialization_failure';
    END IF;
    SELECT a.outcome INTO before
      FROM accept_submission(p_tenant, p_submission, p_at, p_environment, p_api_key, p_client_request, p_body_digest,
                             p_format, 'ACECF', NULL, p_e_ncf, p_issuer, p_buyer, p_as_user, p_as_user_id, p_original,
                             NULL) AS a;
    IF before.outcome <> 'accepted' THEN
        RAISE EXCEPTION 'a clientRequestId was used at the same time' USING ERRCODE = 'serialization_failure';
    END IF;
    RETURN QUERY SELECT 'accepted'::text, p_submission, 'queued'::text;
END
$$;

GRANT EXECUTE ON FUNCTION decide_received TO fe_front;

-- Begin to hand on what was just accepted, as far as it is to be: in the transaction of the verdict, so that neither is
-- without the other. `p_subjects` has NULL where a row was not ours.
CREATE FUNCTION begin_deliveries(p_tenants bigint[], p_subjects uuid[], p_statuses text[], p_at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO counterparty_deliveries (tenant_id, submission_id, kind, environment, counterparty_rnc, since, changed_at)
    SELECT s.tenant_id, s.submission_id, CASE WHEN s.root = 'ACECF' THEN 'approval' ELSE 'receipt' END, s.environment,
           CASE WHEN s.root = 'ACECF' THEN s.issuer_rnc ELSE s.buyer_rnc END, p_at, p_at
      FROM unnest(p_tenants, p_subjects, p_statuses) AS b (tenant_id, subject, status)
      JOIN submissions AS s ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
      JOIN tenants AS t ON t.tenant_id = b.tenant_id
     WHERE b.status IN ('Aceptado', 'Aceptado Condicional')
       AND ((t.sends_to_receivers AND s.root = 'ECF' AND s.ecf_type IN ('31', '33', '34', '44')
             AND s.buyer_rnc IS NOT NULL)
            OR (s.root = 'ACECF' AND EXISTS (
                    SELECT 1
                      FROM approvals AS a
                     WHERE a.tenant_id = s.tenant_id AND a.submission_id = s.submission_id)))
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        INSERT INTO counterparty_outbox (tenant_id, subject, stage, environment, host, run_at)
        SELECT d.tenant_id, d.submission_id, 'address', d.environment, 'ecf', clock_timestamp()
          FROM unnest(p_tenants, p_subjects) AS b (tenant_id, subject)
          JOIN counterparty_deliveries AS d ON d.tenant_id = b.tenant_id AND d.submission_id = b.subject
        ON CONFLICT DO NOTHING;
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION begin_deliveries TO fe_worker;

-- It is called where verdicts are booked (0023).

-- What came of a try, fenced by the claim; false where it is no longer ours, and then nothing is written. The row is due
-- again after `p_after`, in another stage with its attempts afresh, or in the same with the attempt given back where it
-- does not count.
CREATE FUNCTION book_delivery_wait(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_stage text, p_host text, p_url text,
    p_after interval, p_counts boolean, p_error text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE counterparty_outbox AS o
       SET attempt = CASE WHEN o.stage <> p_stage THEN 0 WHEN p_counts THEN o.attempt ELSE o.attempt - 1 END,
           entered_at = CASE WHEN o.stage <> p_stage THEN clock_timestamp() ELSE o.entered_at END,
           stage = p_stage, host = coalesce(p_host, o.host), run_at = clock_timestamp() + p_after, holder = NULL,
           deaths = 0, last_error = p_error
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE counterparty_deliveries AS d
       SET reason = CASE WHEN p_counts THEN p_error ELSE d.reason END, url = coalesce(p_url, d.url), changed_at = p_at
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject AND (p_counts OR p_url IS NOT NULL);
    RETURN true;
END
$$;

-- And where there is no further try.
CREATE FUNCTION book_delivery_end(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_state text, p_reason text, p_answer bytea,
    p_status int
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM counterparty_outbox AS o
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF p_status IS NOT NULL THEN
        UPDATE counterparty_sends AS s
           SET outcome = 'answered', status = p_status, answered_at = p_at
         WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject AND s.epoch = p_epoch;
    END IF;
    UPDATE counterparty_deliveries AS d
       SET state = p_state, reason = p_reason, answer = coalesce(p_answer, d.answer), changed_at = p_at
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject;
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION book_delivery_wait, book_delivery_end TO fe_worker;

-- An operator sets one going again that came to no good end; false when it is none of those.
CREATE FUNCTION replay_delivery(p_tenant bigint, p_subject uuid, p_at timestamptz) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE counterparty_deliveries AS d
       SET state = 'pending', reason = NULL, changed_at = p_at
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject AND d.state IN ('gave_up', 'refused', 'unlisted');
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    -- The epoch goes on where it stood: each send has its own.
    INSERT INTO counterparty_outbox (tenant_id, subject, stage, environment, host, run_at, epoch)
    SELECT d.tenant_id, d.submission_id, 'address', d.environment, 'ecf', clock_timestamp(),
           coalesce((SELECT max(s.epoch)
                       FROM counterparty_sends AS s
                      WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject), 0)
      FROM counterparty_deliveries AS d
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject;
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION replay_delivery TO fe_operator;
