-- Book sends with unknown outcome: the authority is asked before anything is sent again.
CREATE OR REPLACE FUNCTION book_doubt_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[], p_errors text[]
) RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
BEGIN
    WITH booked AS (
        UPDATE outbox AS o
           SET stage = 'reconcile', run_at = moment + b.after, holder = NULL, deaths = 0, last_error = b.error,
               attempt = CASE WHEN o.stage = 'reconcile' THEN o.attempt ELSE 0 END,
               entered_at = CASE WHEN o.stage = 'reconcile' THEN o.entered_at ELSE moment END
          FROM unnest(p_tenants, p_subjects, p_epochs, p_afters, p_errors) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, after, error, n)
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN booked.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO mine
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN booked ON booked.n = b.n;
    UPDATE sends AS d
       SET outcome = 'unknown'
      FROM unnest(p_tenants, mine) AS b (tenant_id, subject)
     WHERE d.tenant_id = b.tenant_id AND d.submission_id = b.subject AND d.outcome = 'intended';
    UPDATE submissions AS s
       SET number_fate = 'unknown', updated_at = p_at
      FROM unnest(p_tenants, mine) AS b (tenant_id, subject)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject;
    PERFORM record_event_batch(p_tenants, mine, p_at, 'outcome_unknown', ARRAY(
        SELECT jsonb_build_object('error', b.error)
          FROM unnest(p_errors) WITH ORDINALITY AS b (error, n)
         ORDER BY b.n));
    RETURN mine;
END
$$;

GRANT EXECUTE ON FUNCTION book_doubt_batch TO fe_worker;
