-- Book documents that the authority does not know, or cannot be asked about: the same bytes go out again. Attempts
-- continue from the last send.
CREATE OR REPLACE FUNCTION book_resend_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[], p_reasons text[]
) RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
BEGIN
    WITH booked AS (
        UPDATE outbox AS o
           SET stage = 'send', run_at = moment + b.after, holder = NULL, deaths = 0, entered_at = moment,
               attempt = (SELECT count(*)
                            FROM sends AS d
                            JOIN submissions AS s ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
                           WHERE d.tenant_id = b.tenant_id AND d.submission_id = b.subject
                             AND d.epoch > s.replayed_epoch)
          FROM unnest(p_tenants, p_subjects, p_epochs, p_afters) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, after, n)
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n
    )
    SELECT array_agg(CASE WHEN booked.n IS NOT NULL THEN b.subject END ORDER BY b.n) INTO mine
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN booked ON booked.n = b.n;
    PERFORM close_sends_batch(p_tenants, mine, p_at, 'not_known', NULL);
    PERFORM record_event_batch(p_tenants, mine, p_at, 'not_known_there', ARRAY(
        SELECT jsonb_build_object('reason', b.reason)
          FROM unnest(p_reasons) WITH ORDINALITY AS b (reason, n)
         ORDER BY b.n));
    RETURN mine;
END
$$;

GRANT EXECUTE ON FUNCTION book_resend_batch TO fe_worker;
