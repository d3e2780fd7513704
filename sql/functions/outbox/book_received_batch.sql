-- Book documents that the authority received under a trackId; the verdict is open. Of each:
--   'lost'      the claim was lost
--   'received'  the row is due in `track` after p_afters
--   'going on'  the same holder tracks it after p_afters: the row is leased to it as a claim of `track` (attempt 1, the next epoch), where
--               p_leases has a duration and the work is not paused
CREATE OR REPLACE FUNCTION book_received_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_environments text[],
    p_track_ids text[], p_afters interval[], p_replies jsonb[], p_leases interval[]
) RETURNS text[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
    answers text[];
    span record := span_of(p_subjects);
BEGIN
    WITH moved AS (
        UPDATE outbox AS o
           SET stage = 'track', run_at = moment + b.after + coalesce(b.lease, interval '0'),
               attempt = CASE WHEN b.lease IS NULL THEN 0 ELSE 1 END, deaths = 0,
               epoch = CASE WHEN b.lease IS NULL THEN o.epoch ELSE o.epoch + 1 END,
               holder = CASE WHEN b.lease IS NULL THEN NULL ELSE o.holder END, entered_at = moment, last_error = NULL
          FROM (SELECT a.tenant_id, a.subject, a.epoch, a.after, a.n,
                       CASE WHEN NOT EXISTS (
                           SELECT 1
                             FROM pauses AS p
                            WHERE p.tenant_id IN (0, a.tenant_id) AND p.environment IN ('', a.environment))
                           THEN a.lease END AS lease
                  FROM unnest(p_tenants, p_subjects, p_epochs, p_environments, p_afters, p_leases) WITH ORDINALITY
                               AS a (tenant_id, subject, epoch, environment, after, lease, n)) AS b
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n, b.lease
    )
    SELECT array_agg(CASE WHEN moved.n IS NOT NULL THEN b.subject END ORDER BY b.n),
           array_agg(CASE WHEN moved.n IS NULL THEN 'lost' WHEN moved.lease IS NULL THEN 'received' ELSE 'going on' END
                     ORDER BY b.n)
      INTO mine, answers
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN moved ON moved.n = b.n;
    PERFORM close_sends_batch(p_tenants, mine, p_at, 'received', p_track_ids);
    UPDATE submissions AS s
       SET track_id = b.track_id, updated_at = p_at, first_answer_at = coalesce(s.first_answer_at, p_at)
      FROM unnest(p_tenants, mine, p_track_ids) AS b (tenant_id, subject, track_id)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject
       AND s.submission_id BETWEEN span.first AND span.last;
    PERFORM record_event_batch(p_tenants, mine, p_at, 'received', ARRAY(
        SELECT jsonb_build_object('trackId', b.track_id, 'reply', b.reply)
          FROM unnest(p_track_ids, p_replies) WITH ORDINALITY AS b (track_id, reply, n)
         ORDER BY b.n));
    RETURN answers;
END
$$;

GRANT EXECUTE ON FUNCTION book_received_batch TO fe_worker;
