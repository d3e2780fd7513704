-- What is written for some documents looks at their rows alone, whatever is known of the outbox.
--
-- Where the outbox was looked at while nothing waited in it (most of a quiet day; and with an old snapshot held, dead
-- rows and no others), Postgres takes it for empty, and reading one of its indexes from end to end for one page: each
-- batch that was booked read every row there was, dead or alive, until the next look, and under the snapshot for ever.
-- What is left to it now are the keys:
--
-- * Of the two indexes bookings can use one only. Rows that are due are found by the other, whose condition they name.
-- * A tenant that is one of a list of one is the same tenant, but in no order in which a whole index could be read.
-- * The table from end to end is no way either. (It was one while the table was small, and stayed it when it was not.)

DROP INDEX outbox_due;

CREATE INDEX outbox_due ON outbox (stage, environment, host, tenant_id, run_at) WHERE run_at < 'infinity';

CREATE OR REPLACE FUNCTION advance_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_stage text, p_afters interval[]
) RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
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
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN moved.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO mine
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN moved ON moved.n = b.n;
    RETURN mine;
END
$$;

CREATE OR REPLACE FUNCTION complete_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[])
RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    mine uuid[];
BEGIN
    WITH gone AS (
        DELETE FROM outbox AS o
         USING unnest(p_tenants, p_subjects, p_epochs) WITH ORDINALITY AS b (tenant_id, subject, epoch, n)
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN gone.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO mine
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN gone ON gone.n = b.n;
    RETURN mine;
END
$$;

CREATE OR REPLACE FUNCTION book_retry_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[], p_counts boolean[],
    p_errors text[]
) RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
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
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
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

CREATE OR REPLACE FUNCTION book_dead_letter_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_errors text[]
) RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    mine uuid[];
    details jsonb[];
BEGIN
    WITH dead AS (
        DELETE FROM outbox AS o
         USING unnest(p_tenants, p_subjects, p_epochs, p_errors) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, error, n)
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
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

CREATE OR REPLACE FUNCTION intend_to_send_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_leases interval[], p_digests bytea[]
) RETURNS text[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    answers text[];
    going uuid[];
    span record := span_of(p_subjects);
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
         WHERE o.tenant_id = ANY (ARRAY[h.tenant_id]) AND o.subject = h.subject AND h.run_at < moment + h.lease * 0.95
    )
    SELECT array_agg(CASE
                     WHEN held.n IS NULL THEN 'lost'
                     WHEN EXISTS (SELECT 1
                                    FROM sends AS x
                                   WHERE x.tenant_id = b.tenant_id AND x.submission_id = b.subject
                                     AND x.submission_id BETWEEN span.first AND span.last
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

CREATE OR REPLACE FUNCTION book_received_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_environments text[],
    p_track_ids text[], p_afters interval[], p_replies jsonb[], p_leases interval[]
) RETURNS text[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
    answers text[];
    span record := span_of(p_subjects);
BEGIN
    WITH moved AS (
        UPDATE outbox AS o
           SET stage = 'track', run_at = moment + b.after + coalesce(b.lease, interval '0'),
               attempt = CASE WHEN b.lease IS NULL THEN 0 ELSE 1 END, deaths = 0,
               epoch = CASE WHEN b.lease IS NULL THEN o.epoch ELSE o.epoch + 1 END,
               holder = CASE WHEN b.lease IS NULL THEN NULL ELSE o.holder END, entered_at = moment, last_error = NULL
          FROM (SELECT a.tenant_id, a.subject, a.epoch, a.after, a.n,
                       CASE WHEN NOT EXISTS (
                           SELECT 1
                             FROM pauses AS p
                            WHERE p.tenant_id IN (0, a.tenant_id) AND p.environment IN ('', a.environment))
                           THEN a.lease END AS lease
                  FROM unnest(p_tenants, p_subjects, p_epochs, p_environments, p_afters, p_leases) WITH ORDINALITY
                               AS a (tenant_id, subject, epoch, environment, after, lease, n)) AS b
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n, b.lease
    )
    SELECT array_agg(CASE WHEN moved.n IS NOT NULL THEN b.subject END ORDER BY b.n),
           array_agg(CASE WHEN moved.n IS NULL THEN 'lost' WHEN moved.lease IS NULL THEN 'received' ELSE 'going on' END
                     ORDER BY b.n)
      INTO mine, answers
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN moved ON moved.n = b.n;
    PERFORM close_sends_batch(p_tenants, mine, p_at, 'received', p_track_ids);
    UPDATE submissions AS s
       SET track_id = b.track_id, updated_at = p_at, first_answer_at = coalesce(s.first_answer_at, p_at)
      FROM unnest(p_tenants, mine, p_track_ids) AS b (tenant_id, subject, track_id)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject
       AND s.submission_id BETWEEN span.first AND span.last;
    PERFORM record_event_batch(p_tenants, mine, p_at, 'received', ARRAY(
        SELECT jsonb_build_object('trackId', b.track_id, 'reply', b.reply)
          FROM unnest(p_track_ids, p_replies) WITH ORDINALITY AS b (track_id, reply, n)
         ORDER BY b.n));
    RETURN answers;
END
$$;

CREATE OR REPLACE FUNCTION book_doubt_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[], p_errors text[]
) RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
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
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
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

CREATE OR REPLACE FUNCTION book_resend_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[], p_reasons text[]
) RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
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
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
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

CREATE OR REPLACE FUNCTION book_processing_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[], p_responses jsonb[]
) RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
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
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
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

CREATE OR REPLACE FUNCTION book_signed_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_certificates uuid[], p_signed bytea[],
    p_sent bytea[], p_hosts text[], p_types text[], p_issuers text[], p_buyers text[], p_security_codes text[],
    p_qr_code_urls text[], p_ncf_expirations date[], p_signed_ats timestamptz[], p_remarks jsonb[],
    p_leases interval[]
) RETURNS text[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
    going uuid[];
    holders uuid[];
    environments text[];
    numbers text[];
    issuers text[];
    is_taken boolean;
    span record := span_of(p_subjects);
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
      LEFT JOIN submissions AS s
        ON s.tenant_id = o.tenant_id AND s.submission_id = o.subject
       AND s.submission_id BETWEEN span.first AND span.last;
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
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject AND o.epoch = b.epoch
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
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject
       AND s.submission_id BETWEEN span.first AND span.last;
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

CREATE OR REPLACE FUNCTION claim_due(
    p_stage text, p_environments text [], p_hosts text [], p_afters bigint [], p_floors timestamptz [], p_rooms int [],
    p_left_to_others int [], p_slots int, p_at_most int, p_scope int, p_most int, p_busy bigint [], p_busy_in text [],
    p_holder text, p_lease interval
) RETURNS claimed []
LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    claims claimed[] := '{}';
    fresh claimed[];
    many int := 0;
    in_environment text;
    at_host text;
    past bigint;
    since timestamptz;
    capacity int;
    enough int;
    due int;
    served bigint[];
    weights int[];
    most int[];
    shares int[];
BEGIN
    FOR nth IN 1 .. cardinality(p_hosts) LOOP
        in_environment := p_environments[nth];
        at_host := p_hosts[nth];
        past := p_afters[nth];
        since := p_floors[nth];
        capacity := least(least(p_slots - many, p_rooms[nth]) - p_left_to_others[nth], p_at_most - many);
        -- Most lanes are empty most of the time, and starting the walk costs more than looking.
        PERFORM
           FROM outbox AS o
          WHERE o.stage = p_stage AND o.environment = in_environment AND o.host = at_host
            AND o.run_at >= since AND o.run_at < 'infinity'
          ORDER BY o.tenant_id, o.run_at
          LIMIT 1;
        CONTINUE WHEN NOT FOUND;

        -- One more than can be served shows that not all are, however many of those found may get no more.
        enough := least(p_scope, greatest(capacity, 0) + cardinality(p_busy) / p_most + 1);

        -- Walks the index from tenant to tenant, to the earliest row of each, so that a tenant's million rows cost one
        -- step, whether they are due or not; ordering by run_at too leaves the planner no other index. It goes on from
        -- the tenant served last, then round from the first, and stops when it has enough. It takes no locks and may be
        -- wrong: the claim looks again. statement_timestamp(), because a volatile clock is compared row by row and
        -- never finds its place in an index.
        WITH RECURSIVE ahead (tenant_id, run_at, n) AS (
            (SELECT o.tenant_id, o.run_at, 1
               FROM outbox AS o
              WHERE o.stage = p_stage AND o.environment = in_environment AND o.host = at_host
                AND o.tenant_id > past AND o.run_at >= since AND o.run_at < 'infinity'
              ORDER BY o.tenant_id, o.run_at
              LIMIT 1)
            UNION ALL
            SELECT following.tenant_id, following.run_at, ahead.n + 1
              FROM ahead
             CROSS JOIN LATERAL (SELECT o.tenant_id, o.run_at
                                   FROM outbox AS o
                                  WHERE o.stage = p_stage AND o.environment = in_environment AND o.host = at_host
                                    AND o.tenant_id > ahead.tenant_id AND o.run_at >= since AND o.run_at < 'infinity'
                                  ORDER BY o.tenant_id, o.run_at
                                  LIMIT 1) AS following
        ), around (tenant_id, run_at, n) AS (
            (SELECT o.tenant_id, o.run_at, 1
               FROM outbox AS o
              WHERE o.stage = p_stage AND o.environment = in_environment AND o.host = at_host
                AND o.tenant_id <= past AND o.run_at >= since AND o.run_at < 'infinity'
              ORDER BY o.tenant_id, o.run_at
              LIMIT 1)
            UNION ALL
            SELECT following.tenant_id, following.run_at, around.n + 1
              FROM around
             CROSS JOIN LATERAL (SELECT o.tenant_id, o.run_at
                                   FROM outbox AS o
                                  WHERE o.stage = p_stage AND o.environment = in_environment AND o.host = at_host
                                    AND o.tenant_id > around.tenant_id AND o.tenant_id <= past
                                    AND o.run_at >= since AND o.run_at < 'infinity'
                                  ORDER BY o.tenant_id, o.run_at
                                  LIMIT 1) AS following
        ), turn AS (
            SELECT step.tenant_id, step.round, step.n
              FROM (SELECT ahead.tenant_id, ahead.run_at, 1 AS round, ahead.n FROM ahead
                    UNION ALL
                    SELECT around.tenant_id, around.run_at, 2 AS round, around.n FROM around) AS step
             WHERE step.run_at <= statement_timestamp()
               AND (SELECT count(*)
                      FROM pauses AS p
                     WHERE p.tenant_id IN (0, step.tenant_id) AND p.environment IN ('', in_environment)) = 0
             LIMIT enough
        ), known AS (
            SELECT t.tenant_id, t.weight, turn.round, turn.n,
                   p_most - (SELECT count(*)
                               FROM unnest(p_busy, p_busy_in) AS busy (tenant_id, environment)
                              WHERE busy.tenant_id = t.tenant_id AND busy.environment = in_environment)::int AS most
              FROM turn
              JOIN tenants AS t ON t.tenant_id = turn.tenant_id
        )
        SELECT count(*), array_agg(k.tenant_id ORDER BY k.round, k.n) FILTER (WHERE k.most > 0),
               array_agg(k.weight ORDER BY k.round, k.n) FILTER (WHERE k.most > 0),
               array_agg(k.most ORDER BY k.round, k.n) FILTER (WHERE k.most > 0)
          INTO due, served, weights, most
          FROM known AS k;
        CONTINUE WHEN due = 0;
        served := coalesce(served[1:greatest(capacity, 0)], '{}');
        shares := '{}';
        IF served <> '{}' THEN
            shares := divide_by_weight(weights[1:capacity], capacity, most);
        END IF;
        claims := claims || ROW(nth, due, served, shares, NULL, NULL, NULL, NULL, NULL, NULL, NULL)::claimed;
        CONTINUE WHEN served = '{}';

        -- What was picked goes through arrays because the planner expects ten elements of an array, and a tenth of the
        -- table of a LIMIT that it cannot see: then it would read the whole table for each claim.
        WITH picked AS (
            SELECT o.tenant_id, o.subject
              FROM unnest(served, shares) AS scope (tenant_id, share)
             CROSS JOIN LATERAL (SELECT w.tenant_id, w.subject
                                   FROM outbox AS w
                                  WHERE w.tenant_id = scope.tenant_id AND w.stage = p_stage
                                    AND w.environment = in_environment AND w.host = at_host
                                    AND w.run_at >= since AND w.run_at <= statement_timestamp()
                                    AND w.run_at < 'infinity'
                                  ORDER BY w.run_at
                                  LIMIT scope.share
                                    FOR UPDATE SKIP LOCKED) AS o
        ), leased AS (
            UPDATE outbox AS o
               SET attempt = o.attempt + 1, epoch = o.epoch + 1, holder = p_holder,
                   deaths = o.deaths + (o.holder IS NOT NULL)::int, run_at = now() + p_lease
              FROM unnest(ARRAY(SELECT tenant_id FROM picked), ARRAY(SELECT subject FROM picked))
                   AS mine (tenant_id, subject)
             WHERE o.tenant_id = ANY (ARRAY[mine.tenant_id]) AND o.subject = mine.subject
            RETURNING o.tenant_id, o.subject, o.attempt, o.epoch, o.deaths, now() - o.entered_at AS waited, o.last_error
        )
        SELECT array_agg(ROW(nth, NULL, NULL, NULL, l.tenant_id, l.subject, l.attempt, l.epoch, l.deaths, l.waited,
                             l.last_error)::claimed)
          INTO fresh
          FROM leased AS l;
        IF fresh IS NOT NULL THEN
            claims := claims || fresh;
            many := many + cardinality(fresh);
            IF nth < cardinality(p_hosts) THEN
                p_busy := p_busy || ARRAY(SELECT f.tenant_id FROM unnest(fresh) AS f);
                p_busy_in := p_busy_in || array_fill(in_environment, ARRAY[cardinality(fresh)]);
            END IF;
        END IF;
    END LOOP;
    RETURN claims;
END
$$;
