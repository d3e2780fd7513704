-- Lease due rows of one lane, of each tenant at most its share, with their input. Returns first their columns
-- (claimed_columns) as text, then each document as bytes: as text they would be twice as long.
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
