-- A number belongs to the range that it was given from, and nobody is given one that is somebody's.

-- 1. There is one row for each prefix, and the next range is entered into it while documents wait with numbers of the one before: these
-- were dated by the end of the next, which the authority refuses. So a sequence remembers the ranges that it had.

CREATE TYPE former_range AS (min_number bigint, max_number bigint, expire_at timestamptz);

-- The newest first.
ALTER TABLE sequences ADD COLUMN former_ranges former_range [] NOT NULL DEFAULT '{}';

-- When its range, or its next number, was last set; NULL where that was before this, or by the release before.
ALTER TABLE sequences ADD COLUMN set_at timestamptz;

-- What it remembers once it goes from p_min to p_max: eight ranges at most, a range with an end lasts a year or two. What is changed of a
-- range while it stays the same range is a correction, and holds for all of its numbers; one that has no end tells nothing.
CREATE FUNCTION with_former_range(
    p_former former_range [], p_old_min bigint, p_old_max bigint, p_old_expire_at timestamptz, p_min bigint,
    p_max bigint
) RETURNS former_range []
LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN p_old_expire_at IS NULL OR (p_old_min = p_min AND p_old_max = p_max) THEN p_former
    ELSE (row(p_old_min, p_old_max, p_old_expire_at)::former_range || p_former)[1:8]
END;

-- The end of the latest of these ranges that a number lies in; NULL where none is known.
CREATE FUNCTION former_expiry(p_number bigint, p_former former_range []) RETURNS timestamptz
LANGUAGE sql IMMUTABLE
RETURN (
    SELECT f.expire_at
      FROM unnest(p_former) WITH ORDINALITY AS f (min_number, max_number, expire_at, nth)
     WHERE p_number BETWEEN f.min_number AND f.max_number
     ORDER BY f.nth
     LIMIT 1
);

-- When the range ends that a number belongs to: the one that its sequence has now, if it lies in that; else the latest that it had. Of a
-- number that lies in none that is known (its client has it from elsewhere) the sequence says it, as of any (interface.md#auto-fill).
CREATE FUNCTION expiry_of_number(
    p_e_ncf text, p_min bigint, p_max bigint, p_expire_at timestamptz, p_former former_range []
) RETURNS timestamptz
LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN cardinality(p_former) > 0 AND substr(p_e_ncf, 4)::bigint NOT BETWEEN p_min AND p_max
    THEN coalesce(former_expiry(substr(p_e_ncf, 4)::bigint, p_former), p_expire_at)
    ELSE p_expire_at
END;

GRANT EXECUTE ON FUNCTION with_former_range TO fe_front, fe_portal, fe_operator;
GRANT EXECUTE ON FUNCTION former_expiry, expiry_of_number TO fe_front, fe_portal, fe_operator, fe_worker;

-- As before (0012) but for that.
CREATE OR REPLACE FUNCTION change_sequence(
    p_tenant bigint, p_environment text, p_prefix text, p_min bigint, p_max bigint, p_next bigint,
    p_sets_expiry boolean, p_expire_at timestamptz, p_is_active boolean, p_at timestamptz
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    was record;
    new_min bigint;
    new_max bigint;
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
    UPDATE sequences AS q
       SET former_ranges = with_former_range(
               q.former_ranges, q.min_number, q.max_number, q.expire_at, new_min, new_max),
           set_at = CASE WHEN p_next IS NOT NULL OR q.min_number <> new_min OR q.max_number <> new_max THEN p_at ELSE q.set_at END,
           min_number = new_min, max_number = new_max,
           current_number = coalesce(p_next, next_number_in(q.current_number, q.max_number, new_min, new_max)),
           expire_at = CASE WHEN p_sets_expiry THEN p_expire_at ELSE q.expire_at END,
           is_active = coalesce(p_is_active, q.is_active), updated_at = p_at
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix;
    RETURN 'changed';
END
$$;

-- As before (0029) but for the end of the sequence.
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
               NULL::boolean, NULL::boolean, expiry_of_number(s.e_ncf, q.min_number, q.max_number, q.expire_at, q.former_ranges),
               same.holders, same.issuers, NULL::text
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

-- As before (0043) but for the end of the sequence.
CREATE OR REPLACE FUNCTION input_to_sign(
    p_tenants bigint [], p_subjects uuid [], p_environments text [], p_e_ncfs text [], p_owned boolean []
) RETURNS TABLE (
    place int, tenant_id bigint, sequence_expires timestamptz, holders uuid [], holders_issuers text [], signatory text
)
LANGUAGE plpgsql STABLE ROWS 10 AS $$
#variable_conflict use_column
DECLARE
    span record := span_of(p_subjects);
    since uuid := forty_days_before(span.first);
BEGIN
    RETURN QUERY
    SELECT c.place::int, c.tenant_id,
           expiry_of_number(c.e_ncf, q.min_number, q.max_number, q.expire_at, q.former_ranges),
           same.holders, same.issuers, NULL::text
      FROM unnest(p_tenants, p_subjects, p_environments, p_e_ncfs, p_owned) WITH ORDINALITY
           AS c (tenant_id, subject, environment, e_ncf, owned, place)
      LEFT JOIN sequences AS q
        ON q.tenant_id = c.tenant_id AND q.environment = c.environment AND q.prefix = left(c.e_ncf, 3) AND q.is_active
      LEFT JOIN LATERAL (
            -- Held, or on its way to be signed: see fe/store/records/numbers.py.
            SELECT array_agg(one.submission_id) AS holders, array_agg(one.issuer_rnc) AS issuers
              FROM (SELECT h.submission_id, h.issuer_rnc
                      FROM held_numbers AS h
                      JOIN submissions AS other
                        ON other.tenant_id = c.tenant_id AND other.submission_id = h.submission_id
                       AND other.number_fate <> 'reusable'
                     WHERE h.tenant_id = c.tenant_id AND h.environment = c.environment
                       AND h.e_ncf = c.e_ncf AND h.submission_id <> c.subject
                     UNION ALL
                    SELECT other.submission_id, other.issuer_rnc
                      FROM submissions AS other
                     WHERE other.tenant_id = c.tenant_id AND other.environment = c.environment
                       AND other.e_ncf = c.e_ncf AND other.submission_id >= forty_days_before(c.subject)
                       AND other.submission_id >= since AND other.submission_id <= span.last
                       AND other.submission_id < c.subject AND other.root IN ('ECF', 'RFCE')
                       AND other.status <> 'error' AND other.number_fate <> 'reusable') AS one
             WHERE c.owned
           ) AS same ON c.e_ncf IS NOT NULL;
    RETURN QUERY
    SELECT 0, t.tenant_id, NULL::timestamptz, NULL::uuid[], NULL::text[],
           jsonb_build_object(
               'issuer', t.issuer, 'consumerSummary', t.consumer_summary,
               'candidates', (SELECT jsonb_agg(jsonb_build_array(c.certificate_id, c.user_id, u.email,
                                                                 u.issuer_override, c.not_before, c.not_after))
                                FROM certificates AS c
                                LEFT JOIN users AS u ON u.tenant_id = c.tenant_id AND u.user_id = c.user_id
                               WHERE c.tenant_id = t.tenant_id AND c.retired_at IS NULL))::text
      FROM tenants AS t
     WHERE t.tenant_id = ANY (ARRAY(SELECT DISTINCT c.tenant FROM unnest(p_tenants) AS c (tenant)));
END
$$;

-- 2. A draw that met more than a thousand numbers of others in a row was given one of them. And what waited to be signed was not looked at:
-- put back, or deleted and made anew, a sequence gave its number a second time. Both ended as `error`, after a 202 had named the number.

DROP FUNCTION number_is_free(bigint, text, text);

-- Whether a number can be drawn: not when it is a submission's that is signed. Nor that of one that waits to be, which is looked for where
-- p_set_at says when the sequence was set to give that number: one that came later has moved the sequence on. Nothing waits for longer
-- than forty days.
CREATE FUNCTION number_is_free(p_tenant bigint, p_environment text, p_e_ncf text, p_set_at timestamptz) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_set_at IS NOT NULL THEN
        IF EXISTS (
            SELECT 1
              FROM submissions AS s
             WHERE s.tenant_id = p_tenant AND s.environment = p_environment AND s.e_ncf = p_e_ncf
               AND s.submission_id >= uuid_floor(p_set_at - interval '40 days')
               AND s.submission_id < uuid_floor(p_set_at + interval '1 hour')  -- as far as clocks may be apart
               AND s.signed_at IS NULL AND s.root IN ('ECF', 'RFCE')
               AND s.status <> 'error' AND s.number_fate <> 'reusable') THEN
            RETURN false;
        END IF;
    END IF;
    RETURN NOT EXISTS (
        SELECT 1
          FROM held_numbers AS n
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = n.submission_id
         WHERE n.tenant_id = p_tenant AND n.environment = p_environment AND n.e_ncf = p_e_ncf
           AND s.number_fate <> 'reusable');
END
$$;

-- The first number from p_from on that can be drawn, in the range or behind it; p_from itself nearly always. After a hundred that cannot
-- it goes by the keys alone, to behind the run that they begin: then numbers that came back in between are passed over as well.
CREATE FUNCTION first_free_number(
    p_tenant bigint, p_environment text, p_prefix text, p_from bigint, p_set_at timestamptz, p_at timestamptz
) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    lately timestamptz := CASE WHEN p_at < p_set_at + interval '40 days' THEN p_set_at END;
    number bigint := p_from;
    somebodys text;
BEGIN
    LOOP
        FOR nth IN 1 .. 100 LOOP
            IF number IS NULL OR number > 9999999999
               OR number_is_free(p_tenant, p_environment, p_prefix || lpad(number::text, 10, '0'), lately) THEN
                RETURN number;
            END IF;
            number := number + 1;
        END LOOP;
        FOR somebodys IN
            SELECT n.e_ncf
              FROM held_numbers AS n
             WHERE n.tenant_id = p_tenant AND n.environment = p_environment
               AND n.e_ncf >= p_prefix || lpad(number::text, 10, '0') AND n.e_ncf <= p_prefix || '9999999999'
             ORDER BY n.e_ncf
             LIMIT 100000
        LOOP
            EXIT WHEN substr(somebodys, 4)::bigint > number;
            number := substr(somebodys, 4)::bigint + 1;
        END LOOP;
        FOR somebodys IN
            SELECT s.e_ncf
              FROM submissions AS s
             WHERE s.tenant_id = p_tenant AND s.environment = p_environment
               AND s.e_ncf >= p_prefix || lpad(number::text, 10, '0') AND s.e_ncf <= p_prefix || '9999999999'
               AND s.submission_id >= uuid_floor(lately - interval '40 days')
               AND s.submission_id < uuid_floor(lately + interval '1 hour')
               AND s.root IN ('ECF', 'RFCE')
             ORDER BY s.e_ncf
             LIMIT 100000
        LOOP
            EXIT WHEN substr(somebodys, 4)::bigint > number;
            number := substr(somebodys, 4)::bigint + 1;
        END LOOP;
    END LOOP;
END
$$;

DROP FUNCTION draw_number(bigint, text, text, timestamptz);

-- Take the next number of a sequence that gives any, one that is nobody's. Raises as accept_submission says.
CREATE FUNCTION draw_number(p_tenant bigint, p_environment text, p_prefix text, p_at timestamptz) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    number bigint;
    free bigint;
    last bigint;
    set_at timestamptz;
BEGIN
    UPDATE sequences AS q
       SET current_number = q.current_number + 1, updated_at = p_at
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix
       AND q.is_active AND q.current_number <= q.max_number AND NOT sequence_is_over(q.expire_at, p_at)
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

GRANT EXECUTE ON FUNCTION number_is_free, first_free_number, draw_number TO fe_front, fe_portal;

-- As before (0043) but for that: the next number that is nobody's, and how far the sequence goes with it.
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
        SELECT q.is_active, q.expire_at, q.current_number > q.max_number AS used_up INTO found
          FROM sequences AS q
         WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix;
        FOREACH one IN ARRAY wanted.places LOOP
            refusals[one] := CASE
                WHEN found.is_active IS NULL OR NOT found.is_active THEN 'none'
                WHEN sequence_is_over(found.expire_at, p_ats[one]) THEN 'expired'
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
        SELECT q.is_active, q.expire_at, q.current_number, q.max_number, q.set_at INTO found
          FROM sequences AS q
         WHERE q.tenant_id = wanted.tenant AND q.environment = wanted.environment AND q.prefix = wanted.prefix
           FOR NO KEY UPDATE;
        next := found.current_number;
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
            IF found.is_active IS NOT TRUE OR sequence_is_over(found.expire_at, p_ats[one]) THEN
                RAISE EXCEPTION 'a sequence ended among several draws' USING ERRCODE = 'FE010';
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
