-- Book failed tries: due again after p_afters. A try that counts and announced a send closes it as not sent; one that
-- does not count gets its attempt back.
CREATE OR REPLACE FUNCTION book_retry_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[], p_counts boolean[],
    p_errors text[]
) RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
    failed uuid[];
    details jsonb[];
BEGIN
    WITH booked AS (
        UPDATE outbox AS o
           SET run_at = moment + b.after, holder = NULL, deaths = 0, last_error = b.error,
               attempt = CASE WHEN b.counts THEN o.attempt ELSE greatest(o.attempt - 1, 0) END
          FROM unnest(p_tenants, p_subjects, p_epochs, p_afters, p_counts, p_errors) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, after, counts, error, n)
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n, b.counts, jsonb_build_object('stage', o.stage, 'attempt', o.attempt, 'error', b.error,
                                                    'dueAt', o.run_at) AS detail
    )
    SELECT array_agg(CASE WHEN booked.n IS NOT NULL THEN b.subject END ORDER BY b.n),
           array_agg(CASE WHEN booked.counts THEN b.subject END ORDER BY b.n),
           array_agg(booked.detail ORDER BY b.n)
      INTO mine, failed, details
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN booked ON booked.n = b.n;
    PERFORM close_intents_batch(p_tenants, failed, p_epochs, p_at, 'not_sent');
    PERFORM record_event_batch(p_tenants, failed, p_at, 'retry', details);
    RETURN mine;
END
$$;

GRANT EXECUTE ON FUNCTION book_retry_batch TO fe_worker;
