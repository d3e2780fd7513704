-- Functions of a shard that the migrations have not: read as those are (by_shard.py), and made under the shard's names on its node.

-- Of these receipts, each with a verdict, those that may be about somebody else; p_sends: whose tenant sends to receivers.
CREATE FUNCTION may_go_on_batch(p_tenants bigint[], p_subjects uuid[], p_sends boolean[]) RETURNS uuid[]
LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(p_subjects);
BEGIN
    RETURN ARRAY(
        SELECT CASE WHEN s.root = 'ACECF' OR (s.root = 'ECF' AND b.sends) THEN b.subject END
          FROM unnest(p_tenants, p_subjects, p_sends) WITH ORDINALITY AS b (tenant_id, subject, sends, n)
          LEFT JOIN submissions AS s
            ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
           AND s.submission_id BETWEEN span.first AND span.last
         ORDER BY b.n);
END
$$;

-- A batch of verdicts; answers of each whether it was booked, and whether it goes on to whom it may be about.
CREATE FUNCTION decide_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_statuses text[], p_track_ids text[],
    p_responses jsonb[], p_number_fates text[], p_sends boolean[]
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    mine uuid[] := book_verdict_batch(
        p_tenants, p_subjects, p_epochs, p_at, p_statuses, p_track_ids, p_responses, p_number_fates);
BEGIN
    RETURN ARRAY(
        SELECT CASE WHEN b.mine IS NULL THEN 'lost' WHEN b.goes_on IS NULL THEN 'booked' ELSE 'goes on' END
          FROM unnest(mine, may_go_on_batch(p_tenants, mine, p_sends)) WITH ORDINALITY AS b (mine, goes_on, n)
         ORDER BY b.n);
END
$$;

-- Lease due rows of one lane, of each tenant at most its share. Answers first what is said of them, an array of claimed_row (claims.sql) as
-- text, and then the document of each. Rows, since a JSON of each takes three times as long to put together and to take
-- apart; documents as they are, since as text they would be twice as long, and be read twice.
CREATE FUNCTION claim_batch(
    p_tenants bigint[], p_shares int[], p_stage text, p_environment text, p_host text, p_floor timestamptz,
    p_holder text, p_moment timestamptz, p_lease interval, p_with_input boolean
) RETURNS bytea[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    claims claimed_row[];
    contents bytea[];
BEGIN
    WITH due AS (
        SELECT o.tenant_id, o.subject
          FROM unnest(p_tenants, p_shares) AS s (tenant_id, share)
         CROSS JOIN LATERAL (SELECT w.tenant_id, w.subject
                               FROM outbox AS w
                              WHERE w.tenant_id = s.tenant_id AND w.stage = p_stage AND w.environment = p_environment
                                AND w.host = p_host AND w.run_at >= p_floor AND w.run_at <= p_moment
                                AND w.run_at < 'infinity'
                              ORDER BY w.run_at
                              LIMIT s.share
                                FOR UPDATE SKIP LOCKED) AS o
    ), leased AS (
        UPDATE outbox AS o
           SET attempt = o.attempt + 1, epoch = o.epoch + 1, holder = p_holder,
               deaths = o.deaths + (o.holder IS NOT NULL)::int, run_at = p_moment + p_lease
          FROM unnest(ARRAY(SELECT due.tenant_id FROM due), ARRAY(SELECT due.subject FROM due))
                       AS picked (tenant_id, subject)
         WHERE o.tenant_id = picked.tenant_id AND o.subject = picked.subject
        RETURNING o.*
    )
    SELECT array_agg(ROW(l.tenant_id, l.subject, l.attempt, l.epoch, l.deaths, p_moment - l.entered_at, l.last_error,
                         NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                         NULL)::claimed_row)
      INTO claims
      FROM leased AS l;
    IF claims IS NULL THEN
        RETURN '{}';
    END IF;
    contents := array_fill(NULL::bytea, ARRAY[cardinality(claims)]);
    IF NOT p_with_input THEN
        NULL;
    ELSIF p_stage = 'sign' THEN
        SELECT i.claims, i.contents INTO claims, contents FROM sign_input_batch(claims, p_environment) AS i;
    ELSIF p_stage = 'send' THEN
        SELECT i.claims, i.contents INTO claims, contents FROM send_input_batch(claims) AS i;
    ELSIF p_stage = 'track' THEN
        claims := track_input_batch(claims);
    END IF;
    RETURN convert_to(claims::text, 'UTF8') || contents;
END
$$;

-- What the next step of claimed rows needs, as in 0029, put to what is said of them; and their documents. To be signed:
CREATE FUNCTION sign_input_batch(p_claims claimed_row[], p_environment text)
RETURNS TABLE (claims claimed_row[], contents bytea[])
LANGUAGE plpgsql AS $$
DECLARE
    tenants bigint[] := ARRAY(SELECT c.tenant_id FROM unnest(p_claims) WITH ORDINALITY AS c ORDER BY c.ordinality);
    subjects uuid[] := ARRAY(SELECT c.subject FROM unnest(p_claims) WITH ORDINALITY AS c ORDER BY c.ordinality);
    environments text[] := array_fill(p_environment, ARRAY[cardinality(p_claims)]);
    span record := span_of(subjects);
    e_ncfs text[];
    owned boolean[];
BEGIN
    SELECT array_agg(x.one), array_agg(x.content), array_agg(x.e_ncf), array_agg(x.owned)
      INTO claims, contents, e_ncfs, owned
      FROM (SELECT ROW(c.tenant_id, c.subject, c.attempt, c.epoch, c.deaths, c.waited, c.last_error, s.format, s.root,
                       s.ecf_type, s.e_ncf, s.as_user, s.as_user_id, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                       NULL)::claimed_row AS one,
                   CASE WHEN octet_length(d.content) <= 65536 THEN d.content END AS content,
                   s.e_ncf, s.root IN ('ECF', 'RFCE') AS owned
              FROM unnest(p_claims) WITH ORDINALITY AS c
              LEFT JOIN submissions AS s
                ON s.tenant_id = c.tenant_id AND s.submission_id = c.subject
               AND s.submission_id BETWEEN span.first AND span.last
              LEFT JOIN submission_documents AS d
                ON d.tenant_id = c.tenant_id AND d.submission_id = c.subject AND d.kind = 'original'
               AND d.submission_id BETWEEN span.first AND span.last
             ORDER BY c.ordinality) AS x;
    claims := ARRAY(
        SELECT ROW(c.tenant_id, c.subject, c.attempt, c.epoch, c.deaths, c.waited, c.last_error, c.format, c.root,
                   c.ecf_type, c.e_ncf, c.as_user, c.as_user_id, NULL, NULL, NULL, NULL, NULL, NULL,
                   number.sequence_expires, number.holders, number.holders_issuers)::claimed_row
          FROM unnest(claims) WITH ORDINALITY AS c
          JOIN input_to_sign(tenants, subjects, environments, e_ncfs, owned) AS number ON number.place = c.ordinality
         ORDER BY c.ordinality);
    RETURN NEXT;
END
$$;

-- To be sent:
CREATE FUNCTION send_input_batch(p_claims claimed_row[]) RETURNS TABLE (claims claimed_row[], contents bytea[])
LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(ARRAY(SELECT c.subject FROM unnest(p_claims) AS c));
BEGIN
    RETURN QUERY
    SELECT array_agg(x.one), array_agg(x.content)
      FROM (SELECT ROW(c.tenant_id, c.subject, c.attempt, c.epoch, c.deaths, c.waited, c.last_error, NULL, s.root,
                       NULL, s.e_ncf, NULL, NULL, s.issuer_rnc, s.buyer_rnc, s.certificate_id, NULL,
                       outgoing.kind = 'sent', NULL, NULL, NULL, NULL)::claimed_row AS one,
                   outgoing.content
              FROM unnest(p_claims) WITH ORDINALITY AS c
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
                     LIMIT 1) AS outgoing ON true
             ORDER BY c.ordinality) AS x;
END
$$;

-- To be asked about:
CREATE FUNCTION track_input_batch(p_claims claimed_row[]) RETURNS claimed_row[]
LANGUAGE plpgsql AS $$
DECLARE
    span record := span_of(ARRAY(SELECT c.subject FROM unnest(p_claims) AS c));
BEGIN
    RETURN ARRAY(
        SELECT ROW(c.tenant_id, c.subject, c.attempt, c.epoch, c.deaths, c.waited, c.last_error, NULL, NULL, NULL,
                   s.e_ncf, NULL, NULL, NULL, NULL, s.certificate_id, s.track_id, NULL, s.number_fate = 'unknown', NULL,
                   NULL, NULL)::claimed_row
          FROM unnest(p_claims) WITH ORDINALITY AS c
          LEFT JOIN submissions AS s
            ON s.tenant_id = c.tenant_id AND s.submission_id = c.subject
           AND s.submission_id BETWEEN span.first AND span.last
         ORDER BY c.ordinality);
END
$$;

-- [lane, tenant, round] of those that have work due and are not paused: the walk from tenant to tenant of 0014. A lane is an
-- environment and a host, a tenant to begin after and a moment before which nothing is due; round 2 begins anew from the first.
CREATE FUNCTION due_batch(
    p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[], p_paused bigint[],
    p_paused_in text[], p_scope int
) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan TO off AS $$
BEGIN
    -- Where nothing is due, which is mostly so, one look says it.
    IF NOT EXISTS (
        SELECT
          FROM unnest(p_environments, p_hosts, p_floors) AS lane (environment, host, since)
         CROSS JOIN LATERAL (SELECT
                               FROM outbox AS o
                              WHERE o.stage = p_stage AND o.environment = lane.environment AND o.host = lane.host
                                AND o.run_at >= lane.since AND o.run_at <= statement_timestamp()
                                AND o.run_at < 'infinity' AND o.epoch >= 0
                              LIMIT 1) AS first) THEN
        RETURN '[]';
    END IF;
    RETURN (
        SELECT coalesce(jsonb_agg(jsonb_build_array(lane.n, found.tenant_id, found.round)), '[]')
          FROM unnest(p_environments, p_hosts, p_afters, p_floors) WITH ORDINALITY
               AS lane (environment, host, after, since, n)
         CROSS JOIN (VALUES (1), (2)) AS turn (round)
         CROSS JOIN LATERAL (
            WITH RECURSIVE ahead (tenant_id, run_at) AS (
                (SELECT o.tenant_id, o.run_at
                   FROM outbox AS o
                  WHERE o.stage = p_stage AND o.environment = lane.environment AND o.host = lane.host
                    AND o.tenant_id > CASE turn.round WHEN 1 THEN lane.after ELSE -1 END AND o.run_at >= lane.since
                    AND o.run_at < 'infinity'
                  ORDER BY o.tenant_id, o.run_at
                  LIMIT 1)
                UNION ALL
                SELECT following.tenant_id, following.run_at
                  FROM ahead
                 CROSS JOIN LATERAL (SELECT o.tenant_id, o.run_at
                                       FROM outbox AS o
                                      WHERE o.stage = p_stage AND o.environment = lane.environment AND o.host = lane.host
                                        AND o.tenant_id > ahead.tenant_id AND o.run_at >= lane.since
                                        AND o.run_at < 'infinity'
                                        AND o.tenant_id <= CASE turn.round WHEN 1 THEN 9223372036854775807
                                                                         ELSE lane.after END
                                      ORDER BY o.tenant_id, o.run_at
                                      LIMIT 1) AS following
            )
            SELECT ahead.tenant_id, turn.round
              FROM ahead
             WHERE ahead.run_at <= statement_timestamp() AND (turn.round = 1 OR ahead.tenant_id <= lane.after)
               AND NOT EXISTS (SELECT
                                 FROM unnest(p_paused, p_paused_in) AS p (tenant_id, environment)
                                WHERE p.tenant_id IN (0, ahead.tenant_id) AND p.environment IN ('', lane.environment))
             LIMIT p_scope) AS found);
END
$$;
