-- Bookings of a batch on Citus, those that each document goes through: of each shard that the batch has rows in, all its rows by
-- the same few statements, as 0029 and 0042 have them for one server. What costs there is the statement, which is planned, sent
-- and planned again, and hardly its rows; so the rows' UPDATEs and DELETEs are one, which also reads what each event follows.
--
-- A scope is the tenants of a batch that are in one shard; each table of a statement is bound to it, so that the statement is one
-- node's. Rows of the batch that are in other shards find nothing there. An INSERT takes its rows by way of the submissions
-- they are about: what is selected without a table would travel by COPY, which row-level security refuses.
--
-- What is computed of a moment, and json that is built, is computed here: Citus hands neither on beside a column.

CREATE OR REPLACE FUNCTION scopes_of(p_tenants bigint[]) RETURNS SETOF bigint[]
LANGUAGE plpgsql AS $$
BEGIN
    IF p_tenants = '{}' THEN
        RETURN;
    END IF;
    IF p_tenants[1] = ALL (p_tenants) THEN
        RETURN NEXT ARRAY[p_tenants[1]];
        RETURN;
    END IF;
    RETURN QUERY
    SELECT array_agg(x.tenant_id ORDER BY x.tenant_id)
      FROM (SELECT DISTINCT t.tenant_id FROM unnest(p_tenants) AS t (tenant_id)) AS x
     GROUP BY get_shard_id_for_distribution_column('outbox', x.tenant_id)
     ORDER BY get_shard_id_for_distribution_column('outbox', x.tenant_id);
END
$$;

-- Of each lease that is asked for: for how long, or NULL where there is none, or where its work is paused.
CREATE OR REPLACE FUNCTION leases_unless_paused(p_tenants bigint[], p_environments text[], p_leases interval[])
RETURNS interval[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF num_nonnulls(VARIADIC p_leases) = 0 THEN
        RETURN p_leases;
    END IF;
    RETURN ARRAY(SELECT CASE WHEN NOT EXISTS (
                            SELECT 1
                              FROM pauses AS p
                             WHERE p.tenant_id IN (0, b.tenant_id) AND p.environment IN ('', b.environment))
                        THEN b.lease END
                   FROM unnest(p_tenants, p_environments, p_leases) WITH ORDINALITY
                        AS b (tenant_id, environment, lease, n)
                  ORDER BY b.n);
END
$$;

-- Rows that go in by way of their submissions are counted: one whose submission was not found would be missing, and nobody told.
CREATE OR REPLACE FUNCTION demand_all(p_kept int, p_asked int, p_table text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF p_kept <> p_asked THEN
        RAISE EXCEPTION '% of % rows were kept in %', p_kept, p_asked, p_table;
    END IF;
END
$$;

-- Append one event to each of these stories, of one scope; p_seqs and p_hashes are those of the last event of each. Answers the
-- hashes of those that were added.
CREATE OR REPLACE FUNCTION follow_events(
    p_scope bigint[], p_tenants bigint[], p_subjects uuid[], p_seqs int[], p_hashes bytea[], p_at timestamptz,
    p_kind text, p_details jsonb[]
) RETURNS bytea[] LANGUAGE plpgsql AS $$
DECLARE
    hashes bytea[];
    kept int;
    span record := span_of(p_subjects);
BEGIN
    hashes := ARRAY(SELECT event_hash(b.hash, b.tenant_id, b.subject, coalesce(b.seq, 0) + 1, p_at, p_kind, b.detail)
                      FROM unnest(p_tenants, p_subjects, p_seqs, p_hashes, p_details) WITH ORDINALITY
                           AS b (tenant_id, subject, seq, hash, detail, n)
                     ORDER BY b.n);
    INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
    SELECT s.tenant_id, s.submission_id, coalesce(b.seq, 0) + 1, p_at, p_kind, b.detail, b.hash
      FROM submissions AS s
      JOIN unnest(p_tenants, p_subjects, p_seqs, p_details, hashes) AS b (tenant_id, subject, seq, detail, hash)
        ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
     WHERE s.tenant_id = ANY (p_scope) AND s.submission_id BETWEEN span.first AND span.last;
    GET DIAGNOSTICS kept = ROW_COUNT;
    PERFORM demand_all(kept, cardinality(p_subjects), 'submission_events');
    RETURN hashes;
END
$$;

CREATE OR REPLACE FUNCTION record_event_batch(
    p_tenants bigint[], p_submissions uuid[], p_at timestamptz, p_kind text, p_details jsonb[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_submissions);
    scope bigint[];
    told record;
BEGIN
    IF num_nonnulls(VARIADIC p_submissions) = 0 THEN
        RETURN;
    END IF;
    FOR scope IN SELECT * FROM scopes_of(p_tenants) LOOP
        SELECT array_agg(b.tenant_id ORDER BY b.n) AS tenants, array_agg(b.subject ORDER BY b.n) AS subjects,
               array_agg(b.detail ORDER BY b.n) AS details, array_agg(last.seq ORDER BY b.n) AS seqs,
               array_agg(last.hash ORDER BY b.n) AS hashes
          INTO told
          FROM submissions AS s
          JOIN unnest(p_tenants, p_submissions, p_details) WITH ORDINALITY AS b (tenant_id, subject, detail, n)
            ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
          LEFT JOIN LATERAL (SELECT e.seq, e.hash
                               FROM submission_events AS e
                              WHERE e.tenant_id = s.tenant_id AND e.submission_id = s.submission_id
                                AND e.tenant_id = ANY (scope) AND e.submission_id BETWEEN span.first AND span.last
                              ORDER BY e.seq DESC
                              LIMIT 1) AS last ON true
         WHERE s.tenant_id = ANY (scope) AND s.submission_id BETWEEN span.first AND span.last;
        IF told.subjects IS NOT NULL THEN
            PERFORM follow_events(
                scope, told.tenants, told.subjects, told.seqs, told.hashes, p_at, p_kind, told.details);
        END IF;
    END LOOP;
    IF p_kind IN ('verdict', 'error') THEN
        PERFORM tell_outcomes(p_tenants, p_submissions, p_at);
    END IF;
END
$$;

CREATE OR REPLACE FUNCTION book_received_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_environments text[],
    p_track_ids text[], p_afters interval[], p_replies jsonb[], p_leases interval[]
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    answers text[] := array_fill('lost'::text, ARRAY[cardinality(p_subjects)]);
    leases interval[] := leases_unless_paused(p_tenants, p_environments, p_leases);
    leased int[];
    dues timestamptz[];
    span record := span_of(p_subjects);
    scope bigint[];
    done record;
BEGIN
    SELECT array_agg((x.lease IS NOT NULL)::int ORDER BY x.n),
           array_agg(moment + x.after + coalesce(x.lease, interval '0') ORDER BY x.n)
      INTO leased, dues
      FROM unnest(p_afters, leases) WITH ORDINALITY AS x (after, lease, n);
    FOR scope IN SELECT * FROM scopes_of(p_tenants) LOOP
        WITH moved AS (
            UPDATE outbox AS o
               SET stage = 'track', run_at = b.due, attempt = b.leased, deaths = 0, epoch = o.epoch + b.leased,
                   holder = CASE WHEN b.leased = 1 THEN o.holder END, entered_at = moment, last_error = NULL
              FROM unnest(p_tenants, p_subjects, p_epochs, dues, leased, p_track_ids) WITH ORDINALITY
                           AS b (tenant_id, subject, epoch, due, leased, track_id, n)
             WHERE o.tenant_id = ANY (scope) AND o.tenant_id = b.tenant_id AND o.subject = b.subject
               AND o.epoch = b.epoch AND o.holder IS NOT NULL
            RETURNING b.n, b.tenant_id, b.subject, b.track_id
        ), closed AS (
            UPDATE sends AS d
               SET outcome = 'received', answered_at = p_at, track_id = moved.track_id
              FROM moved
             WHERE d.tenant_id = ANY (scope) AND d.tenant_id = moved.tenant_id AND d.submission_id = moved.subject
               AND d.submission_id BETWEEN span.first AND span.last AND d.outcome IN ('intended', 'unknown')
        ), noted AS (
            UPDATE submissions AS s
               SET track_id = moved.track_id, updated_at = p_at, first_answer_at = coalesce(s.first_answer_at, p_at)
              FROM moved
             WHERE s.tenant_id = ANY (scope) AND s.tenant_id = moved.tenant_id AND s.submission_id = moved.subject
               AND s.submission_id BETWEEN span.first AND span.last
        )
        SELECT array_agg(moved.n ORDER BY moved.n) AS places, array_agg(moved.tenant_id ORDER BY moved.n) AS tenants,
               array_agg(moved.subject ORDER BY moved.n) AS subjects, array_agg(last.seq ORDER BY moved.n) AS seqs,
               array_agg(last.hash ORDER BY moved.n) AS hashes
          INTO done
          FROM moved
          LEFT JOIN LATERAL (SELECT e.seq, e.hash
                               FROM submission_events AS e
                              WHERE e.tenant_id = ANY (scope) AND e.tenant_id = moved.tenant_id
                                AND e.submission_id = moved.subject
                                AND e.submission_id BETWEEN span.first AND span.last
                              ORDER BY e.seq DESC
                              LIMIT 1) AS last ON true;
        CONTINUE WHEN done.places IS NULL;
        PERFORM follow_events(scope, done.tenants, done.subjects, done.seqs, done.hashes, p_at, 'received', ARRAY(
            SELECT jsonb_build_object('trackId', p_track_ids[x.n], 'reply', p_replies[x.n])
              FROM unnest(done.places) WITH ORDINALITY AS x (n, place)
             ORDER BY x.place));
        FOR n IN 1 .. cardinality(done.places) LOOP
            answers[done.places[n]] := CASE WHEN leased[done.places[n]] = 1 THEN 'going on' ELSE 'received' END;
        END LOOP;
    END LOOP;
    RETURN answers;
END
$$;

CREATE OR REPLACE FUNCTION book_verdict_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_statuses text[], p_track_ids text[],
    p_responses jsonb[], p_number_fates text[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    this_month date := utc_month(p_at);
    mine uuid[] := array_fill(NULL::uuid, ARRAY[cardinality(p_subjects)]);
    span record := span_of(p_subjects);
    going_on uuid[] := mine;
    senders bigint[] := ARRAY(
        SELECT t.tenant_id FROM tenants AS t WHERE t.tenant_id = ANY (p_tenants) AND t.sends_to_receivers);
    scope bigint[];
    frozen bigint;
    done record;
BEGIN
    FOR scope IN SELECT * FROM scopes_of(p_tenants) LOOP
        WITH gone AS (
            DELETE FROM outbox AS o
             USING unnest(p_tenants, p_subjects, p_epochs, p_statuses, p_track_ids, p_responses, p_number_fates)
                   WITH ORDINALITY AS b (tenant_id, subject, epoch, status, track_id, response, number_fate, n)
             WHERE o.tenant_id = ANY (scope) AND o.tenant_id = b.tenant_id AND o.subject = b.subject
               AND o.epoch = b.epoch AND o.holder IS NOT NULL
            RETURNING b.n, b.tenant_id, b.subject, b.status, b.track_id, b.response, b.number_fate
        ), closed AS (
            UPDATE sends AS d
               SET outcome = 'received', answered_at = p_at, track_id = gone.track_id
              FROM gone
             WHERE d.tenant_id = ANY (scope) AND d.tenant_id = gone.tenant_id AND d.submission_id = gone.subject
               AND d.submission_id BETWEEN span.first AND span.last AND d.outcome IN ('intended', 'unknown')
        ), decided AS (
            UPDATE submissions AS s
               SET status = gone.status, track_id = coalesce(gone.track_id, s.track_id), response = gone.response,
                   number_fate = gone.number_fate, updated_at = p_at, verdict_at = p_at,
                   first_answer_at = coalesce(s.first_answer_at, p_at)
              FROM gone
             WHERE s.tenant_id = ANY (scope) AND s.tenant_id = gone.tenant_id AND s.submission_id = gone.subject
               AND s.submission_id BETWEEN span.first AND span.last
            RETURNING gone.n, s.environment = 'ecf' AND s.status IN ('Aceptado', 'Aceptado Condicional') AS counts,
                      s.root = 'ACECF' OR (s.root = 'ECF' AND s.tenant_id = ANY (senders)) AS may_go_on
        )
        SELECT array_agg(gone.n ORDER BY gone.n) AS places, array_agg(gone.tenant_id ORDER BY gone.n) AS tenants,
               array_agg(gone.subject ORDER BY gone.n) AS subjects, array_agg(last.seq ORDER BY gone.n) AS seqs,
               array_agg(last.hash ORDER BY gone.n) AS hashes,
               array_agg(CASE WHEN decided.counts AND (SELECT t.enabled
                                                         FROM billing_terms AS t
                                                        WHERE t.tenant_id = ANY (scope) AND t.tenant_id = gone.tenant_id
                                                          AND t.since <= p_at
                                                        ORDER BY t.since DESC
                                                        LIMIT 1) THEN this_month END ORDER BY gone.n) AS billed,
               array_agg(decided.may_go_on ORDER BY gone.n) AS may_go_on
          INTO done
          FROM gone
          LEFT JOIN decided ON decided.n = gone.n
          LEFT JOIN LATERAL (SELECT e.seq, e.hash
                               FROM submission_events AS e
                              WHERE e.tenant_id = ANY (scope) AND e.tenant_id = gone.tenant_id
                                AND e.submission_id = gone.subject
                                AND e.submission_id BETWEEN span.first AND span.last
                              ORDER BY e.seq DESC
                              LIMIT 1) AS last ON true;
        CONTINUE WHEN done.places IS NULL;
        PERFORM follow_events(scope, done.tenants, done.subjects, done.seqs, done.hashes, p_at, 'verdict', ARRAY(
            SELECT jsonb_build_object('status', p_statuses[x.n], 'response', p_responses[x.n],
                                      'numberFate', p_number_fates[x.n])
              FROM unnest(done.places) WITH ORDINALITY AS x (n, place)
             ORDER BY x.place));
        IF num_nonnulls(VARIADIC done.billed) = 0 THEN
            INSERT INTO usage_ends (tenant_id, submission_id, noted_at, billed_in)
            SELECT s.tenant_id, s.submission_id, moment, NULL
              FROM submissions AS s
              JOIN unnest(done.tenants, done.subjects) AS x (tenant_id, subject)
                ON s.tenant_id = x.tenant_id AND s.submission_id = x.subject
             WHERE s.tenant_id = ANY (scope) AND s.submission_id BETWEEN span.first AND span.last
            ON CONFLICT DO NOTHING;
        ELSE
            FOR frozen IN
                INSERT INTO usage_ends (tenant_id, submission_id, noted_at, billed_in)
                SELECT s.tenant_id, s.submission_id, moment, x.billed
                  FROM submissions AS s
                  JOIN unnest(done.tenants, done.subjects, done.billed) AS x (tenant_id, subject, billed)
                    ON s.tenant_id = x.tenant_id AND s.submission_id = x.subject
                 WHERE s.tenant_id = ANY (scope) AND s.submission_id BETWEEN span.first AND span.last
                ON CONFLICT DO NOTHING
                RETURNING CASE WHEN billed_in IS NOT NULL THEN tenant_id END
            LOOP
                IF frozen IS NOT NULL AND NOT EXISTS (
                    SELECT 1 FROM billing_months AS m WHERE m.tenant_id = frozen AND m.month = this_month) THEN
                    PERFORM freeze_month(frozen, this_month, p_at);
                END IF;
            END LOOP;
        END IF;
        FOR n IN 1 .. cardinality(done.places) LOOP
            mine[done.places[n]] := done.subjects[n];
            IF done.may_go_on[n] THEN
                going_on[done.places[n]] := done.subjects[n];
            END IF;
        END LOOP;
    END LOOP;
    PERFORM tell_outcomes(p_tenants, mine, p_at);
    PERFORM begin_deliveries(p_tenants, going_on, p_statuses, p_at);
    RETURN mine;
END
$$;

GRANT EXECUTE ON FUNCTION scopes_of, leases_unless_paused, demand_all, follow_events TO fe_worker;
