-- A number belongs to the range that it was given from, and nobody is given one that is somebody's.

-- 1. There is one row for each prefix, and the next range is entered into it while documents wait with numbers of the one before: these
-- were dated by the end of the next, which the authority refuses. So a sequence remembers the ranges that it had.

CREATE TYPE former_range AS (min_number bigint, max_number bigint, expire_at timestamptz);

-- The newest first.
ALTER TABLE sequences ADD COLUMN former_ranges former_range [] NOT NULL DEFAULT '{}';

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
                -- Held, or on its way to be signed: see fe/store/numbers.py.
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
            -- Held, or on its way to be signed: see fe/store/numbers.py.
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
