-- Claim as claim_due does, and return with each row the input of its stage; NULL where a stage does not need it. Rows
-- with lane 0 hold the data that signing needs of each tenant.
--
-- Statements after the claim read the input, so they see what was committed when the claim was made; a join in the same
-- statement might see an older state. A content above 64 kB is left out: a hundred large ones would make an answer of a
-- gigabyte.
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
    whose bigint[];
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
               NULL::boolean, NULL::boolean,
               (SELECT (array_agg(
                            expiry_of_number(s.e_ncf, q.min_number, q.max_number, q.expire_at, q.former_ranges)
                            ORDER BY number_lies(s.e_ncf, q.prefix, q.min_number, q.max_number, q.former_ranges)))[1]
                  FROM sequences AS q
                 WHERE q.tenant_id = c.tenant_id AND q.environment = p_environments[c.lane] AND q.is_active
                   AND left(q.prefix, 3) = left(s.e_ncf, 3)
                   AND number_lies(s.e_ncf, q.prefix, q.min_number, q.max_number, q.former_ranges) IS NOT NULL),
               same.holders, same.issuers, NULL::text
          FROM unnest(claims) AS c
          LEFT JOIN submissions AS s
            ON s.tenant_id = c.tenant_id AND s.submission_id = c.subject
           AND s.submission_id BETWEEN span.first AND span.last
          LEFT JOIN submission_documents AS d
            ON d.tenant_id = c.tenant_id AND d.submission_id = c.subject AND d.kind = 'original'
           AND d.submission_id BETWEEN span.first AND span.last
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
        whose := ARRAY(SELECT DISTINCT c.tenant_id FROM unnest(claims) AS c);
        RETURN QUERY
        SELECT 0, NULL::int, NULL::bigint[], NULL::int[], t.tenant_id, NULL::uuid, NULL::int, NULL::bigint, NULL::int,
               NULL::interval, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::text, NULL::uuid,
               NULL::text, NULL::text, NULL::uuid, NULL::text, NULL::bytea, NULL::boolean, NULL::boolean,
               NULL::timestamptz, NULL::uuid[], NULL::text[], t.signatory
          FROM signatories_of(whose) AS t;
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

GRANT EXECUTE ON FUNCTION claim_with_input TO fe_worker;
