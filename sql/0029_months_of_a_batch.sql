-- A statement that finds rows by a list of ids starts a plan for every month there is, because which months the ids lie in
-- is known only row by row. Told the least and the greatest of them beside, it begins with those months alone: what a call
-- costs before its first row does not grow with the years. Nothing else of these functions changes, but for one.

-- The least and the greatest of some ids, without the NULLs among them; NULL and NULL of none.
CREATE FUNCTION span_of(p_ids uuid[], OUT first uuid, OUT last uuid)
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    one uuid;
BEGIN
    FOREACH one IN ARRAY coalesce(p_ids, '{}') LOOP
        first := least(first, one);
        last := greatest(last, one);
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION close_sends_batch(
    p_tenants bigint[], p_subjects uuid[], p_at timestamptz, p_outcome text, p_track_ids text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_subjects);
BEGIN
    UPDATE sends AS d
       SET outcome = p_outcome, answered_at = p_at, track_id = b.track_id
      FROM unnest(p_tenants, p_subjects, p_track_ids) AS b (tenant_id, subject, track_id)
     WHERE d.tenant_id = b.tenant_id AND d.submission_id = b.subject AND d.outcome IN ('intended', 'unknown')
       AND d.submission_id BETWEEN span.first AND span.last;
END
$$;

CREATE OR REPLACE FUNCTION record_event_batch(
    p_tenants bigint[], p_submissions uuid[], p_at timestamptz, p_kind text, p_details jsonb[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_submissions);
BEGIN
    INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
    SELECT b.tenant_id, b.submission_id, coalesce(last.seq, 0) + 1, p_at, p_kind, b.detail,
           event_hash(last.hash, b.tenant_id, b.submission_id, coalesce(last.seq, 0) + 1, p_at, p_kind, b.detail)
      FROM unnest(p_tenants, p_submissions, p_details) AS b (tenant_id, submission_id, detail)
      LEFT JOIN LATERAL (SELECT e.seq, e.hash
                           FROM submission_events AS e
                          WHERE e.tenant_id = b.tenant_id AND e.submission_id = b.submission_id
                            AND e.submission_id BETWEEN span.first AND span.last
                          ORDER BY e.seq DESC
                          LIMIT 1) AS last ON true
     WHERE b.submission_id IS NOT NULL;
    IF p_kind IN ('verdict', 'error') THEN
        PERFORM tell_outcomes(p_tenants, p_submissions, p_at);
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION intend_to_send_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_leases interval[], p_digests bytea[]
) RETURNS text[] LANGUAGE plpgsql AS $$
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
         WHERE o.tenant_id = h.tenant_id AND o.subject = h.subject AND h.run_at < moment + h.lease * 0.95
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

-- A document that was just received over there stays with whoever sent it: leased on for its first look at the verdict,
-- with no claim in between. What comes of it is the same as before, and so is every crash: a claim is lost with its worker.

DROP FUNCTION book_received_batch(bigint[], uuid[], bigint[], timestamptz, text[], interval[], jsonb[]);

-- The authority has them under these trackIds; their verdicts are still to come. Of each:
--   'lost'      the claim is no longer ours
--   'received'  it waits to be asked about, after p_afters
--   'going on'  the same holder asks after p_afters: the row is leased to it as a claim of the stage `track` would have
--               leased it then (attempt 1, the next epoch). Only where p_leases says for how long, and nobody has paused it.
CREATE FUNCTION book_received_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_environments text[],
    p_track_ids text[], p_afters interval[], p_replies jsonb[], p_leases interval[]
) RETURNS text[] LANGUAGE plpgsql AS $$
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
         WHERE o.tenant_id = b.tenant_id AND o.subject = b.subject AND o.epoch = b.epoch AND o.holder IS NOT NULL
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

CREATE OR REPLACE FUNCTION book_signed_batch(
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

CREATE OR REPLACE FUNCTION book_verdict_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_statuses text[], p_track_ids text[],
    p_responses jsonb[], p_number_fates text[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    mine uuid[] := complete_batch(p_tenants, p_subjects, p_epochs);
    span record := span_of(mine);
BEGIN
    PERFORM close_sends_batch(p_tenants, mine, p_at, 'received', p_track_ids);
    UPDATE submissions AS s
       SET status = b.status, track_id = coalesce(b.track_id, s.track_id), response = b.response,
           number_fate = b.number_fate, updated_at = p_at, verdict_at = p_at,
           first_answer_at = coalesce(s.first_answer_at, p_at)
      FROM unnest(p_tenants, mine, p_statuses, p_track_ids, p_responses, p_number_fates)
                   AS b (tenant_id, subject, status, track_id, response, number_fate)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject
       AND s.submission_id BETWEEN span.first AND span.last;
    PERFORM record_event_batch(p_tenants, mine, p_at, 'verdict', ARRAY(
        SELECT jsonb_build_object('status', b.status, 'response', b.response, 'numberFate', b.number_fate)
          FROM unnest(p_statuses, p_responses, p_number_fates) WITH ORDINALITY AS b (status, response, number_fate, n)
         ORDER BY b.n));
    PERFORM begin_deliveries(p_tenants, mine, p_statuses, p_at);
    PERFORM note_ends(p_tenants, mine, p_at);
    RETURN mine;
END
$$;

CREATE OR REPLACE FUNCTION begin_deliveries(p_tenants bigint[], p_subjects uuid[], p_statuses text[], p_at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_subjects);
BEGIN
    INSERT INTO counterparty_deliveries (tenant_id, submission_id, kind, environment, counterparty_rnc, since, changed_at)
    SELECT s.tenant_id, s.submission_id, CASE WHEN s.root = 'ACECF' THEN 'approval' ELSE 'receipt' END, s.environment,
           CASE WHEN s.root = 'ACECF' THEN s.issuer_rnc ELSE s.buyer_rnc END, p_at, p_at
      FROM unnest(p_tenants, p_subjects, p_statuses) AS b (tenant_id, subject, status)
      JOIN submissions AS s
        ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
       AND s.submission_id BETWEEN span.first AND span.last
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

CREATE OR REPLACE FUNCTION note_ends(p_tenants bigint[], p_subjects uuid[], p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    this_month date := utc_month(p_at);
    billed bigint[];
    one bigint;
    span record := span_of(p_subjects);
BEGIN
    WITH noted AS (
        INSERT INTO usage_ends (tenant_id, submission_id, noted_at, billed_in)
        SELECT b.tenant_id, b.subject, clock_timestamp(),
               CASE WHEN s.environment = 'ecf' AND s.status IN ('Aceptado', 'Aceptado Condicional')
                         AND (SELECT t.enabled
                                FROM billing_terms AS t
                               WHERE t.tenant_id = b.tenant_id AND t.since <= p_at
                               ORDER BY t.since DESC
                               LIMIT 1) THEN this_month END
          FROM unnest(p_tenants, p_subjects) AS b (tenant_id, subject)
          JOIN submissions AS s
            ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
           AND s.submission_id BETWEEN span.first AND span.last
        ON CONFLICT DO NOTHING
        RETURNING tenant_id, billed_in
    )
    SELECT array_agg(DISTINCT noted.tenant_id ORDER BY noted.tenant_id) INTO billed
      FROM noted
     WHERE noted.billed_in IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM billing_months AS m
                        WHERE m.tenant_id = noted.tenant_id AND m.month = this_month);
    IF billed IS NOT NULL THEN
        FOREACH one IN ARRAY billed LOOP
            PERFORM freeze_month(one, this_month, p_at);
        END LOOP;
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION claim_with_input(
    p_stage text, p_environments text [], p_hosts text [], p_afters bigint [], p_floors timestamptz [], p_rooms int [],
    p_left_to_others int [], p_slots int, p_at_most int, p_scope int, p_most int, p_busy bigint [], p_busy_in text [],
    p_holder text, p_lease interval
) RETURNS TABLE (
    lane int, due int, tenants bigint [], shares int [], tenant_id bigint, subject uuid, attempt int, epoch bigint,
    deaths int, waited interval, last_error text, format text, root text, ecf_type text, e_ncf text, as_user text,
    as_user_id uuid, issuer_rnc text, buyer_rnc text, certificate_id uuid, track_id text, content bytea,
    is_summary boolean, maybe_adopted boolean, sequence_expires timestamptz, holders uuid [], holders_issuers text [],
    signatory text
)
LANGUAGE plpgsql ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    claims claimed[] := claim_due(
        p_stage, p_environments, p_hosts, p_afters, p_floors, p_rooms, p_left_to_others, p_slots, p_at_most, p_scope,
        p_most, p_busy, p_busy_in, p_holder, p_lease);
    span record;
    since uuid;
BEGIN
    IF claims = '{}' THEN
        RETURN;
    END IF;
    span := span_of(ARRAY(SELECT c.subject FROM unnest(claims) AS c));
    since := forty_days_before(span.first);
    IF p_stage = 'sign' THEN
        RETURN QUERY
        SELECT c.lane, c.due, c.tenants, c.shares, c.tenant_id, c.subject, c.attempt, c.epoch, c.deaths, c.waited,
               c.last_error, s.format::text, s.root::text, s.ecf_type, s.e_ncf, s.as_user, s.as_user_id, NULL::text,
               NULL::text, NULL::uuid, NULL::text, CASE WHEN octet_length(d.content) <= 65536 THEN d.content END,
               NULL::boolean, NULL::boolean, q.expire_at, same.holders, same.issuers, NULL::text
          FROM unnest(claims) AS c
          LEFT JOIN submissions AS s
            ON s.tenant_id = c.tenant_id AND s.submission_id = c.subject
           AND s.submission_id BETWEEN span.first AND span.last
          LEFT JOIN submission_documents AS d
            ON d.tenant_id = c.tenant_id AND d.submission_id = c.subject AND d.kind = 'original'
           AND d.submission_id BETWEEN span.first AND span.last
          LEFT JOIN sequences AS q
            ON q.tenant_id = c.tenant_id AND q.environment = p_environments[c.lane] AND q.prefix = left(s.e_ncf, 3)
           AND q.is_active
          LEFT JOIN LATERAL (
                -- Held, or on its way to be signed: see fe/store/records/numbers.py.
                SELECT array_agg(one.submission_id) AS holders, array_agg(one.issuer_rnc) AS issuers
                  FROM (SELECT h.submission_id, h.issuer_rnc
                          FROM held_numbers AS h
                          JOIN submissions AS other
                            ON other.tenant_id = c.tenant_id AND other.submission_id = h.submission_id
                           AND other.number_fate <> 'reusable'
                         WHERE h.tenant_id = c.tenant_id AND h.environment = p_environments[c.lane]
                           AND h.e_ncf = s.e_ncf AND h.submission_id <> c.subject
                         UNION ALL
                        SELECT other.submission_id, other.issuer_rnc
                          FROM submissions AS other
                         WHERE other.tenant_id = c.tenant_id AND other.environment = p_environments[c.lane]
                           AND other.e_ncf = s.e_ncf AND other.submission_id >= forty_days_before(c.subject)
                           AND other.submission_id >= since AND other.submission_id <= span.last
                           AND other.submission_id < c.subject AND other.root IN ('ECF', 'RFCE')
                           AND other.status <> 'error' AND other.number_fate <> 'reusable') AS one
                 WHERE s.root IN ('ECF', 'RFCE')
               ) AS same ON s.e_ncf IS NOT NULL;
        RETURN QUERY
        SELECT 0, NULL::int, NULL::bigint[], NULL::int[], t.tenant_id, NULL::uuid, NULL::int, NULL::bigint, NULL::int,
               NULL::interval, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::uuid,
               NULL::text, NULL::text, NULL::uuid, NULL::text, NULL::bytea, NULL::boolean, NULL::boolean,
               NULL::timestamptz, NULL::uuid[], NULL::text[],
               jsonb_build_object(
                   'issuer', t.issuer, 'consumerSummary', t.consumer_summary,
                   'candidates', (SELECT jsonb_agg(jsonb_build_array(c.certificate_id, c.user_id, u.email,
                                                                     u.issuer_override, c.not_before, c.not_after))
                                    FROM certificates AS c
                                    LEFT JOIN users AS u ON u.tenant_id = c.tenant_id AND u.user_id = c.user_id
                                   WHERE c.tenant_id = t.tenant_id AND c.retired_at IS NULL))::text
          FROM tenants AS t
         WHERE t.tenant_id = ANY (ARRAY(SELECT DISTINCT c.tenant_id FROM unnest(claims) AS c));
    ELSIF p_stage = 'send' THEN
        RETURN QUERY
        SELECT c.lane, c.due, c.tenants, c.shares, c.tenant_id, c.subject, c.attempt, c.epoch, c.deaths, c.waited,
               c.last_error, NULL::text, s.root::text, NULL::text, s.e_ncf, NULL::text, NULL::uuid, s.issuer_rnc,
               s.buyer_rnc, s.certificate_id, NULL::text, outgoing.content, outgoing.kind = 'sent', NULL::boolean,
               NULL::timestamptz, NULL::uuid[], NULL::text[], NULL::text
          FROM unnest(claims) AS c
          LEFT JOIN submissions AS s
            ON s.tenant_id = c.tenant_id AND s.submission_id = c.subject
           AND s.submission_id BETWEEN span.first AND span.last
          -- `sent` is there when the authority gets something other than `signed`; it comes first in the alphabet.
          LEFT JOIN LATERAL (
                SELECT d.kind, CASE WHEN octet_length(d.content) <= 65536 THEN d.content END AS content
                  FROM submission_documents AS d
                 WHERE d.tenant_id = c.tenant_id AND d.submission_id = c.subject AND d.kind IN ('sent', 'signed')
                   AND d.submission_id BETWEEN span.first AND span.last
                 ORDER BY d.kind
                 LIMIT 1) AS outgoing ON true;
    ELSIF p_stage = 'track' THEN
        RETURN QUERY
        SELECT c.lane, c.due, c.tenants, c.shares, c.tenant_id, c.subject, c.attempt, c.epoch, c.deaths, c.waited,
               c.last_error, NULL::text, NULL::text, NULL::text, s.e_ncf, NULL::text, NULL::uuid, NULL::text,
               NULL::text, s.certificate_id, s.track_id, NULL::bytea, NULL::boolean, s.number_fate = 'unknown',
               NULL::timestamptz, NULL::uuid[], NULL::text[], NULL::text
          FROM unnest(claims) AS c
          LEFT JOIN submissions AS s
            ON s.tenant_id = c.tenant_id AND s.submission_id = c.subject
           AND s.submission_id BETWEEN span.first AND span.last;
    ELSE
        RETURN QUERY
        SELECT c.lane, c.due, c.tenants, c.shares, c.tenant_id, c.subject, c.attempt, c.epoch, c.deaths, c.waited,
               c.last_error, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::uuid, NULL::text,
               NULL::text, NULL::uuid, NULL::text, NULL::bytea, NULL::boolean, NULL::boolean, NULL::timestamptz,
               NULL::uuid[], NULL::text[], NULL::text
          FROM unnest(claims) AS c;
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION span_of TO fe_worker, fe_operator;

GRANT EXECUTE ON FUNCTION book_received_batch TO fe_worker;
