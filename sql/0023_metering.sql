-- Usage by UTC day, kept up to date instead of counted again at each call (docs/decisions/counted-once.md).
--
-- A submission that ends leaves a note in the transaction that ends it. Notes are folded into the days, and go, in one
-- transaction; so each end is counted once, however late it is committed and whatever anybody's clock says, and a day
-- plus the notes that are left is exact at any moment. What is still on its way when a day is closed is carried: counted
-- for what is known of it, and remembered, so that its end adds the rest.

-- What has ended and is not folded into the days yet.
CREATE TABLE usage_ends (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    noted_at timestamptz NOT NULL,
    CONSTRAINT usage_ends_pk PRIMARY KEY (tenant_id, submission_id)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

-- What was on its way when its day was closed: it is among the day's submitted, and, where `answered`, in a latency.
CREATE TABLE usage_carried (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    answered boolean NOT NULL,
    CONSTRAINT usage_carried_pk PRIMARY KEY (tenant_id, submission_id)
);

-- `settled` are those of the day's submitted that ended on the same day. Latencies are of those first answered on the day.
CREATE TABLE usage_days (
    tenant_id bigint NOT NULL,
    utc_day date NOT NULL,
    environment environment NOT NULL,
    submitted bigint NOT NULL,
    settled bigint NOT NULL,
    accepted bigint NOT NULL,
    conditional bigint NOT NULL,
    rejected bigint NOT NULL,
    answered bigint NOT NULL,
    latency_us bigint NOT NULL,
    p95_us bigint,
    CONSTRAINT usage_days_pk PRIMARY KEY (tenant_id, utc_day, environment)
) WITH (fillfactor = 50);

-- How many latencies of a day fell in which bucket (latency_bucket). Apart, because only who adds to it reads it.
CREATE TABLE usage_latency (
    tenant_id bigint NOT NULL,
    utc_day date NOT NULL,
    environment environment NOT NULL,
    counts bigint [] NOT NULL,
    CONSTRAINT usage_latency_pk PRIMARY KEY (tenant_id, utc_day, environment)
) WITH (fillfactor = 50);

-- Whose days are kept here, and before which day they are closed: complete but for what is not committed or folded yet.
-- NULL: what is in the days is not yet all. Who adds to a tenant's days holds this row; so one does at a time.
CREATE TABLE usage_marks (
    tenant_id bigint NOT NULL,
    closed_until date,
    CONSTRAINT usage_marks_pk PRIMARY KEY (tenant_id),
    CONSTRAINT usage_marks_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id)
) WITH (fillfactor = 50);

-- The last batch of request counts that each process has written: one that comes again is not added again.
CREATE TABLE request_flushes (
    process uuid NOT NULL,
    batch bigint NOT NULL,
    written_at timestamptz NOT NULL,
    CONSTRAINT request_flushes_pk PRIMARY KEY (process)
) WITH (fillfactor = 50);

-- Which process does what one is enough for. It only saves work: what is done is right when two do it.
CREATE TABLE duties (
    duty text NOT NULL,
    holder text NOT NULL,
    held_until timestamptz NOT NULL,
    CONSTRAINT duties_pk PRIMARY KEY (duty)
) WITH (fillfactor = 50);

-- Take a duty, or keep it, for a while by the server's clock; false: somebody else has it.
CREATE FUNCTION take_duty(p_duty text, p_holder text, p_for interval) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
BEGIN
    INSERT INTO duties AS d (duty, holder, held_until)
    VALUES (p_duty, p_holder, moment + p_for)
    ON CONFLICT (duty) DO UPDATE
       SET holder = EXCLUDED.holder, held_until = EXCLUDED.held_until
     WHERE d.holder = EXCLUDED.holder OR d.held_until < moment;
    RETURN FOUND;
END
$$;

-- Add a process's counts, once: false when this batch, or a later one of the same process, was written before.
CREATE FUNCTION flush_requests(
    p_process uuid, p_batch bigint, p_tenants bigint[], p_environments text[], p_days date[], p_succeeded bigint[],
    p_failed bigint[], p_bytes_in bigint[], p_bytes_out bigint[], p_key_tenants bigint[], p_keys text[],
    p_used_at timestamptz[]
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO request_flushes AS f (process, batch, written_at)
    VALUES (p_process, p_batch, clock_timestamp())
    ON CONFLICT (process) DO UPDATE
       SET batch = EXCLUDED.batch, written_at = EXCLUDED.written_at
     WHERE f.batch < EXCLUDED.batch;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    FOR n IN 1 .. cardinality(p_tenants) LOOP
        PERFORM count_requests(p_tenants[n], p_environments[n], p_days[n], p_succeeded[n], p_failed[n],
                               p_bytes_in[n], p_bytes_out[n]);
    END LOOP;
    FOR n IN 1 .. cardinality(p_keys) LOOP
        PERFORM note_key_use(p_key_tenants[n], p_keys[n], p_used_at[n]);
    END LOOP;
    RETURN true;
END
$$;

-- The bucket of a latency, from 1: each is 2 % wider than the one before, and the first ends at a millisecond. What a
-- bucket stands for is within 1 % of all that is in it. (10 s: bucket 462; a month: 1085.)
CREATE FUNCTION latency_bucket(p_us bigint) RETURNS int
LANGUAGE sql IMMUTABLE STRICT
RETURN 1 + ceil(ln(greatest(p_us, 1000) / 1000.0::double precision) / ln(1.01::double precision / 0.99))::int;

-- The microseconds that a bucket stands for.
CREATE FUNCTION latency_of_bucket(p_bucket int) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT
RETURN round(0.99 * 1000 * power(1.01::double precision / 0.99, p_bucket - 1))::bigint;

-- The counts of some latencies, each at the place of its bucket.
CREATE FUNCTION sketch_of(p_us bigint[]) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT
RETURN (
    WITH filled AS (
        SELECT
            latency_bucket(x.us) AS bucket,
            count(*) AS n
          FROM unnest(p_us) AS x (us)
         GROUP BY 1
    )

    SELECT array_agg(coalesce(f.n, 0) ORDER BY g.bucket)
      FROM generate_series(1, (SELECT max(filled.bucket) FROM filled)) AS g (bucket)
      LEFT JOIN filled AS f ON g.bucket = f.bucket
);

-- Two sketches in one: what one process saw and what another did.
CREATE FUNCTION sketch_sum(p_one bigint[], p_other bigint[]) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT
RETURN (
    SELECT array_agg(coalesce(x.one, 0) + coalesce(x.other, 0) ORDER BY x.bucket)
      FROM unnest(p_one, p_other) WITH ORDINALITY AS x (one, other, bucket)
);

-- The 95th percentile in microseconds: what the least bucket stands for, up to which 95 of 100 lie.
CREATE FUNCTION sketch_p95(p_counts bigint[]) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT
RETURN (
    SELECT latency_of_bucket(min(x.bucket)::int)
      FROM (
          SELECT
              c.bucket,
              sum(c.n) OVER (ORDER BY c.bucket) AS upto,
              sum(c.n) OVER () AS total
            FROM unnest(p_counts) WITH ORDINALITY AS c (n, bucket)
      ) AS x
     WHERE x.upto * 100 >= x.total * 95
);

-- A span in microseconds; one that a clock put back made negative is none.
CREATE FUNCTION microseconds_of(p_span interval) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT
RETURN greatest((extract(EPOCH FROM p_span) * 1000000)::bigint, 0);

-- Note that submissions have ended; in the transaction that ends them. NULL among the subjects is nobody.
CREATE FUNCTION note_ends(p_tenants bigint[], p_subjects uuid[], p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage_ends (tenant_id, submission_id, noted_at)
    SELECT b.tenant_id, b.subject, clock_timestamp()
      FROM unnest(p_tenants, p_subjects) AS b (tenant_id, subject)
     WHERE b.subject IS NOT NULL
    ON CONFLICT DO NOTHING;
END
$$;

-- Add what is known of submissions to a tenant's days: of these that they were submitted, of those their latency, and of
-- those how they ended. None of it changes any more. The caller holds the tenant's mark.
CREATE FUNCTION add_usage(p_tenant bigint, p_submitted uuid[], p_answered uuid[], p_ended uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage_latency AS l (tenant_id, utc_day, environment, counts)
    SELECT p_tenant, (s.first_answer_at AT TIME ZONE 'UTC')::date, s.environment,
           sketch_of(array_agg(microseconds_of(s.first_answer_at - s.submitted_at)))
      FROM submissions AS s
     WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_answered)
     GROUP BY 2, 3
    ON CONFLICT (tenant_id, utc_day, environment) DO UPDATE
       SET counts = sketch_sum(l.counts, EXCLUDED.counts);

    INSERT INTO usage_days AS d (tenant_id, utc_day, environment, submitted, settled, accepted, conditional, rejected,
                                 answered, latency_us)
    SELECT p_tenant, x.utc_day, x.environment, sum(x.submitted), sum(x.settled), sum(x.accepted), sum(x.conditional),
           sum(x.rejected), sum(x.answered), sum(x.latency_us)
      FROM (
        SELECT s.environment, (s.submitted_at AT TIME ZONE 'UTC')::date AS utc_day, 1 AS submitted, 0 AS settled,
               0 AS accepted, 0 AS conditional, 0 AS rejected, 0 AS answered, 0::bigint AS latency_us
          FROM submissions AS s
         WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_submitted)
         UNION ALL
        SELECT s.environment, (s.submitted_at AT TIME ZONE 'UTC')::date, 0, 1, 0, 0, 0, 0, 0
          FROM submissions AS s
         WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_ended)
           AND (coalesce(s.verdict_at, s.updated_at) AT TIME ZONE 'UTC')::date
               <= (s.submitted_at AT TIME ZONE 'UTC')::date
         UNION ALL
        SELECT s.environment, (s.verdict_at AT TIME ZONE 'UTC')::date, 0, 0, (s.status = 'Aceptado')::int,
               (s.status = 'Aceptado Condicional')::int, (s.status = 'Rechazado')::int, 0, 0
          FROM submissions AS s
         WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_ended) AND s.verdict_at IS NOT NULL
         UNION ALL
        SELECT s.environment, (s.first_answer_at AT TIME ZONE 'UTC')::date, 0, 0, 0, 0, 0, 1,
               microseconds_of(s.first_answer_at - s.submitted_at)
          FROM submissions AS s
         WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_answered)
      ) AS x
     GROUP BY x.utc_day, x.environment
     ORDER BY x.utc_day, x.environment
    ON CONFLICT (tenant_id, utc_day, environment) DO UPDATE
       SET submitted = d.submitted + EXCLUDED.submitted, settled = d.settled + EXCLUDED.settled,
           accepted = d.accepted + EXCLUDED.accepted, conditional = d.conditional + EXCLUDED.conditional,
           rejected = d.rejected + EXCLUDED.rejected, answered = d.answered + EXCLUDED.answered,
           latency_us = d.latency_us + EXCLUDED.latency_us;

    UPDATE usage_days AS d
       SET p95_us = sketch_p95(l.counts)
      FROM usage_latency AS l
     WHERE d.tenant_id = p_tenant AND l.tenant_id = p_tenant AND l.utc_day = d.utc_day
       AND l.environment = d.environment
       AND d.utc_day = ANY (ARRAY(SELECT DISTINCT (s.first_answer_at AT TIME ZONE 'UTC')::date
                                    FROM submissions AS s
                                   WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (p_answered)));
END
$$;

-- Fold up to p_most of a tenant's noted ends into its days; how many they were.
CREATE FUNCTION fold_usage(p_tenant bigint, p_most int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    ended uuid[];
BEGIN
    PERFORM 1 FROM usage_marks AS m WHERE m.tenant_id = p_tenant FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    ended := ARRAY(SELECT e.submission_id
                     FROM usage_ends AS e
                    WHERE e.tenant_id = p_tenant
                    ORDER BY e.submission_id
                    LIMIT p_most);
    IF ended = '{}' THEN
        RETURN 0;
    END IF;
    PERFORM add_usage(
        p_tenant,
        ARRAY(SELECT x.id
                FROM unnest(ended) AS x (id)
               WHERE NOT EXISTS (SELECT 1 FROM usage_carried AS c
                                  WHERE c.tenant_id = p_tenant AND c.submission_id = x.id)),
        ARRAY(SELECT s.submission_id
                FROM submissions AS s
               WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (ended) AND s.first_answer_at IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM usage_carried AS c
                                  WHERE c.tenant_id = p_tenant AND c.submission_id = s.submission_id AND c.answered)),
        ended);
    DELETE FROM usage_carried AS c WHERE c.tenant_id = p_tenant AND c.submission_id = ANY (ended);
    DELETE FROM usage_ends AS e WHERE e.tenant_id = p_tenant AND e.submission_id = ANY (ended);
    RETURN cardinality(ended);
END
$$;

-- Close a tenant's days before p_today (never after what the server's clock calls today): carry what is on its way.
-- False when ends of those days are still to be folded: fold them, and ask again. Closing twice changes nothing.
CREATE FUNCTION close_usage(p_tenant bigint, p_today date) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    until date := least(p_today, (clock_timestamp() AT TIME ZONE 'UTC')::date);
    midnight timestamptz := until::timestamp AT TIME ZONE 'UTC';
    waiting uuid[];
    answered_now uuid[];
BEGIN
    PERFORM 1 FROM usage_marks AS m WHERE m.tenant_id = p_tenant FOR UPDATE;
    IF NOT FOUND OR EXISTS (
        SELECT 1 FROM usage_ends AS e WHERE e.tenant_id = p_tenant AND e.noted_at < midnight) THEN
        RETURN false;
    END IF;
    waiting := ARRAY(
        SELECT x.subject
          FROM (SELECT o.subject FROM outbox AS o WHERE o.tenant_id = p_tenant
                 UNION ALL
                SELECT w.subject FROM dead_letters AS w WHERE w.tenant_id = p_tenant) AS x
         WHERE x.subject < uuid_floor(midnight)
           AND NOT EXISTS (SELECT 1 FROM usage_carried AS c
                            WHERE c.tenant_id = p_tenant AND c.submission_id = x.subject));
    INSERT INTO usage_carried (tenant_id, submission_id, answered)
    SELECT p_tenant, x.id, false FROM unnest(waiting) AS x (id);
    answered_now := ARRAY(
        SELECT s.submission_id
          FROM usage_carried AS c
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = c.submission_id
         WHERE c.tenant_id = p_tenant AND NOT c.answered AND s.first_answer_at IS NOT NULL);
    UPDATE usage_carried AS c
       SET answered = true
     WHERE c.tenant_id = p_tenant AND c.submission_id = ANY (answered_now);
    IF waiting <> '{}' OR answered_now <> '{}' THEN
        PERFORM add_usage(p_tenant, waiting, answered_now, '{}');
    END IF;
    UPDATE usage_marks AS m
       SET closed_until = greatest(m.closed_until, until)
     WHERE m.tenant_id = p_tenant;
    RETURN true;
END
$$;

-- Begin a tenant's days anew from its submissions: what comes out is what would have come. Until they are closed again
-- they are read off the submissions.
CREATE FUNCTION restart_usage(p_tenant bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage_marks (tenant_id, closed_until)
    VALUES (p_tenant, NULL)
    ON CONFLICT (tenant_id) DO UPDATE SET closed_until = NULL;
    DELETE FROM usage_days AS d WHERE d.tenant_id = p_tenant;
    DELETE FROM usage_latency AS l WHERE l.tenant_id = p_tenant;
    DELETE FROM usage_carried AS c WHERE c.tenant_id = p_tenant;
    INSERT INTO usage_ends (tenant_id, submission_id, noted_at)
    SELECT p_tenant, s.submission_id, coalesce(s.verdict_at, s.updated_at)
      FROM submissions AS s
     WHERE s.tenant_id = p_tenant
       AND s.status IN ('Aceptado', 'Aceptado Condicional', 'Rechazado', 'error')
    ON CONFLICT DO NOTHING;
END
$$;

-- The functions that end a submission, as they were (0013, 0010, 0005), and one line more; verdicts also begin what goes
-- to other taxpayers (0022). Those for one submission are the release before's.

CREATE OR REPLACE FUNCTION book_verdict_batch(
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
    PERFORM begin_deliveries(p_tenants, mine, p_statuses, p_at);
    PERFORM note_ends(p_tenants, mine, p_at);
    RETURN mine;
END
$$;

CREATE OR REPLACE FUNCTION book_failure_batch(
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
    PERFORM note_ends(p_tenants, mine, p_at);
    RETURN mine;
END
$$;

CREATE OR REPLACE FUNCTION book_verdict(
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
    PERFORM begin_deliveries(ARRAY[p_tenant], ARRAY[p_subject], ARRAY[p_status], p_at);
    PERFORM note_ends(ARRAY[p_tenant], ARRAY[p_subject], p_at);
    RETURN true;
END
$$;

CREATE OR REPLACE FUNCTION book_failure(
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
    PERFORM note_ends(ARRAY[p_tenant], ARRAY[p_subject], p_at);
    RETURN true;
END
$$;

CREATE OR REPLACE FUNCTION discard_dead_letter(
    p_tenant bigint, p_subject uuid, p_at timestamptz, p_by text, p_reason text, p_note text
)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    last_error text;
    fate text;
BEGIN
    DELETE FROM dead_letters AS d
     WHERE d.tenant_id = p_tenant AND d.subject = p_subject
    RETURNING d.error INTO last_error;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    fate := CASE WHEN EXISTS (
        SELECT 1 FROM sends AS x
         WHERE x.tenant_id = p_tenant AND x.submission_id = p_subject AND x.outcome <> 'not_sent')
        THEN 'unknown' ELSE 'reusable' END;
    UPDATE submissions AS s
       SET status = 'error', number_fate = fate, updated_at = p_at,
           response = coalesce(s.response, '{}'::jsonb)
                      || jsonb_build_object('status', 'error', 'dgiiResponse', s.response -> 'dgiiResponse',
                                            'error', 'given up by an operator' || coalesce(': ' || p_note, '')
                                                     || ' (' || last_error || ')')
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_subject;
    PERFORM record_event(p_tenant, p_subject, p_at, 'discarded',
                         jsonb_build_object('by', p_by, 'reason', p_reason, 'note', p_note, 'numberFate', fate));
    PERFORM note_ends(ARRAY[p_tenant], ARRAY[p_subject], p_at);
    RETURN fate;
END
$$;

DO $$
DECLARE
    walled text;
BEGIN
    FOREACH walled IN ARRAY ARRAY['usage_ends', 'usage_carried', 'usage_days', 'usage_latency', 'usage_marks'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', walled);
        EXECUTE format('CREATE POLICY every_tenant ON %I TO fe_worker, fe_operator USING (true)', walled);
        EXECUTE format('CREATE POLICY every_tenant_read ON %I FOR SELECT TO fe_readonly USING (true)', walled);
        EXECUTE format('CREATE POLICY own_tenant ON %I TO fe_front
                        USING (tenant_id = nullif(current_setting(''fe.tenant'', true), '''')::bigint)', walled);
    END LOOP;
END
$$;

GRANT SELECT ON usage_ends, usage_days, usage_marks TO fe_front;

GRANT SELECT, INSERT, UPDATE ON request_flushes TO fe_front;

GRANT SELECT, INSERT, UPDATE, DELETE ON
usage_ends, usage_carried, usage_days, usage_latency, usage_marks
TO fe_worker, fe_operator;

GRANT SELECT, DELETE ON request_flushes TO fe_worker;

GRANT SELECT, INSERT, UPDATE ON duties TO fe_worker;

GRANT SELECT ON duties TO fe_operator, fe_readonly;

GRANT SELECT ON usage_ends, usage_carried, usage_days, usage_latency, usage_marks TO fe_readonly;

GRANT EXECUTE ON FUNCTION flush_requests TO fe_front;

GRANT EXECUTE ON FUNCTION take_duty TO fe_worker;

GRANT EXECUTE ON FUNCTION note_ends, add_usage, fold_usage, close_usage, restart_usage TO fe_worker, fe_operator;

GRANT EXECUTE ON FUNCTION
latency_bucket, latency_of_bucket, sketch_of, sketch_sum, sketch_p95, microseconds_of
TO fe_worker, fe_operator;
