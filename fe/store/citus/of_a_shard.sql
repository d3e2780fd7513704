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

-- Lease due rows of one lane: of each tenant at most its share.
CREATE FUNCTION claim_rows_batch(
    p_tenants bigint[], p_shares int[], p_stage text, p_environment text, p_host text, p_floor timestamptz, p_holder text,
    p_moment timestamptz, p_lease interval
) RETURNS TABLE (
    tenant_id bigint, subject uuid, attempt int, epoch bigint, deaths int, waited interval, last_error text
)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
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
    )
    UPDATE outbox AS o
       SET attempt = o.attempt + 1, epoch = o.epoch + 1, holder = p_holder,
           deaths = o.deaths + (o.holder IS NOT NULL)::int, run_at = p_moment + p_lease
      FROM unnest(ARRAY(SELECT due.tenant_id FROM due), ARRAY(SELECT due.subject FROM due)) AS picked (tenant_id, subject)
     WHERE o.tenant_id = picked.tenant_id AND o.subject = picked.subject
    RETURNING o.tenant_id, o.subject, o.attempt, o.epoch, o.deaths, p_moment - o.entered_at, o.last_error;
END
$$;
