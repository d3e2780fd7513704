-- Book documents that the authority still processes: ask again later. No attempt is counted.
CREATE OR REPLACE FUNCTION book_processing_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[], p_responses jsonb[]
) RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
    changed uuid[];
BEGIN
    WITH booked AS (
        UPDATE outbox AS o
           SET run_at = moment + b.after, holder = NULL, deaths = 0
          FROM unnest(p_tenants, p_subjects, p_epochs, p_afters) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, after, n)
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN booked.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO mine
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN booked ON booked.n = b.n;
    WITH told AS (
        UPDATE submissions AS s
           SET status = 'En Proceso', response = b.response, updated_at = p_at
          FROM unnest(p_tenants, mine, p_responses) WITH ORDINALITY AS b (tenant_id, subject, response, n)
         WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject AND s.status IN ('queued', 'En Proceso')
           AND s.response IS DISTINCT FROM b.response
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN told.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO changed
      FROM unnest(mine) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN told ON told.n = b.n;
    PERFORM record_event_batch(p_tenants, changed, p_at, 'processing', p_responses);
    RETURN mine;
END
$$;

GRANT EXECUTE ON FUNCTION book_processing_batch TO fe_worker;
