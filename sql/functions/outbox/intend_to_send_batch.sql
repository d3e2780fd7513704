-- Record the intent to send, durably. Send only where the answer is 'go':
--   'lost'      the claim was lost
--   'in doubt'  an earlier send is unresolved (its worker died): ask the authority first
-- A claim may announce twice (after a new session, or when the commit of the first was uncertain): it stays one send.
-- The lease is renewed where more than a twentieth of it is over, so that a row is rarely written twice.
CREATE OR REPLACE FUNCTION intend_to_send_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_leases interval[], p_digests bytea[]
) RETURNS text[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    answers text[];
    going uuid[];
    span record := span_of(p_subjects);
BEGIN
    -- Locked against claims from here on; written only where too little of the lease is left.
    WITH held AS (
        SELECT b.n, b.tenant_id, b.subject, b.lease, o.run_at
          FROM unnest(p_tenants, p_subjects, p_epochs, p_leases) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, lease, n)
         CROSS JOIN LATERAL (SELECT w.run_at
                               FROM outbox AS w
                              WHERE w.tenant_id = b.tenant_id AND w.subject = b.subject AND w.epoch = b.epoch
                                AND w.holder IS NOT NULL AND w.stage = 'send'
                                FOR UPDATE) AS o
    ), renewed AS (
        UPDATE outbox AS o
           SET run_at = moment + h.lease
          FROM held AS h
         WHERE o.tenant_id = ANY (ARRAY[h.tenant_id]) AND o.subject = h.subject AND h.run_at < moment + h.lease * 0.95
    )
    SELECT array_agg(CASE
                     WHEN held.n IS NULL THEN 'lost'
                     WHEN EXISTS (SELECT 1
                                    FROM sends AS x
                                   WHERE x.tenant_id = b.tenant_id AND x.submission_id = b.subject
                                     AND x.submission_id BETWEEN span.first AND span.last
                                     AND x.epoch <> b.epoch AND x.outcome IN ('intended', 'unknown')) THEN 'in doubt'
                     ELSE 'go'
                     END ORDER BY b.n)
      INTO answers
      FROM unnest(p_tenants, p_subjects, p_epochs) WITH ORDINALITY AS b (tenant_id, subject, epoch, n)
      LEFT JOIN held ON held.n = b.n;
    going := ARRAY(SELECT CASE WHEN b.answer = 'go' THEN b.subject END
                     FROM unnest(p_subjects, answers) WITH ORDINALITY AS b (subject, answer, n)
                    ORDER BY b.n);
    PERFORM announce_batch(p_tenants, going, p_epochs, p_at, p_digests);
    RETURN answers;
END
$$;

GRANT EXECUTE ON FUNCTION intend_to_send_batch TO fe_worker;
