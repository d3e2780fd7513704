-- The moves of a submission, many at once: each function takes a batch and is one statement, one transaction, one commit.
--
-- Arrays of one length, tenant first, then subject and epoch: the claims; what else a move needs beside them. Every claim
-- is fenced for itself: where the row has moved on nothing is written for it, and what is answered has NULL (or 'lost') in
-- its place; `mine` below are the subjects whose claims held, with NULL for the others, so that they join with nothing. The
-- caller sorts a batch by tenant and subject: rows are locked in that order, and two batches never wait for each other in
-- a ring. A constraint that one row breaks fails the whole batch, which is then tried in halves (fe/queue/batcher.py).
-- Moments that decide when work is due are the database's; p_at is the caller's, for people to read.
--
-- The functions for one row each (0005, 0012) stay for the release before.

-- Append one event to each story: the hash of each covers the hash before it.
CREATE FUNCTION record_event_batch(
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
END
$$;

-- Move claimed rows on to their next stage; answers `mine`.
CREATE FUNCTION advance_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_stage text, p_afters interval[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
BEGIN
    WITH moved AS (
        UPDATE outbox AS o
           SET stage = p_stage, run_at = moment + b.after, attempt = 0, deaths = 0, holder = NULL, entered_at = moment,
               last_error = NULL
          FROM unnest(p_tenants, p_subjects, p_epochs, p_afters) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, after, n)
         WHERE o.tenant_id = b.tenant_id AND o.subject = b.subject AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN moved.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO mine
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN moved ON moved.n = b.n;
    RETURN mine;
END
$$;

-- Take claimed rows out: their subjects wait for nothing any more; answers `mine`.
CREATE FUNCTION complete_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[])
RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    mine uuid[];
BEGIN
    WITH gone AS (
        DELETE FROM outbox AS o
         USING unnest(p_tenants, p_subjects, p_epochs) WITH ORDINALITY AS b (tenant_id, subject, epoch, n)
         WHERE o.tenant_id = b.tenant_id AND o.subject = b.subject AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN gone.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO mine
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN gone ON gone.n = b.n;
    RETURN mine;
END
$$;

-- How the open sends of these submissions ended.
CREATE FUNCTION close_sends_batch(
    p_tenants bigint[], p_subjects uuid[], p_at timestamptz, p_outcome text, p_track_ids text[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sends AS d
       SET outcome = p_outcome, answered_at = p_at, track_id = b.track_id
      FROM unnest(p_tenants, p_subjects, p_track_ids) AS b (tenant_id, subject, track_id)
     WHERE d.tenant_id = b.tenant_id AND d.submission_id = b.subject AND d.outcome IN ('intended', 'unknown');
END
$$;

-- How the sends of these very claims ended, where they were still no more than intended.
CREATE FUNCTION close_intents_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_outcome text
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sends AS d
       SET outcome = p_outcome, answered_at = p_at
      FROM unnest(p_tenants, p_subjects, p_epochs) AS b (tenant_id, subject, epoch)
     WHERE d.tenant_id = b.tenant_id AND d.submission_id = b.subject AND d.epoch = b.epoch AND d.outcome = 'intended';
END
$$;

-- They did not work out this time: due again after p_afters. Where it counts, the claim's send, if one was intended, has
-- failed for certain and reached nobody; where it does not, the attempt is given back.
CREATE FUNCTION book_retry_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[], p_counts boolean[],
    p_errors text[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
    failed uuid[];
    details jsonb[];
BEGIN
    WITH booked AS (
        UPDATE outbox AS o
           SET run_at = moment + b.after, holder = NULL, deaths = 0, last_error = b.error,
               attempt = CASE WHEN b.counts THEN o.attempt ELSE greatest(o.attempt - 1, 0) END
          FROM unnest(p_tenants, p_subjects, p_epochs, p_afters, p_counts, p_errors) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, after, counts, error, n)
         WHERE o.tenant_id = b.tenant_id AND o.subject = b.subject AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n, b.counts, jsonb_build_object('stage', o.stage, 'attempt', o.attempt, 'error', b.error,
                                                    'dueAt', o.run_at) AS detail
    )
    SELECT array_agg(CASE WHEN booked.n IS NOT NULL THEN b.subject END ORDER BY b.n),
           array_agg(CASE WHEN booked.counts THEN b.subject END ORDER BY b.n),
           array_agg(booked.detail ORDER BY b.n)
      INTO mine, failed, details
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN booked ON booked.n = b.n;
    PERFORM close_intents_batch(p_tenants, failed, p_epochs, p_at, 'not_sent');
    PERFORM record_event_batch(p_tenants, failed, p_at, 'retry', details);
    RETURN mine;
END
$$;

-- Out of attempts: an operator's matter. To their clients they stay queued, so that nobody issues a second receipt.
CREATE FUNCTION book_dead_letter_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_errors text[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    mine uuid[];
    details jsonb[];
BEGIN
    WITH dead AS (
        DELETE FROM outbox AS o
         USING unnest(p_tenants, p_subjects, p_epochs, p_errors) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, error, n)
         WHERE o.tenant_id = b.tenant_id AND o.subject = b.subject AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n, b.error, o.tenant_id, o.subject, o.stage, o.environment, o.host, o.attempt, o.epoch, o.deaths,
                  o.entered_at
    ), kept AS (
        INSERT INTO dead_letters (tenant_id, subject, stage, environment, host, attempt, epoch, deaths, entered_at,
                                  died_at, error)
        SELECT dead.tenant_id, dead.subject, dead.stage, dead.environment, dead.host, dead.attempt, dead.epoch,
               dead.deaths, dead.entered_at, p_at, dead.error
          FROM dead
    )
    SELECT array_agg(dead.subject ORDER BY b.n),
           array_agg(jsonb_build_object('stage', dead.stage, 'attempt', dead.attempt, 'error', dead.error) ORDER BY b.n)
      INTO mine, details
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN dead ON dead.n = b.n;
    UPDATE submissions AS s
       SET updated_at = p_at,
           response = coalesce(s.response, '{}'::jsonb)
                      || jsonb_build_object('status', 'dead_letter', 'error', b.error)
      FROM unnest(p_tenants, mine, p_errors) AS b (tenant_id, subject, error)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject;
    PERFORM record_event_batch(p_tenants, mine, p_at, 'dead_letter', details);
    RETURN mine;
END
$$;

-- Permanent failures of ours or outright refusals: `error`, never tried again by themselves.
CREATE FUNCTION book_failure_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_responses jsonb[],
    p_number_fates text[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    mine uuid[] := complete_batch(p_tenants, p_subjects, p_epochs);
BEGIN
    UPDATE submissions AS s
       SET status = 'error', response = b.response, number_fate = b.number_fate, updated_at = p_at
      FROM unnest(p_tenants, mine, p_responses, p_number_fates) AS b (tenant_id, subject, response, number_fate)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject;
    PERFORM close_intents_batch(p_tenants, mine, p_epochs, p_at, 'refused');
    PERFORM record_event_batch(p_tenants, mine, p_at, 'error', ARRAY(
        SELECT jsonb_build_object('error', b.response -> 'error', 'numberFate', b.number_fate)
          FROM unnest(p_responses, p_number_fates) WITH ORDINALITY AS b (response, number_fate, n)
         ORDER BY b.n));
    RETURN mine;
END
$$;

-- Say, durably, that these bytes are about to go out. Nothing may be sent unless its answer is 'go':
--   'lost'      the claim is no longer ours
--   'in doubt'  an earlier send was never resolved (its worker died): the authority must be asked first
-- The same claim may say so twice (its session with the authority was renewed, or nobody knows whether the first time was
-- committed): still one send. The lease is renewed where more than a twentieth of it is over: a try ends well before its
-- lease does (fe/actors/stages.py), and a row that is not written leaves no dead version.
CREATE FUNCTION intend_to_send_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_leases interval[], p_digests bytea[]
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    answers text[];
    going uuid[];
BEGIN
    -- Locked, so that nobody claims it from here on; written only where too little of its lease is left.
    WITH held AS (
        SELECT b.n, b.tenant_id, b.subject, b.lease, o.run_at
          FROM unnest(p_tenants, p_subjects, p_epochs, p_leases) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, lease, n)
         CROSS JOIN LATERAL (SELECT w.run_at
                               FROM outbox AS w
                              WHERE w.tenant_id = b.tenant_id AND w.subject = b.subject AND w.epoch = b.epoch
                                AND w.holder IS NOT NULL AND w.stage = 'send'
                                FOR UPDATE) AS o
    ), renewed AS (
        UPDATE outbox AS o
           SET run_at = moment + h.lease
          FROM held AS h
         WHERE o.tenant_id = h.tenant_id AND o.subject = h.subject AND h.run_at < moment + h.lease * 0.95
    )
    SELECT array_agg(CASE
                     WHEN held.n IS NULL THEN 'lost'
                     WHEN EXISTS (SELECT 1
                                    FROM sends AS x
                                   WHERE x.tenant_id = b.tenant_id AND x.submission_id = b.subject
                                     AND x.epoch <> b.epoch AND x.outcome IN ('intended', 'unknown')) THEN 'in doubt'
                     ELSE 'go'
                     END ORDER BY b.n)
      INTO answers
      FROM unnest(p_tenants, p_subjects, p_epochs) WITH ORDINALITY AS b (tenant_id, subject, epoch, n)
      LEFT JOIN held ON held.n = b.n;
    going := ARRAY(SELECT CASE WHEN b.answer = 'go' THEN b.subject END
                     FROM unnest(p_subjects, answers) WITH ORDINALITY AS b (subject, answer, n)
                    ORDER BY b.n);
    PERFORM announce_batch(p_tenants, going, p_epochs, p_at, p_digests);
    RETURN answers;
END
$$;

-- Part of the one above and of the one below: the sends that are about to be made, and that they are.
CREATE FUNCTION announce_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_digests bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    announced uuid[];
BEGIN
    WITH new AS (
        INSERT INTO sends (tenant_id, submission_id, epoch, digest, intended_at)
        SELECT b.tenant_id, b.subject, b.epoch, b.digest, p_at
          FROM unnest(p_tenants, p_subjects, p_epochs, p_digests) AS b (tenant_id, subject, epoch, digest)
         WHERE b.subject IS NOT NULL
        ON CONFLICT DO NOTHING
        RETURNING tenant_id, submission_id
    )
    SELECT array_agg(new.submission_id ORDER BY b.n) INTO announced
      FROM unnest(p_tenants, p_subjects) WITH ORDINALITY AS b (tenant_id, subject, n)
      LEFT JOIN new ON new.tenant_id = b.tenant_id AND new.submission_id = b.subject;
    PERFORM record_event_batch(p_tenants, announced, p_at, 'sending', ARRAY(
        SELECT jsonb_build_object('epoch', b.epoch, 'sha256', encode(b.digest, 'hex'))
          FROM unnest(p_epochs, p_digests) WITH ORDINALITY AS b (epoch, digest, n)
         ORDER BY b.n));
END
$$;

-- The authority has them under these trackIds; their verdicts are still to come.
CREATE FUNCTION book_received_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_track_ids text[],
    p_afters interval[], p_replies jsonb[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    mine uuid[] := advance_batch(p_tenants, p_subjects, p_epochs, 'track', p_afters);
BEGIN
    PERFORM close_sends_batch(p_tenants, mine, p_at, 'received', p_track_ids);
    UPDATE submissions AS s
       SET track_id = b.track_id, updated_at = p_at, first_answer_at = coalesce(s.first_answer_at, p_at)
      FROM unnest(p_tenants, mine, p_track_ids) AS b (tenant_id, subject, track_id)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject;
    PERFORM record_event_batch(p_tenants, mine, p_at, 'received', ARRAY(
        SELECT jsonb_build_object('trackId', b.track_id, 'reply', b.reply)
          FROM unnest(p_track_ids, p_replies) WITH ORDINALITY AS b (track_id, reply, n)
         ORDER BY b.n));
    RETURN mine;
END
$$;

-- Nobody knows whether the authority has them: it will be asked before anything is sent again.
CREATE FUNCTION book_doubt_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[], p_errors text[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
BEGIN
    WITH booked AS (
        UPDATE outbox AS o
           SET stage = 'reconcile', run_at = moment + b.after, holder = NULL, deaths = 0, last_error = b.error,
               attempt = CASE WHEN o.stage = 'reconcile' THEN o.attempt ELSE 0 END,
               entered_at = CASE WHEN o.stage = 'reconcile' THEN o.entered_at ELSE moment END
          FROM unnest(p_tenants, p_subjects, p_epochs, p_afters, p_errors) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, after, error, n)
         WHERE o.tenant_id = b.tenant_id AND o.subject = b.subject AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN booked.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO mine
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN booked ON booked.n = b.n;
    UPDATE sends AS d
       SET outcome = 'unknown'
      FROM unnest(p_tenants, mine) AS b (tenant_id, subject)
     WHERE d.tenant_id = b.tenant_id AND d.submission_id = b.subject AND d.outcome = 'intended';
    UPDATE submissions AS s
       SET number_fate = 'unknown', updated_at = p_at
      FROM unnest(p_tenants, mine) AS b (tenant_id, subject)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject;
    PERFORM record_event_batch(p_tenants, mine, p_at, 'outcome_unknown', ARRAY(
        SELECT jsonb_build_object('error', b.error)
          FROM unnest(p_errors) WITH ORDINALITY AS b (error, n)
         ORDER BY b.n));
    RETURN mine;
END
$$;

-- Asked, and they are not known there: the same bytes may go out again. Being in doubt does not earn a document eight
-- fresh tries: it goes on counting where its sends had got to.
CREATE FUNCTION book_resend_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[], p_reasons text[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
BEGIN
    WITH booked AS (
        UPDATE outbox AS o
           SET stage = 'send', run_at = moment + b.after, holder = NULL, deaths = 0, entered_at = moment,
               attempt = (SELECT count(*)
                            FROM sends AS d
                            JOIN submissions AS s ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
                           WHERE d.tenant_id = b.tenant_id AND d.submission_id = b.subject
                             AND d.epoch > s.replayed_epoch)
          FROM unnest(p_tenants, p_subjects, p_epochs, p_afters) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, after, n)
         WHERE o.tenant_id = b.tenant_id AND o.subject = b.subject AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN booked.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO mine
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN booked ON booked.n = b.n;
    PERFORM close_sends_batch(p_tenants, mine, p_at, 'not_known', NULL);
    PERFORM record_event_batch(p_tenants, mine, p_at, 'not_known_there', ARRAY(
        SELECT jsonb_build_object('reason', b.reason)
          FROM unnest(p_reasons) WITH ORDINALITY AS b (reason, n)
         ORDER BY b.n));
    RETURN mine;
END
$$;

-- Still in process over there: ask again later. This is waiting, not failing: it counts no attempt.
CREATE FUNCTION book_processing_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[], p_responses jsonb[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
    changed uuid[];
BEGIN
    WITH booked AS (
        UPDATE outbox AS o
           SET run_at = moment + b.after, holder = NULL, deaths = 0
          FROM unnest(p_tenants, p_subjects, p_epochs, p_afters) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, after, n)
         WHERE o.tenant_id = b.tenant_id AND o.subject = b.subject AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN booked.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO mine
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN booked ON booked.n = b.n;
    WITH told AS (
        UPDATE submissions AS s
           SET status = 'En Proceso', response = b.response, updated_at = p_at
          FROM unnest(p_tenants, mine, p_responses) WITH ORDINALITY AS b (tenant_id, subject, response, n)
         WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject AND s.status IN ('queued', 'En Proceso')
           AND s.response IS DISTINCT FROM b.response
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN told.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO changed
      FROM unnest(mine) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN told ON told.n = b.n;
    PERFORM record_event_batch(p_tenants, changed, p_at, 'processing', p_responses);
    RETURN mine;
END
$$;

-- The authority's last word.
CREATE FUNCTION book_verdict_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_statuses text[], p_track_ids text[],
    p_responses jsonb[], p_number_fates text[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    mine uuid[] := complete_batch(p_tenants, p_subjects, p_epochs);
BEGIN
    PERFORM close_sends_batch(p_tenants, mine, p_at, 'received', p_track_ids);
    UPDATE submissions AS s
       SET status = b.status, track_id = coalesce(b.track_id, s.track_id), response = b.response,
           number_fate = b.number_fate, updated_at = p_at, verdict_at = p_at,
           first_answer_at = coalesce(s.first_answer_at, p_at)
      FROM unnest(p_tenants, mine, p_statuses, p_track_ids, p_responses, p_number_fates)
                   AS b (tenant_id, subject, status, track_id, response, number_fate)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject;
    PERFORM record_event_batch(p_tenants, mine, p_at, 'verdict', ARRAY(
        SELECT jsonb_build_object('status', b.status, 'response', b.response, 'numberFate', b.number_fate)
          FROM unnest(p_statuses, p_responses, p_number_fates) WITH ORDINALITY AS b (status, response, number_fate, n)
         ORDER BY b.n));
    RETURN mine;
END
$$;

-- Who holds these numbers: of each the subject it was asked for, if nobody else had it, or if the one who had it is done
-- with it. No number (NULL) has no holder. Of two that ask for one number in one batch the first gets it.
CREATE FUNCTION hold_number_batch(
    p_tenants bigint[], p_environments text[], p_e_ncfs text[], p_issuers text[], p_subjects uuid[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    holders uuid[];
BEGIN
    -- In the order of the key: whoever waits for a number here holds none that is waited for there.
    INSERT INTO held_numbers (tenant_id, environment, e_ncf, issuer_rnc, submission_id)
    SELECT b.tenant_id, b.environment, b.e_ncf, b.issuer_rnc, b.subject
      FROM unnest(p_tenants, p_environments, p_e_ncfs, p_issuers, p_subjects)
                   AS b (tenant_id, environment, e_ncf, issuer_rnc, subject)
     WHERE b.e_ncf IS NOT NULL AND b.subject IS NOT NULL
     ORDER BY b.tenant_id, b.environment, b.e_ncf, b.issuer_rnc, b.subject
    ON CONFLICT DO NOTHING;
    holders := holders_of_batch(p_tenants, p_environments, p_e_ncfs, p_issuers);
    IF NOT EXISTS (SELECT 1
                     FROM unnest(p_subjects, holders) AS b (subject, holder)
                    WHERE b.subject <> b.holder) THEN
        RETURN holders;
    END IF;
    PERFORM 1
       FROM unnest(p_tenants, p_environments, p_e_ncfs, p_issuers, p_subjects)
                    AS b (tenant_id, environment, e_ncf, issuer_rnc, subject)
       JOIN held_numbers AS n
         ON n.tenant_id = b.tenant_id AND n.environment = b.environment AND n.e_ncf = b.e_ncf
        AND n.issuer_rnc = b.issuer_rnc AND n.submission_id <> b.subject
      ORDER BY n.tenant_id, n.environment, n.e_ncf, n.issuer_rnc
        FOR UPDATE OF n;
    UPDATE held_numbers AS n
       SET submission_id = b.subject
      FROM (SELECT DISTINCT ON (a.tenant_id, a.environment, a.e_ncf, a.issuer_rnc)
                   a.tenant_id, a.environment, a.e_ncf, a.issuer_rnc, a.subject
              FROM unnest(p_tenants, p_environments, p_e_ncfs, p_issuers, p_subjects)
                           AS a (tenant_id, environment, e_ncf, issuer_rnc, subject)
             WHERE a.e_ncf IS NOT NULL AND a.subject IS NOT NULL
             ORDER BY a.tenant_id, a.environment, a.e_ncf, a.issuer_rnc, a.subject) AS b
     WHERE n.tenant_id = b.tenant_id AND n.environment = b.environment AND n.e_ncf = b.e_ncf
       AND n.issuer_rnc = b.issuer_rnc AND n.submission_id <> b.subject
       AND EXISTS (SELECT 1
                     FROM submissions AS s
                    WHERE s.tenant_id = n.tenant_id AND s.submission_id = n.submission_id
                      AND s.number_fate = 'reusable');
    RETURN holders_of_batch(p_tenants, p_environments, p_e_ncfs, p_issuers);
END
$$;

CREATE FUNCTION holders_of_batch(p_tenants bigint[], p_environments text[], p_e_ncfs text[], p_issuers text[])
RETURNS uuid[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN ARRAY(
        SELECT n.submission_id
          FROM unnest(p_tenants, p_environments, p_e_ncfs, p_issuers) WITH ORDINALITY
                       AS b (tenant_id, environment, e_ncf, issuer_rnc, n)
          LEFT JOIN held_numbers AS n
            ON n.tenant_id = b.tenant_id AND n.environment = b.environment AND n.e_ncf = b.e_ncf
           AND n.issuer_rnc = b.issuer_rnc
         ORDER BY b.n);
END
$$;

-- Their numbers belong to other submissions: these end, and are never sent.
CREATE FUNCTION book_number_taken_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_holders uuid[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN book_failure_batch(
        p_tenants, p_subjects, p_epochs, p_at,
        ARRAY(SELECT jsonb_build_object(
                         'status', 'error', 'dgiiResponse', NULL, 'otherTaxLogId', b.holder,
                         'error', 'the number is that of another submission already, taxLogId ' || b.holder::text
                                  || ': nothing was sent')
                FROM unnest(p_holders) WITH ORDINALITY AS b (holder, n)
               ORDER BY b.n),
        array_fill('used'::text, ARRAY[cardinality(p_subjects)]));
END
$$;

-- The documents exist: signed once, for ever. From here on these bytes are what is sent, whatever happens, and the numbers
-- are their own. Of each:
--   'lost'      the claim is no longer ours
--   'taken'     its number was another's already: it has ended, and nothing of it was kept
--   'signed'    it waits to be sent
--   'going on'  whoever signed it may send it now: the row is leased to the same holder, as a claim of the stage `send`
--               would have leased it (attempt 1, the next epoch), and its intent is committed with it. Only where
--               p_leases says for how long, and nobody has paused it.
CREATE FUNCTION book_signed_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_certificates uuid[], p_signed bytea[],
    p_sent bytea[], p_hosts text[], p_types text[], p_issuers text[], p_buyers text[], p_security_codes text[],
    p_qr_code_urls text[], p_ncf_expirations date[], p_signed_ats timestamptz[], p_remarks jsonb[],
    p_leases interval[]
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
    going uuid[];
    holders uuid[];
    environments text[];
    numbers text[];
    issuers text[];
    is_taken boolean;
BEGIN
    -- The claim is looked at first, so that a worker that was relieved takes no number.
    SELECT array_agg(o.subject ORDER BY b.n), array_agg(s.environment::text ORDER BY b.n),
           array_agg(CASE WHEN s.root IN ('ECF', 'RFCE') THEN s.e_ncf END ORDER BY b.n),
           array_agg(coalesce(b.issuer_rnc, '') ORDER BY b.n)
      INTO mine, environments, numbers, issuers
      FROM unnest(p_tenants, p_subjects, p_epochs, p_issuers) WITH ORDINALITY
                   AS b (tenant_id, subject, epoch, issuer_rnc, n)
      LEFT JOIN LATERAL (SELECT w.tenant_id, w.subject
                           FROM outbox AS w
                          WHERE w.tenant_id = b.tenant_id AND w.subject = b.subject AND w.epoch = b.epoch
                            AND w.holder IS NOT NULL
                            FOR UPDATE) AS o ON true
      LEFT JOIN submissions AS s ON s.tenant_id = o.tenant_id AND s.submission_id = o.subject;
    holders := hold_number_batch(p_tenants, environments, numbers, issuers, mine);
    SELECT coalesce(bool_or(b.subject <> b.holder), false) INTO is_taken
      FROM unnest(mine, holders) AS b (subject, holder);
    IF is_taken THEN
        PERFORM book_number_taken_batch(
            p_tenants,
            ARRAY(SELECT CASE WHEN b.subject <> b.holder THEN b.subject END
                    FROM unnest(mine, holders) WITH ORDINALITY AS b (subject, holder, n)
                   ORDER BY b.n),
            p_epochs, p_at, holders);
        mine := ARRAY(SELECT CASE WHEN b.holder IS NULL OR b.subject = b.holder THEN b.subject END
                        FROM unnest(mine, holders) WITH ORDINALITY AS b (subject, holder, n)
                       ORDER BY b.n);
    END IF;
    WITH moved AS (
        UPDATE outbox AS o
           SET stage = 'send', host = b.host, run_at = moment + coalesce(b.lease, interval '0'),
               attempt = CASE WHEN b.lease IS NULL THEN 0 ELSE 1 END, deaths = 0,
               epoch = CASE WHEN b.lease IS NULL THEN o.epoch ELSE o.epoch + 1 END,
               holder = CASE WHEN b.lease IS NULL THEN NULL ELSE o.holder END, entered_at = moment, last_error = NULL
          FROM (SELECT a.tenant_id, a.subject, a.epoch, a.host, a.n,
                       CASE WHEN NOT EXISTS (
                           SELECT 1
                             FROM pauses AS p
                            WHERE p.tenant_id IN (0, a.tenant_id) AND p.environment IN ('', a.environment))
                           THEN a.lease END AS lease
                  FROM unnest(p_tenants, mine, p_epochs, p_hosts, environments, p_leases) WITH ORDINALITY
                               AS a (tenant_id, subject, epoch, host, environment, lease, n)) AS b
         WHERE o.tenant_id = b.tenant_id AND o.subject = b.subject AND o.epoch = b.epoch
        RETURNING b.n, b.lease
    )
    SELECT array_agg(CASE WHEN moved.lease IS NOT NULL THEN b.subject END ORDER BY b.n) INTO going
      FROM unnest(mine) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN moved ON moved.n = b.n;
    INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
    SELECT b.tenant_id, b.subject, d.kind, d.content
      FROM unnest(p_tenants, mine, p_signed, p_sent) AS b (tenant_id, subject, signed, sent)
     CROSS JOIN LATERAL (VALUES ('signed', b.signed), ('sent', b.sent)) AS d (kind, content)
     WHERE b.subject IS NOT NULL AND d.content IS NOT NULL;
    UPDATE submissions AS s
       SET certificate_id = b.certificate_id, ecf_type = b.ecf_type, issuer_rnc = b.issuer_rnc,
           buyer_rnc = b.buyer_rnc, security_code = b.security_code, qr_code_url = b.qr_code_url,
           ncf_expiration = b.ncf_expiration, signed_at = b.signed_at, updated_at = p_at
      FROM unnest(p_tenants, mine, p_certificates, p_types, p_issuers, p_buyers, p_security_codes, p_qr_code_urls,
                  p_ncf_expirations, p_signed_ats)
                   AS b (tenant_id, subject, certificate_id, ecf_type, issuer_rnc, buyer_rnc, security_code,
                         qr_code_url, ncf_expiration, signed_at)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject;
    PERFORM record_event_batch(p_tenants, mine, p_at, 'signed', ARRAY(
        SELECT jsonb_strip_nulls(jsonb_build_object(
                   'certificateId', b.certificate_id, 'securityCode', b.security_code,
                   'sha256', encode(sha256(b.signed), 'hex'), 'summarySha256', encode(sha256(b.sent), 'hex')))
          FROM unnest(p_certificates, p_security_codes, p_signed, p_sent) WITH ORDINALITY
                       AS b (certificate_id, security_code, signed, sent, n)
         ORDER BY b.n));
    IF num_nonnulls(VARIADIC p_remarks) > 0 THEN
        PERFORM record_event_batch(
            p_tenants,
            ARRAY(SELECT CASE WHEN b.remarks IS NOT NULL THEN b.subject END
                    FROM unnest(mine, p_remarks) WITH ORDINALITY AS b (subject, remarks, n)
                   ORDER BY b.n),
            p_at, 'remarked',
            ARRAY(SELECT jsonb_build_object('problems', b.remarks)
                    FROM unnest(p_remarks) WITH ORDINALITY AS b (remarks, n)
                   ORDER BY b.n));
    END IF;
    IF num_nonnulls(VARIADIC going) > 0 THEN
        PERFORM announce_batch(
            p_tenants, going,
            ARRAY(SELECT b.epoch + 1 FROM unnest(p_epochs) WITH ORDINALITY AS b (epoch, n) ORDER BY b.n),
            p_at,
            ARRAY(SELECT sha256(coalesce(b.sent, b.signed))
                    FROM unnest(p_signed, p_sent) WITH ORDINALITY AS b (signed, sent, n)
                   ORDER BY b.n));
    END IF;
    RETURN ARRAY(
        SELECT CASE
               WHEN b.going IS NOT NULL THEN 'going on'
               WHEN b.subject IS NOT NULL THEN 'signed'
               WHEN b.holder IS NOT NULL THEN 'taken'
               ELSE 'lost'
               END
          FROM unnest(mine, going, holders) WITH ORDINALITY AS b (subject, going, holder, n)
         ORDER BY b.n);
END
$$;

GRANT EXECUTE ON FUNCTION record_event_batch, advance_batch, complete_batch, close_sends_batch TO fe_worker;
GRANT EXECUTE ON FUNCTION close_intents_batch, announce_batch, intend_to_send_batch, book_retry_batch TO fe_worker;
GRANT EXECUTE ON FUNCTION book_dead_letter_batch, book_failure_batch, book_received_batch TO fe_worker;
GRANT EXECUTE ON FUNCTION book_doubt_batch, book_resend_batch, book_processing_batch, book_verdict_batch TO fe_worker;
GRANT EXECUTE ON FUNCTION hold_number_batch, holders_of_batch, book_number_taken_batch, book_signed_batch TO fe_worker;
