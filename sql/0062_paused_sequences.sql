-- A number that a sequence gave, and that another document of the same issuer holds at the authority, says that this database has lost rows
-- (a failover to a standby that lacked them, a backup that was restored), or that somebody else draws from the same range. The next
-- numbers are held as likely. So the sequence is paused, and draws are refused, until its next number is set or it is resumed.

-- Since when; for which number; and when it was last resumed, or its next number set: what was accepted before that pauses it no more.
ALTER TABLE sequences
ADD COLUMN paused_at timestamptz,
ADD COLUMN paused_for text,
ADD COLUMN resumed_at timestamptz;

-- Pause the sequence that gave a submission its number, which another document holds. 'paused': now. 'known': it was paused before, or resumed
-- since that number was given, or there is none any more. NULL: the number came with the document, or a client asked for this answer.
CREATE FUNCTION pause_sequence(p_tenant bigint, p_submission uuid) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
    given record;
BEGIN
    SELECT s.environment, s.e_ncf, s.submitted_at INTO given
      FROM submissions AS s
      JOIN submission_events AS e
        ON e.tenant_id = p_tenant AND e.submission_id = p_submission AND e.seq = 1 AND e.kind = 'accepted'
     WHERE s.tenant_id = p_tenant AND s.submission_id = p_submission AND (e.detail ->> 'drawn')::boolean
       AND NOT EXISTS (SELECT FROM simulations AS z WHERE z.tenant_id = p_tenant AND z.submission_id = p_submission);
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE sequences AS q
       SET paused_at = clock_timestamp(), paused_for = given.e_ncf
     WHERE q.tenant_id = p_tenant AND q.environment = given.environment AND q.prefix = left(given.e_ncf, 3)
       AND q.paused_at IS NULL AND (q.resumed_at IS NULL OR q.resumed_at < given.submitted_at);
    RETURN CASE WHEN FOUND THEN 'paused' ELSE 'known' END;
END
$$;

GRANT UPDATE (paused_at, paused_for) ON sequences TO fe_worker;
GRANT EXECUTE ON FUNCTION pause_sequence TO fe_worker;

-- As before (0059) but for that.
CREATE OR REPLACE FUNCTION draw_number(p_tenant bigint, p_environment text, p_prefix text, p_at timestamptz)
RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    number bigint;
    free bigint;
    last bigint;
    set_at timestamptz;
    found record;
BEGIN
    SELECT q.min_number, q.current_number INTO found
      FROM sequences AS q
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix
       AND q.is_active AND q.paused_at IS NULL AND NOT sequence_is_over(q.expire_at, p_at)
       FOR NO KEY UPDATE;
    free := take_returned_number(p_tenant, p_environment, p_prefix, found.min_number, found.current_number);
    IF free IS NOT NULL THEN
        RETURN free;
    END IF;
    UPDATE sequences AS q
       SET current_number = q.current_number + 1, updated_at = p_at
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix
       AND q.is_active AND q.paused_at IS NULL AND q.current_number <= q.max_number AND NOT sequence_is_over(q.expire_at, p_at)
    RETURNING q.current_number - 1, q.max_number, q.set_at INTO number, last, set_at;
    free := first_free_number(p_tenant, p_environment, p_prefix, number, set_at, p_at);
    IF number IS NULL OR free > last THEN
        PERFORM refuse_to_draw(p_tenant, p_environment, p_prefix, p_at);
    END IF;
    IF free > number THEN
        UPDATE sequences AS q
           SET current_number = free + 1
         WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix;
    END IF;
    RETURN free;
END
$$;

-- As before (0012) but for that.
CREATE OR REPLACE FUNCTION refuse_to_draw(p_tenant bigint, p_environment text, p_prefix text, p_at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    found record;
BEGIN
    SELECT q.is_active, q.expire_at, q.paused_at IS NOT NULL AS is_paused INTO found
      FROM sequences AS q
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix;
    IF found.is_active IS NULL OR NOT found.is_active THEN
        RAISE EXCEPTION 'no active NCF sequence for %', p_prefix USING ERRCODE = 'FE001';
    ELSIF sequence_is_over(found.expire_at, p_at) THEN
        RAISE EXCEPTION 'the NCF sequence for % has expired', p_prefix USING ERRCODE = 'FE002';
    ELSIF found.is_paused THEN
        RAISE EXCEPTION 'the NCF sequence for % is paused', p_prefix USING ERRCODE = 'FE012';
    END IF;
    RAISE EXCEPTION 'the NCF sequence for % is used up', p_prefix USING ERRCODE = 'FE003';
END
$$;

-- As before (0050) but for that: a next number that is set, or that a new range brings, and being told to be active resume it.
CREATE OR REPLACE FUNCTION change_sequence(
    p_tenant bigint, p_environment text, p_prefix text, p_min bigint, p_max bigint, p_next bigint,
    p_sets_expiry boolean, p_expire_at timestamptz, p_is_active boolean, p_at timestamptz
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    was record;
    new_min bigint;
    new_max bigint;
    resumes boolean;
BEGIN
    SELECT q.min_number, q.max_number, q.current_number INTO was
      FROM sequences AS q
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix
       FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'none';
    END IF;
    new_min := coalesce(p_min, was.min_number);
    new_max := coalesce(p_max, was.max_number);
    IF new_min > new_max THEN
        RETURN 'range';
    ELSIF p_next NOT BETWEEN new_min AND new_max + 1 THEN
        RETURN 'outside';
    ELSIF p_next < was.current_number AND EXISTS (
        SELECT 1
          FROM held_numbers AS n
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = n.submission_id
          JOIN sends AS x ON x.tenant_id = p_tenant AND x.submission_id = n.submission_id
         WHERE n.tenant_id = p_tenant AND n.environment = p_environment
           AND n.e_ncf BETWEEN p_prefix || lpad(p_next::text, 10, '0') AND p_prefix || lpad(new_max::text, 10, '0')
           AND s.number_fate <> 'reusable' AND x.outcome <> 'not_sent') THEN
        RETURN 'sent';
    END IF;
    resumes := p_next IS NOT NULL OR coalesce(p_is_active, false)
               OR next_number_in(was.current_number, was.max_number, new_min, new_max) <> was.current_number;
    UPDATE sequences AS q
       SET former_ranges = with_former_range(
               q.former_ranges, q.min_number, q.max_number, q.expire_at, new_min, new_max),
           set_at = CASE WHEN p_next IS NOT NULL OR q.min_number <> new_min OR q.max_number <> new_max THEN p_at ELSE q.set_at END,
           min_number = new_min, max_number = new_max,
           current_number = coalesce(p_next, next_number_in(q.current_number, q.max_number, new_min, new_max)),
           expire_at = CASE WHEN p_sets_expiry THEN p_expire_at ELSE q.expire_at END,
           is_active = coalesce(p_is_active, q.is_active), updated_at = p_at,
           paused_at = CASE WHEN resumes THEN NULL ELSE q.paused_at END,
           paused_for = CASE WHEN resumes THEN NULL ELSE q.paused_for END,
           resumed_at = CASE WHEN resumes THEN p_at ELSE q.resumed_at END
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix;
    RETURN 'changed';
END
$$;

-- As before (0059) but for that.
CREATE OR REPLACE FUNCTION accept_submissions(
    p_tenants bigint [], p_submissions uuid [], p_ats timestamptz [], p_environments text [], p_api_keys text [],
    p_client_requests text [], p_body_digests bytea [], p_formats text [], p_roots text [], p_types text [],
    p_e_ncfs text [], p_issuers text [], p_buyers text [], p_as_users text [], p_as_user_ids uuid [],
    p_originals bytea [], p_draw_prefixes text [], p_holder text DEFAULT NULL, p_leases interval [] DEFAULT NULL
) RETURNS TABLE (
    place int, outcome text, submission_id uuid, status text, e_ncf text, body_matched boolean, numbers_skipped bigint,
    numbers_left bigint, refusal text, leased boolean
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    every int := cardinality(p_submissions);
    outcomes text[] := array_fill('accepted'::text, ARRAY[every]);
    refusals text[] := array_fill(NULL::text, ARRAY[every]);
    numbers text[] := p_e_ncfs;
    skipped bigint[] := array_fill(NULL::bigint, ARRAY[every]);
    remaining bigint[] := array_fill(NULL::bigint, ARRAY[every]);
    leases interval[] := array_fill(NULL::interval, ARRAY[every]);
    firsts uuid[] := '{}';
    wanted record;
    found record;
    one int;
    drawn bigint;
    returned boolean;
    next bigint;
    moved_at timestamptz;
BEGIN
    PERFORM set_config('lock_timeout', '250ms', true);

    -- Who draws from a sequence that gives nothing is refused before anything of it is written, unless it is a repeat.
    FOR wanted IN
        SELECT x.tenant, x.environment, x.prefix, array_agg(x.place::int) AS places
          FROM unnest(p_tenants, p_environments, p_draw_prefixes) WITH ORDINALITY
               AS x (tenant, environment, prefix, place)
         WHERE x.prefix IS NOT NULL
         GROUP BY x.tenant, x.environment, x.prefix
    LOOP
        PERFORM name_tenant(wanted.tenant);
        SELECT q.is_active, q.expire_at, q.paused_at IS NOT NULL AS is_paused,
               q.current_number > q.max_number AND NOT EXISTS (
                   SELECT 1
                     FROM returned_numbers AS r
                    WHERE r.tenant_id = wanted.tenant AND r.environment = wanted.environment
                      AND r.prefix = wanted.prefix AND r.number >= q.min_number) AS used_up INTO found
          FROM sequences AS q
         WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix;
        FOREACH one IN ARRAY wanted.places LOOP
            refusals[one] := CASE
                WHEN found.is_active IS NULL OR NOT found.is_active THEN 'none'
                WHEN sequence_is_over(found.expire_at, p_ats[one]) THEN 'expired'
                WHEN found.is_paused THEN 'paused'
                WHEN found.used_up THEN 'used up'
            END;
        END LOOP;
    END LOOP;
    FOR one IN SELECT x.place FROM unnest(refusals) WITH ORDINALITY AS x (refusal, place) WHERE x.refusal IS NOT NULL
    LOOP
        PERFORM name_tenant(p_tenants[one]);
        IF EXISTS (
            SELECT 1 FROM client_requests AS c
             WHERE c.tenant_id = p_tenants[one] AND c.environment = p_environments[one]
               AND c.client_request_id = p_client_requests[one])
           OR EXISTS (
            SELECT 1
              FROM unnest(p_tenants, p_environments, p_client_requests, outcomes) WITH ORDINALITY
                   AS x (tenant, environment, client_request, outcome, place)
             WHERE x.tenant = p_tenants[one] AND x.environment = p_environments[one]
               AND x.client_request = p_client_requests[one] AND x.place < one AND x.outcome = 'accepted') THEN
            refusals[one] := NULL;
        ELSE
            outcomes[one] := 'refused';
        END IF;
    END LOOP;

    -- Sorted, so that two calls that have ids in common wait for each other in one direction.
    IF array_remove(p_client_requests, NULL) <> '{}' THEN
        FOR found IN
            INSERT INTO client_requests (tenant_id, environment, client_request_id, submission_id)
            SELECT name_tenant(x.tenant), x.environment, x.client_request, x.submission
              FROM (
                SELECT y.tenant, y.environment, y.client_request, y.submission
                  FROM unnest(p_tenants, p_environments, p_client_requests, p_submissions, outcomes) WITH ORDINALITY
                       AS y (tenant, environment, client_request, submission, outcome, place)
                 WHERE y.client_request IS NOT NULL AND y.outcome = 'accepted'
                 ORDER BY y.tenant, y.environment, y.client_request, y.place
              ) AS x
            ON CONFLICT DO NOTHING
            RETURNING submission_id
        LOOP
            firsts := firsts || found.submission_id;
        END LOOP;
        FOR one IN 1 .. every LOOP
            IF outcomes[one] = 'accepted' AND p_client_requests[one] IS NOT NULL
               AND NOT p_submissions[one] = ANY (firsts) THEN
                outcomes[one] := 'deduped';
            END IF;
        END LOOP;
    END IF;

    -- Each sequence once: drawn numbers follow one another in the order of arrival, and it is changed by one statement.
    FOR wanted IN
        SELECT x.tenant, x.environment, x.prefix, array_agg(x.place::int ORDER BY x.place) AS places,
               bool_or(x.draws) AS draws, max(x.number) AS highest
          FROM (
            SELECT y.tenant, y.environment, coalesce(y.draw_prefix, left(y.e_ncf, 3)) AS prefix, y.place,
                   y.draw_prefix IS NOT NULL AS draws,
                   CASE WHEN y.draw_prefix IS NULL THEN substr(y.e_ncf, 4)::bigint END AS number
              FROM unnest(p_tenants, p_environments, p_draw_prefixes, p_e_ncfs, p_roots, outcomes) WITH ORDINALITY
                   AS y (tenant, environment, draw_prefix, e_ncf, root, outcome, place)
             WHERE y.outcome = 'accepted'
               AND (y.draw_prefix IS NOT NULL OR (y.e_ncf IS NOT NULL AND y.root IN ('ECF', 'RFCE')))
          ) AS x
         GROUP BY x.tenant, x.environment, x.prefix
         ORDER BY x.tenant, x.environment, x.prefix
    LOOP
        PERFORM name_tenant(wanted.tenant);
        -- A number that was passed already moves nothing, and locks nothing.
        CONTINUE WHEN NOT wanted.draws AND NOT EXISTS (
            SELECT 1 FROM sequences AS q
             WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix
               AND q.current_number <= wanted.highest);
        SELECT q.is_active AND q.paused_at IS NULL AS gives, q.expire_at, q.min_number, q.current_number, q.max_number, q.set_at INTO found
          FROM sequences AS q
         WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix
           FOR NO KEY UPDATE;
        next := found.current_number;
        returned := wanted.draws AND EXISTS (
            SELECT 1
              FROM returned_numbers AS r
             WHERE r.tenant_id = wanted.tenant AND r.environment = wanted.environment AND r.prefix = wanted.prefix);
        FOREACH one IN ARRAY wanted.places LOOP
            IF p_draw_prefixes[one] IS NULL THEN
                drawn := substr(p_e_ncfs[one], 4)::bigint;
                IF drawn BETWEEN next AND found.max_number THEN
                    skipped[one] := drawn - next;
                    remaining[one] := found.max_number - drawn;
                    next := drawn + 1;
                    moved_at := p_ats[one];
                END IF;
                CONTINUE;
            END IF;
            IF found.gives IS NOT TRUE OR sequence_is_over(found.expire_at, p_ats[one]) THEN
                RAISE EXCEPTION 'a sequence ended among several draws' USING ERRCODE = 'FE010';
            END IF;
            IF returned THEN
                drawn := take_returned_number(
                    wanted.tenant, wanted.environment, wanted.prefix, found.min_number, found.current_number);
                returned := drawn IS NOT NULL;
                IF returned THEN
                    numbers[one] := wanted.prefix || lpad(drawn::text, 10, '0');
                    CONTINUE;
                END IF;
            END IF;
            next := first_free_number(wanted.tenant, wanted.environment, wanted.prefix, next, found.set_at, p_ats[one]);
            IF next > found.max_number THEN
                RAISE EXCEPTION 'a sequence ended among several draws' USING ERRCODE = 'FE010';
            END IF;
            numbers[one] := wanted.prefix || lpad(next::text, 10, '0');
            next := next + 1;
            moved_at := p_ats[one];
        END LOOP;
        IF next > found.current_number THEN
            UPDATE sequences AS q
               SET current_number = next, updated_at = moved_at
             WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix;
        END IF;
    END LOOP;

    INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, client_request_id, body_digest, format,
                             root, ecf_type, e_ncf, issuer_rnc, buyer_rnc, as_user, as_user_id, submitted_at,
                             updated_at)
    SELECT name_tenant(x.tenant), x.submission, x.environment, x.api_key,
           x.client_request, x.body_digest, x.format, x.root, x.type, x.e_ncf, x.issuer, x.buyer, x.as_user,
           x.as_user_id, x.at, x.at
      FROM unnest(p_tenants, p_submissions, p_environments, p_api_keys, p_client_requests, p_body_digests, p_formats,
                  p_roots, p_types, numbers, p_issuers, p_buyers, p_as_users, p_as_user_ids, p_ats, outcomes)
           AS x (tenant, submission, environment, api_key, client_request, body_digest, format, root, type, e_ncf,
                 issuer, buyer, as_user, as_user_id, at, outcome)
     WHERE x.outcome = 'accepted';
    INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
    SELECT name_tenant(x.tenant), x.submission, 'original', x.original
      FROM unnest(p_tenants, p_submissions, p_originals, outcomes) AS x (tenant, submission, original, outcome)
     WHERE x.outcome = 'accepted';
    IF num_nonnulls(VARIADIC p_leases) > 0 THEN
        leases := ARRAY(
            SELECT CASE WHEN x.outcome = 'accepted'
                         AND NOT EXISTS (
                            SELECT 1
                              FROM pauses AS p
                             WHERE p.tenant_id IN (0, x.tenant) AND p.environment IN ('', x.environment))
                        THEN x.lease END
              FROM unnest(p_tenants, p_environments, outcomes, p_leases) WITH ORDINALITY
                   AS x (tenant, environment, outcome, lease, place)
             ORDER BY x.place);
    END IF;
    INSERT INTO outbox (tenant_id, subject, stage, environment, run_at, attempt, epoch, holder, entered_at)
    SELECT name_tenant(x.tenant), x.submission, 'sign', x.environment,
           clock_timestamp() + coalesce(x.lease, interval '0'), (x.lease IS NOT NULL)::int, (x.lease IS NOT NULL)::int,
           CASE WHEN x.lease IS NOT NULL THEN p_holder END, clock_timestamp()
      FROM unnest(p_tenants, p_submissions, p_environments, outcomes, leases)
           AS x (tenant, submission, environment, outcome, lease)
     WHERE x.outcome = 'accepted';
    INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
    SELECT name_tenant(x.tenant), x.submission, 1, x.at, 'accepted', x.detail,
           event_hash(NULL, x.tenant, x.submission, 1, x.at, 'accepted', x.detail)
      FROM (
        SELECT y.tenant, y.submission, y.at,
               jsonb_strip_nulls(jsonb_build_object('root', y.root, 'eNCF', y.e_ncf,
                                                    'drawn', y.draw_prefix IS NOT NULL,
                                                    'sha256', encode(sha256(y.original), 'hex'))) AS detail
          FROM unnest(p_tenants, p_submissions, p_ats, p_roots, numbers, p_draw_prefixes, p_originals, outcomes)
               AS y (tenant, submission, at, root, e_ncf, draw_prefix, original, outcome)
         WHERE y.outcome = 'accepted'
        OFFSET 0  -- once for both places that it goes to
      ) AS x;

    RETURN QUERY
    SELECT x.place::int, x.outcome, x.submission, 'queued'::text, x.e_ncf, true, x.numbers_skipped, x.numbers_left,
           x.refusal, x.lease IS NOT NULL
      FROM unnest(p_submissions, outcomes, numbers, skipped, remaining, refusals, leases) WITH ORDINALITY
           AS x (submission, outcome, e_ncf, numbers_skipped, numbers_left, refusal, lease, place)
     WHERE x.outcome <> 'deduped';
    FOR one IN SELECT x.place FROM unnest(outcomes) WITH ORDINALITY AS x (outcome, place) WHERE x.outcome = 'deduped'
    LOOP
        PERFORM name_tenant(p_tenants[one]);
        RETURN QUERY
        SELECT one, 'deduped'::text, s.submission_id, s.status::text, s.e_ncf, s.body_digest = p_body_digests[one],
               NULL::bigint, NULL::bigint, NULL::text, false
          FROM client_requests AS c
          JOIN submissions AS s ON s.tenant_id = p_tenants[one] AND s.submission_id = c.submission_id
         WHERE c.tenant_id = p_tenants[one] AND c.environment = p_environments[one]
           AND c.client_request_id = p_client_requests[one];
    END LOOP;
END
$$;
