-- Claiming in one call: which tenants are served, the claim for all lanes of a stage, and what their next step needs.

-- What a claim says of a lane (then tenant_id is NULL), or a claimed row of it.
CREATE TYPE claimed AS (
    -- Which of the lanes that were asked for, from 1.
    lane int,
    -- Of the lane: how many tenants have work due, as far as one look goes; who of them was served, and each one's share.
    due int,
    tenants bigint [],
    shares int [],
    tenant_id bigint,
    subject uuid,
    attempt int,
    epoch bigint,
    deaths int,
    waited interval,
    last_error text
);

-- Divide p_capacity among tenants by their weights, at least one each, and what rounding leaves to the first; then none
-- gets more than p_most. There are no more tenants than p_capacity.
CREATE FUNCTION divide_by_weight(p_weights int [], p_capacity int, p_most int []) RETURNS int []
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    many int := cardinality(p_weights);
    total bigint := 0;
    remaining int := p_capacity;
    shares int[] := p_weights;
BEGIN
    IF many = 1 THEN
        RETURN ARRAY[least(p_capacity, p_most[1])];
    END IF;
    FOR n IN 1 .. many LOOP
        total := total + p_weights[n];
    END LOOP;
    FOR n IN 1 .. many LOOP
        shares[n] := 1 + (p_capacity - many)::bigint * p_weights[n] / total;
        remaining := remaining - shares[n];
    END LOOP;
    FOR n IN 1 .. many LOOP
        shares[n] := least(shares[n] + (n <= remaining)::int, p_most[n]);
    END LOOP;
    RETURN shares;
END
$$;

-- Lease due rows of lanes in their order, the tenants of each in turn by their weights.
--
-- For each lane: its environment and host, after which tenant to begin, before which moment nothing is due (see
-- fe/store/queue/outbox.py, floors_of), how many more of its rows may be in flight, and how many slots it leaves to others.
-- p_slots are free in all; p_at_most rows are claimed. One look goes as far as p_scope tenants at most. No tenant gets more than
-- p_most rows in an environment, together with those in flight: p_busy and p_busy_in say of whom and where, once for each.
CREATE FUNCTION claim_due(
    p_stage text, p_environments text [], p_hosts text [], p_afters bigint [], p_floors timestamptz [], p_rooms int [],
    p_left_to_others int [], p_slots int, p_at_most int, p_scope int, p_most int, p_busy bigint [], p_busy_in text [],
    p_holder text, p_lease interval
) RETURNS claimed []
LANGUAGE plpgsql AS $$
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
            AND o.run_at >= since
          ORDER BY o.tenant_id, o.run_at
          LIMIT 1;
        CONTINUE WHEN NOT FOUND;

        -- One more than can be served shows that not all are, however many of those found may get no more.
        enough := least(p_scope, greatest(capacity, 0) + cardinality(p_busy) / p_most + 1);

        -- Walks the index from tenant to tenant, to the earliest row of each, so that a tenant's million rows cost one step,
        -- whether they are due or not; ordering by run_at too leaves the planner no other index. It goes on from the tenant
        -- served last, then round from the first, and stops when it has enough. It takes no locks and may be wrong: the
        -- claim looks again. statement_timestamp(), because a volatile clock is compared row by row and never finds its
        -- place in an index.
        WITH RECURSIVE ahead (tenant_id, run_at, n) AS (
            (SELECT o.tenant_id, o.run_at, 1
               FROM outbox AS o
              WHERE o.stage = p_stage AND o.environment = in_environment AND o.host = at_host
                AND o.tenant_id > past AND o.run_at >= since
              ORDER BY o.tenant_id, o.run_at
              LIMIT 1)
            UNION ALL
            SELECT following.tenant_id, following.run_at, ahead.n + 1
              FROM ahead
             CROSS JOIN LATERAL (SELECT o.tenant_id, o.run_at
                                   FROM outbox AS o
                                  WHERE o.stage = p_stage AND o.environment = in_environment AND o.host = at_host
                                    AND o.tenant_id > ahead.tenant_id AND o.run_at >= since
                                  ORDER BY o.tenant_id, o.run_at
                                  LIMIT 1) AS following
        ), around (tenant_id, run_at, n) AS (
            (SELECT o.tenant_id, o.run_at, 1
               FROM outbox AS o
              WHERE o.stage = p_stage AND o.environment = in_environment AND o.host = at_host
                AND o.tenant_id <= past AND o.run_at >= since
              ORDER BY o.tenant_id, o.run_at
              LIMIT 1)
            UNION ALL
            SELECT following.tenant_id, following.run_at, around.n + 1
              FROM around
             CROSS JOIN LATERAL (SELECT o.tenant_id, o.run_at
                                   FROM outbox AS o
                                  WHERE o.stage = p_stage AND o.environment = in_environment AND o.host = at_host
                                    AND o.tenant_id > around.tenant_id AND o.tenant_id <= past
                                    AND o.run_at >= since
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
                                  ORDER BY w.run_at
                                  LIMIT scope.share
                                    FOR UPDATE SKIP LOCKED) AS o
        ), leased AS (
            UPDATE outbox AS o
               SET attempt = o.attempt + 1, epoch = o.epoch + 1, holder = p_holder,
                   deaths = o.deaths + (o.holder IS NOT NULL)::int, run_at = now() + p_lease
              FROM unnest(ARRAY(SELECT tenant_id FROM picked), ARRAY(SELECT subject FROM picked))
                   AS mine (tenant_id, subject)
             WHERE o.tenant_id = ANY (served) AND o.tenant_id = mine.tenant_id AND o.subject = mine.subject
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

-- The smallest id of forty days before another: as long as anything waits to be signed.
CREATE FUNCTION forty_days_before(p_id uuid) RETURNS uuid
LANGUAGE sql IMMUTABLE STRICT
RETURN (
    lpad(to_hex(('x' || replace(left(p_id::text, 13), '-', ''))::bit(48)::bigint - 3456000000), 12, '0')
    || repeat('0', 20)
)::uuid;

-- The same, and beside each claimed row what its next step needs of it, by the stage; what the stage does not need is NULL.
-- What signing needs of a tenant comes in a row of its own, with lane 0.
--
-- The rows are locked by the claim and read by statements after it: what is read is what was committed when the claim was
-- made. (Joined to the claim in one statement it might be older than the claim, and not there at all.)
--
-- A content above 64 kB is not carried along: some hundred of the largest would make one answer of a gigabyte.
CREATE FUNCTION claim_with_input(
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
BEGIN
    IF claims = '{}' THEN
        RETURN;
    END IF;
    IF p_stage = 'sign' THEN
        RETURN QUERY
        SELECT c.lane, c.due, c.tenants, c.shares, c.tenant_id, c.subject, c.attempt, c.epoch, c.deaths, c.waited,
               c.last_error, s.format::text, s.root::text, s.ecf_type, s.e_ncf, s.as_user, s.as_user_id, NULL::text,
               NULL::text, NULL::uuid, NULL::text, CASE WHEN octet_length(d.content) <= 65536 THEN d.content END,
               NULL::boolean, NULL::boolean, q.expire_at, same.holders, same.issuers, NULL::text
          FROM unnest(claims) AS c
          LEFT JOIN submissions AS s ON s.tenant_id = c.tenant_id AND s.submission_id = c.subject
          LEFT JOIN submission_documents AS d
            ON d.tenant_id = c.tenant_id AND d.submission_id = c.subject AND d.kind = 'original'
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
          LEFT JOIN submissions AS s ON s.tenant_id = c.tenant_id AND s.submission_id = c.subject
          -- `sent` is there when the authority gets something other than `signed`; it comes first in the alphabet.
          LEFT JOIN LATERAL (
                SELECT d.kind, CASE WHEN octet_length(d.content) <= 65536 THEN d.content END AS content
                  FROM submission_documents AS d
                 WHERE d.tenant_id = c.tenant_id AND d.submission_id = c.subject AND d.kind IN ('sent', 'signed')
                 ORDER BY d.kind
                 LIMIT 1) AS outgoing ON true;
    ELSIF p_stage = 'track' THEN
        RETURN QUERY
        SELECT c.lane, c.due, c.tenants, c.shares, c.tenant_id, c.subject, c.attempt, c.epoch, c.deaths, c.waited,
               c.last_error, NULL::text, NULL::text, NULL::text, s.e_ncf, NULL::text, NULL::uuid, NULL::text,
               NULL::text, s.certificate_id, s.track_id, NULL::bytea, NULL::boolean, s.number_fate = 'unknown',
               NULL::timestamptz, NULL::uuid[], NULL::text[], NULL::text
          FROM unnest(claims) AS c
          LEFT JOIN submissions AS s ON s.tenant_id = c.tenant_id AND s.submission_id = c.subject;
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

GRANT EXECUTE ON FUNCTION divide_by_weight, claim_due, claim_with_input, forty_days_before TO fe_worker;
