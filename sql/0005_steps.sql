-- The moves of a submission, each one function: one round trip, one transaction, tenant first.
--
-- Every booking is fenced: it matches the epoch of the claim it belongs to and answers false when the row has moved on,
-- and then it has written nothing. Moments that decide when work is due come from the database's clock; moments that
-- are told to people (submitted, signed, answered) are the caller's.

-- Append to a submission's story. The hash covers the hash before it, so no row can be changed or taken out unseen.
CREATE FUNCTION record_event(p_tenant bigint, p_submission uuid, p_at timestamptz, p_kind text, p_detail jsonb)
RETURNS void LANGUAGE plpgsql AS $$
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
END
$$;

CREATE FUNCTION event_hash(
    p_previous bytea, p_tenant bigint, p_submission uuid, p_seq int, p_at timestamptz, p_kind text, p_detail jsonb
) RETURNS bytea
LANGUAGE sql STABLE
RETURN sha256(
    coalesce(p_previous, '\x'::bytea) || convert_to(
        concat_ws(E'\n', p_tenant, p_submission, p_seq,
                  to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), p_kind, p_detail::text),
        'UTF8'
    )
);

-- Take a submission in: its row, its bytes, its number and its first due step, or none of them.
--   outcome 'accepted'  a new submission
--           'deduped'   this clientRequestId was used before; the columns tell of the first one
-- Drawing a number raises FE001 (no active sequence), FE002 (expired) or FE003 (used up), and nothing is kept.
-- It names its tenant to the wall (0008) itself, so that the front needs no second statement for it.
CREATE FUNCTION accept_submission(
    p_tenant bigint, p_submission uuid, p_at timestamptz, p_environment text, p_api_key text, p_client_request text,
    p_body_digest bytea, p_format text, p_root text, p_type text, p_e_ncf text, p_issuer text, p_buyer text,
    p_as_user text, p_as_user_id uuid, p_original bytea, p_draw_prefix text
) RETURNS TABLE (outcome text, submission_id uuid, status text, e_ncf text, body_matched boolean)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    number bigint;
    number_text text := p_e_ncf;
BEGIN
    PERFORM set_config('fe.tenant', p_tenant::text, true);
    IF p_client_request IS NOT NULL THEN
        INSERT INTO client_requests (tenant_id, environment, client_request_id, submission_id)
        VALUES (p_tenant, p_environment, p_client_request, p_submission)
        ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
            RETURN QUERY
            SELECT 'deduped'::text, s.submission_id, s.status::text, s.e_ncf, s.body_digest = p_body_digest
              FROM client_requests AS c
              JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = c.submission_id
             WHERE c.tenant_id = p_tenant AND c.environment = p_environment
               AND c.client_request_id = p_client_request;
            RETURN;
        END IF;
    END IF;

    IF p_draw_prefix IS NOT NULL THEN
        UPDATE sequences AS q
           SET current_number = q.current_number + 1, updated_at = p_at
         WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_draw_prefix
           AND q.is_active AND q.current_number <= q.max_number AND (q.expire_at IS NULL OR q.expire_at > p_at)
        RETURNING q.current_number - 1 INTO number;
        IF number IS NULL THEN
            PERFORM refuse_to_draw(p_tenant, p_environment, p_draw_prefix, p_at);
        END IF;
        number_text := p_draw_prefix || lpad(number::text, 10, '0');
    ELSIF p_e_ncf IS NOT NULL AND p_root IN ('ECF', 'RFCE') THEN
        number := substr(p_e_ncf, 4)::bigint;
        UPDATE sequences AS q
           SET current_number = number + 1, updated_at = p_at
         WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = left(p_e_ncf, 3)
           AND number BETWEEN q.current_number AND q.max_number;
    END IF;

    INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, client_request_id, body_digest, format,
                             root, ecf_type, e_ncf, issuer_rnc, buyer_rnc, as_user, as_user_id, submitted_at,
                             updated_at)
    VALUES (p_tenant, p_submission, p_environment, p_api_key, p_client_request, p_body_digest, p_format,
            p_root, p_type, number_text, p_issuer, p_buyer, p_as_user, p_as_user_id, p_at, p_at);
    INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
    VALUES (p_tenant, p_submission, 'original', p_original);
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at, entered_at)
    VALUES (p_tenant, p_submission, 'sign', p_environment, clock_timestamp(), clock_timestamp());
    PERFORM record_event(p_tenant, p_submission, p_at, 'accepted',
                         jsonb_strip_nulls(jsonb_build_object('root', p_root, 'eNCF', number_text,
                                                              'drawn', p_draw_prefix IS NOT NULL,
                                                              'sha256', encode(sha256(p_original), 'hex'))));
    RETURN QUERY SELECT 'accepted'::text, p_submission, 'queued'::text, number_text, true;
END
$$;

CREATE FUNCTION refuse_to_draw(p_tenant bigint, p_environment text, p_prefix text, p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    found record;
BEGIN
    SELECT q.is_active, q.expire_at INTO found
      FROM sequences AS q
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix;
    IF found.is_active IS NULL OR NOT found.is_active THEN
        RAISE EXCEPTION 'no active NCF sequence for %', p_prefix USING ERRCODE = 'FE001';
    ELSIF found.expire_at <= p_at THEN
        RAISE EXCEPTION 'the NCF sequence for % has expired', p_prefix USING ERRCODE = 'FE002';
    END IF;
    RAISE EXCEPTION 'the NCF sequence for % is used up', p_prefix USING ERRCODE = 'FE003';
END
$$;

-- Move a claimed row on to its next stage (and to another host, when p_host names one); false: the claim is not ours.
CREATE FUNCTION step_on(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_stage text, p_host text, p_after interval
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
BEGIN
    UPDATE outbox AS o
       SET stage = p_stage, host = coalesce(p_host, o.host), run_at = moment + p_after, attempt = 0, deaths = 0,
           holder = NULL, entered_at = moment, last_error = NULL
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL;
    RETURN FOUND;
END
$$;

-- Take a claimed row out: its subject waits for nothing any more.
CREATE FUNCTION step_off(p_tenant bigint, p_subject uuid, p_epoch bigint)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM outbox AS o
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL;
    RETURN FOUND;
END
$$;

-- The step did not work out this time: due again after p_after. p_counts false gives the attempt back.
CREATE FUNCTION book_retry(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_after interval, p_counts boolean, p_error text
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    due timestamptz := clock_timestamp() + p_after;
    booked record;
BEGIN
    UPDATE outbox AS o
       SET run_at = due, holder = NULL, deaths = 0, last_error = p_error,
           attempt = CASE WHEN p_counts THEN o.attempt ELSE greatest(o.attempt - 1, 0) END
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL
    RETURNING o.stage, o.attempt INTO booked;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    IF p_counts THEN
        PERFORM record_event(p_tenant, p_subject, p_at, 'retry',
                             jsonb_build_object('stage', booked.stage, 'attempt', booked.attempt, 'error', p_error,
                                                'dueAt', due));
    END IF;
    RETURN true;
END
$$;

-- Out of attempts: an operator's matter. To the client it stays queued, so that nobody issues a second receipt.
CREATE FUNCTION book_dead_letter(p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_error text)
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    dead record;
BEGIN
    DELETE FROM outbox AS o
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL
    RETURNING o.stage, o.environment, o.host, o.attempt, o.epoch, o.deaths, o.entered_at INTO dead;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    INSERT INTO dead_letters (tenant_id, subject, stage, environment, host, attempt, epoch, deaths, entered_at, died_at,
                              error)
    VALUES (p_tenant, p_subject, dead.stage, dead.environment, dead.host, dead.attempt, dead.epoch, dead.deaths,
            dead.entered_at, p_at, p_error);
    UPDATE submissions AS s
       SET updated_at = p_at,
           response = coalesce(s.response, '{}'::jsonb)
                      || jsonb_build_object('status', 'dead_letter', 'error', p_error)
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    PERFORM record_event(p_tenant, p_subject, p_at, 'dead_letter',
                         jsonb_build_object('stage', dead.stage, 'attempt', dead.attempt, 'error', p_error));
    RETURN true;
END
$$;

-- A permanent failure of ours or an outright refusal: `error`, never tried again by itself.
CREATE FUNCTION book_failure(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_response jsonb, p_number_fate text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT step_off(p_tenant, p_subject, p_epoch) THEN
        RETURN false;
    END IF;
    UPDATE submissions AS s
       SET status = 'error', response = p_response, number_fate = p_number_fate, updated_at = p_at
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    UPDATE sends AS d
       SET outcome = 'refused', answered_at = p_at
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject AND d.epoch = p_epoch AND d.outcome = 'intended';
    PERFORM record_event(p_tenant, p_subject, p_at, 'error',
                         jsonb_build_object('error', p_response -> 'error', 'numberFate', p_number_fate));
    RETURN true;
END
$$;

-- The document exists: signed once, for ever. From here on these bytes are what is sent, whatever happens.
CREATE FUNCTION book_signed(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_certificate uuid, p_signed bytea,
    p_sent bytea, p_host text, p_type text, p_issuer text, p_buyer text, p_security_code text, p_qr_code_url text,
    p_ncf_expiration date, p_signed_at timestamptz
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT step_on(p_tenant, p_subject, p_epoch, 'send', p_host, interval '0') THEN
        RETURN false;
    END IF;
    INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
    VALUES (p_tenant, p_subject, 'signed', p_signed);
    IF p_sent IS NOT NULL THEN
        INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
        VALUES (p_tenant, p_subject, 'sent', p_sent);
    END IF;
    UPDATE submissions AS s
       SET certificate_id = p_certificate, ecf_type = p_type, issuer_rnc = p_issuer, buyer_rnc = p_buyer,
           security_code = p_security_code, qr_code_url = p_qr_code_url, ncf_expiration = p_ncf_expiration,
           signed_at = p_signed_at, updated_at = p_at
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    PERFORM record_event(p_tenant, p_subject, p_at, 'signed',
                         jsonb_strip_nulls(jsonb_build_object(
                             'certificateId', p_certificate, 'securityCode', p_security_code,
                             'sha256', encode(sha256(p_signed), 'hex'),
                             'summarySha256', encode(sha256(p_sent), 'hex'))));
    RETURN true;
END
$$;

-- Say, durably, that these bytes are about to go out; nothing may be sent unless the answer is 'go'.
--   'lost'      the claim is no longer ours
--   'in doubt'  an earlier send was never resolved (its worker died): the authority must be asked first
CREATE FUNCTION intend_to_send(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_lease interval, p_digest bytea
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    lease_end timestamptz := clock_timestamp() + p_lease;
BEGIN
    UPDATE outbox AS o
       SET run_at = lease_end
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL
       AND o.stage = 'send';
    IF NOT FOUND THEN
        RETURN 'lost';
    END IF;
    IF EXISTS (SELECT 1 FROM sends AS x
                WHERE x.tenant_id = p_tenant AND x.submission_id = p_subject AND x.epoch <> p_epoch
                  AND x.outcome IN ('intended', 'unknown')) THEN
        RETURN 'in doubt';
    END IF;
    -- The same epoch may say so twice: a session that had expired is renewed, and the document goes out on the new one.
    INSERT INTO sends (tenant_id, submission_id, epoch, digest, intended_at)
    VALUES (p_tenant, p_subject, p_epoch, p_digest, p_at)
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM record_event(p_tenant, p_subject, p_at, 'sending',
                             jsonb_build_object('epoch', p_epoch, 'sha256', encode(p_digest, 'hex')));
    END IF;
    RETURN 'go';
END
$$;

-- How the send of this epoch ended. Also used by the reconciler, for the sends that had been in doubt.
CREATE FUNCTION close_sends(p_tenant bigint, p_subject uuid, p_at timestamptz, p_outcome text, p_track_id text)
RETURNS void LANGUAGE sql AS $$
    UPDATE sends AS d
       SET outcome = p_outcome, answered_at = p_at, track_id = p_track_id
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject AND d.outcome IN ('intended', 'unknown')
$$;

-- Nothing went out after all: due again, and the intent is closed as not sent.
CREATE FUNCTION book_not_sent(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_after interval, p_counts boolean, p_error text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT book_retry(p_tenant, p_subject, p_epoch, p_at, p_after, p_counts, p_error) THEN
        RETURN false;
    END IF;
    UPDATE sends AS d
       SET outcome = 'not_sent', answered_at = p_at
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject AND d.epoch = p_epoch AND d.outcome = 'intended';
    RETURN true;
END
$$;

-- The authority has it under this trackId; its verdict is still to come.
CREATE FUNCTION book_received(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_track_id text, p_after interval, p_reply jsonb
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT step_on(p_tenant, p_subject, p_epoch, 'track', NULL, p_after) THEN
        RETURN false;
    END IF;
    PERFORM close_sends(p_tenant, p_subject, p_at, 'received', p_track_id);
    UPDATE submissions AS s
       SET track_id = p_track_id, updated_at = p_at, first_answer_at = coalesce(s.first_answer_at, p_at)
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    PERFORM record_event(p_tenant, p_subject, p_at, 'received',
                         jsonb_build_object('trackId', p_track_id, 'reply', p_reply));
    RETURN true;
END
$$;

-- Nobody knows whether the authority has it: it will be asked before anything is sent again.
CREATE FUNCTION book_doubt(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_after interval, p_error text
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    due timestamptz := moment + p_after;
BEGIN
    UPDATE outbox AS o
       SET stage = 'reconcile', run_at = due, holder = NULL, deaths = 0, last_error = p_error,
           attempt = CASE WHEN o.stage = 'reconcile' THEN o.attempt ELSE 0 END,
           entered_at = CASE WHEN o.stage = 'reconcile' THEN o.entered_at ELSE moment END
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE sends AS d
       SET outcome = 'unknown'
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject AND d.outcome = 'intended';
    UPDATE submissions AS s
       SET number_fate = 'unknown', updated_at = p_at
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    PERFORM record_event(p_tenant, p_subject, p_at, 'outcome_unknown', jsonb_build_object('error', p_error));
    RETURN true;
END
$$;

-- Asked, and it is not known there: the same bytes may go out again.
CREATE FUNCTION book_resend(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_after interval, p_reason text
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    due timestamptz := moment + p_after;
    sends_so_far int;
BEGIN
    -- Being in doubt does not earn a document eight fresh tries: it goes on counting where its sends had got to.
    SELECT count(*) INTO sends_so_far
      FROM sends AS d
      JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = p_subject
     WHERE d.tenant_id = p_tenant AND d.submission_id = p_subject
       AND d.epoch > s.replayed_epoch;
    UPDATE outbox AS o
       SET stage = 'send', run_at = due, holder = NULL, deaths = 0, attempt = sends_so_far, entered_at = moment
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    PERFORM close_sends(p_tenant, p_subject, p_at, 'not_known', NULL);
    PERFORM record_event(p_tenant, p_subject, p_at, 'not_known_there', jsonb_build_object('reason', p_reason));
    RETURN true;
END
$$;

-- Still in process over there: ask again later. This is waiting, not failing: it counts no attempt.
CREATE FUNCTION book_processing(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_after interval, p_response jsonb
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    due timestamptz := clock_timestamp() + p_after;
BEGIN
    UPDATE outbox AS o
       SET run_at = due, holder = NULL, deaths = 0
     WHERE o.tenant_id = p_tenant AND o.subject = p_subject AND o.epoch = p_epoch AND o.holder IS NOT NULL;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE submissions AS s
       SET status = 'En Proceso', response = p_response, updated_at = p_at
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject AND s.status IN ('queued', 'En Proceso')
       AND s.response IS DISTINCT FROM p_response;
    IF FOUND THEN
        PERFORM record_event(p_tenant, p_subject, p_at, 'processing', p_response);
    END IF;
    RETURN true;
END
$$;

-- The authority's last word.
CREATE FUNCTION book_verdict(
    p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_status text, p_track_id text,
    p_response jsonb, p_number_fate text
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF NOT step_off(p_tenant, p_subject, p_epoch) THEN
        RETURN false;
    END IF;
    PERFORM close_sends(p_tenant, p_subject, p_at, 'received', p_track_id);
    UPDATE submissions AS s
       SET status = p_status, track_id = coalesce(p_track_id, s.track_id), response = p_response,
           number_fate = p_number_fate, updated_at = p_at, verdict_at = p_at,
           first_answer_at = coalesce(s.first_answer_at, p_at)
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    PERFORM record_event(p_tenant, p_subject, p_at, 'verdict',
                         jsonb_build_object('status', p_status, 'response', p_response, 'numberFate', p_number_fate));
    RETURN true;
END
$$;
