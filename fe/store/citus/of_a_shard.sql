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

-- A batch of verdicts; answers of each whether it was booked, and whether it goes on to whom it may be about. Without p_sends it stands
-- alone: then it is refused if one goes on, since that would be written after this was committed.
CREATE FUNCTION decide_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_statuses text[], p_track_ids text[],
    p_responses jsonb[], p_number_fates text[], p_sends boolean[]
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    mine uuid[] := book_verdict_batch(
        p_tenants, p_subjects, p_epochs, p_at, p_statuses, p_track_ids, p_responses, p_number_fates);
    going_on uuid[] := may_go_on_batch(p_tenants, mine, p_sends);
BEGIN
    IF p_sends IS NULL AND num_nonnulls(VARIADIC going_on) > 0 THEN
        RAISE EXCEPTION 'a verdict goes on to whom it is about' USING ERRCODE = 'FE011';
    END IF;
    RETURN ARRAY(
        SELECT CASE WHEN b.mine IS NULL THEN 'lost' WHEN b.goes_on IS NULL THEN 'booked' ELSE 'goes on' END
          FROM unnest(mine, going_on) WITH ORDINALITY AS b (mine, goes_on, n)
         ORDER BY b.n);
END
$$;

-- Lease due rows of one lane, of each tenant at most its share, and bring what the next step of each needs, as 0029 does. Answers first what
-- is said of them, column by column (claimed_columns, claims.sql), as text, and then the document of each: documents as they are, since as
-- text they would be twice as long, and be read twice.
CREATE FUNCTION claim_batch(
    p_tenants bigint[], p_shares int[], p_stage text, p_environment text, p_host text, p_floor timestamptz,
    p_holder text, p_moment timestamptz, p_lease interval, p_with_input boolean
) RETURNS bytea[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    told claimed_columns;
    span record;
    owned boolean[];
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
    SELECT array_agg(l.tenant_id), array_agg(l.subject), array_agg(l.attempt), array_agg(l.epoch),
           array_agg(l.deaths), array_agg(p_moment - l.entered_at), array_agg(l.last_error)
      INTO told.tenants, told.subjects, told.attempts, told.epochs, told.deaths, told.waited, told.last_errors
      FROM leased AS l;
    IF told.tenants IS NULL THEN
        RETURN '{}';
    END IF;
    span := span_of(told.subjects);
    contents := array_fill(NULL::bytea, ARRAY[cardinality(told.tenants)]);
    IF NOT p_with_input THEN
        NULL;
    ELSIF p_stage = 'sign' THEN
        SELECT array_agg(x.format::text), array_agg(x.root::text), array_agg(x.ecf_type::text), array_agg(x.e_ncf),
               array_agg(x.as_user), array_agg(x.as_user_id), array_agg(x.root IN ('ECF', 'RFCE')),
               array_agg(x.content)
          INTO told.formats, told.roots, told.ecf_types, told.e_ncfs, told.as_users, told.as_user_ids, owned, contents
          FROM (SELECT s.format, s.root, s.ecf_type, s.e_ncf, s.as_user, s.as_user_id,
                       CASE WHEN octet_length(d.content) <= 65536 THEN d.content END AS content
                  FROM unnest(told.tenants, told.subjects) WITH ORDINALITY AS c (tenant_id, subject, n)
                  LEFT JOIN submissions AS s
                    ON s.tenant_id = c.tenant_id AND s.submission_id = c.subject
                   AND s.submission_id BETWEEN span.first AND span.last
                  LEFT JOIN submission_documents AS d
                    ON d.tenant_id = c.tenant_id AND d.submission_id = c.subject AND d.kind = 'original'
                   AND d.submission_id BETWEEN span.first AND span.last
                 ORDER BY c.n) AS x;
        SELECT array_agg(x.sequence_expires), array_agg(x.holders::text), array_agg(x.holders_issuers::text)
          INTO told.sequences_expire, told.holders, told.holders_issuers
          FROM (SELECT i.sequence_expires, i.holders, i.holders_issuers
                  FROM input_to_sign(
                           told.tenants, told.subjects, array_fill(p_environment, ARRAY[cardinality(told.tenants)]),
                           told.e_ncfs, owned) AS i
                 ORDER BY i.place) AS x;
    ELSIF p_stage = 'send' THEN
        SELECT array_agg(x.root::text), array_agg(x.e_ncf), array_agg(x.issuer_rnc), array_agg(x.buyer_rnc),
               array_agg(x.certificate_id), array_agg(x.kind = 'sent'), array_agg(x.content)
          INTO told.roots, told.e_ncfs, told.issuers, told.buyers, told.certificates, told.are_summaries, contents
          FROM (SELECT s.root, s.e_ncf, s.issuer_rnc, s.buyer_rnc, s.certificate_id, outgoing.kind, outgoing.content
                  FROM unnest(told.tenants, told.subjects) WITH ORDINALITY AS c (tenant_id, subject, n)
                  LEFT JOIN submissions AS s
                    ON s.tenant_id = c.tenant_id AND s.submission_id = c.subject
                   AND s.submission_id BETWEEN span.first AND span.last
                  -- `sent` is there when the authority gets something other than `signed`; it comes first in the alphabet.
                  LEFT JOIN LATERAL (
                        SELECT d.kind, CASE WHEN octet_length(d.content) <= 65536 THEN d.content END AS content
                          FROM submission_documents AS d
                         WHERE d.tenant_id = c.tenant_id AND d.submission_id = c.subject
                           AND d.kind IN ('sent', 'signed') AND d.submission_id BETWEEN span.first AND span.last
                         ORDER BY d.kind
                         LIMIT 1) AS outgoing ON true
                 ORDER BY c.n) AS x;
    ELSIF p_stage = 'track' THEN
        SELECT array_agg(x.e_ncf), array_agg(x.certificate_id), array_agg(x.track_id),
               array_agg(x.number_fate = 'unknown')
          INTO told.e_ncfs, told.certificates, told.track_ids, told.maybe_adopted
          FROM (SELECT s.e_ncf, s.certificate_id, s.track_id, s.number_fate
                  FROM unnest(told.tenants, told.subjects) WITH ORDINALITY AS c (tenant_id, subject, n)
                  LEFT JOIN submissions AS s
                    ON s.tenant_id = c.tenant_id AND s.submission_id = c.subject
                   AND s.submission_id BETWEEN span.first AND span.last
                 ORDER BY c.n) AS x;
    END IF;
    RETURN convert_to(told::text, 'UTF8') || contents;
END
$$;

-- Of each lane, an environment and a host, the first moment at which a row is due, now or later; NULL where there is none.
CREATE FUNCTION floors_batch(p_stage text, p_environments text[], p_hosts text[]) RETURNS timestamptz[]
LANGUAGE plpgsql SET enable_seqscan TO off AS $$
BEGIN
    RETURN ARRAY(
        SELECT (SELECT o.run_at
                  FROM outbox AS o
                 WHERE o.stage = p_stage AND o.environment = lane.environment AND o.host = lane.host
                   AND o.run_at < 'infinity' AND o.epoch >= 0
                 ORDER BY o.run_at
                 LIMIT 1)
          FROM unnest(p_environments, p_hosts) WITH ORDINALITY AS lane (environment, host, n)
         ORDER BY lane.n);
END
$$;

-- [lane, tenant, round, first] of those that have work due and are not paused: the walk from tenant to tenant of 0014. A lane is an
-- environment and a host, a tenant to begin after and a moment before which nothing is due; round 2 begins anew from the first tenant. The
-- first row that is due is found by time, as in 0044; what follows begins there, as in 0047.
CREATE FUNCTION due_batch(
    p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[], p_paused bigint[],
    p_paused_in text[], p_scope int
) RETURNS jsonb LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    firsts timestamptz[] := ARRAY(
        SELECT (SELECT o.run_at
                  FROM outbox AS o
                 WHERE o.stage = p_stage AND o.environment = lane.environment AND o.host = lane.host
                   AND o.run_at >= lane.since AND o.run_at <= statement_timestamp() AND o.run_at < 'infinity'
                   AND o.epoch >= 0
                 ORDER BY o.run_at
                 LIMIT 1)
          FROM unnest(p_environments, p_hosts, p_floors) WITH ORDINALITY AS lane (environment, host, since, n)
         ORDER BY lane.n);
BEGIN
    -- Mostly nothing is due.
    IF num_nonnulls(VARIADIC firsts) = 0 THEN
        RETURN '[]';
    END IF;
    RETURN (
        SELECT coalesce(jsonb_agg(jsonb_build_array(lane.n, found.tenant_id, found.round, lane.since)), '[]')
          FROM unnest(p_environments, p_hosts, p_afters, firsts) WITH ORDINALITY
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
             LIMIT p_scope) AS found
         WHERE lane.since IS NOT NULL);
END
$$;
