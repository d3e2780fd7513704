-- Book tries of webhook deliveries, each fenced by its claim. `p_stages`: `webhook`, to be retried after p_afters (an
-- attempt that does not count is given back), or the stage where the delivery ends. A try with a moment in p_begun is
-- recorded. Returns the deliveries whose claims held, NULL for the others.
--
-- The endpoint's health is recorded with it: an endpoint whose every try failed for p_patience, or that answered 410
-- (p_gone), is disabled, and its deliveries are held.
CREATE OR REPLACE FUNCTION book_webhooks_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_stages text[], p_afters interval[],
    p_counts boolean[], p_begun timestamptz[], p_durations int[], p_statuses int[], p_errors text[],
    p_redirected boolean[], p_answers bytea[], p_gone boolean[], p_patience interval
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    mine uuid[];
    endpoints uuid[];
    attempts int[];
BEGIN
    WITH booked AS (
        UPDATE webhook_deliveries AS d
           SET stage = b.stage, holder = NULL, deaths = 0, last_error = b.error, redirected = b.redirected,
               run_at = moment + b.after,
               attempt = CASE WHEN b.counts THEN d.attempt ELSE greatest(d.attempt - 1, 0) END,
               entered_at = CASE WHEN b.stage = d.stage THEN d.entered_at ELSE moment END,
               finished_at = CASE WHEN b.stage IN ('delivered', 'failed') THEN p_at END
          FROM unnest(p_tenants, p_subjects, p_epochs, p_stages, p_afters, p_counts, p_errors, p_redirected)
                       WITH ORDINALITY AS b (tenant_id, subject, epoch, stage, after, counts, error, redirected, n)
         WHERE d.tenant_id = b.tenant_id AND d.subject = b.subject AND d.epoch = b.epoch AND d.holder IS NOT NULL
        RETURNING b.n, d.endpoint_id, d.attempt
    )
    SELECT array_agg(CASE WHEN booked.n IS NOT NULL THEN b.subject END ORDER BY b.n),
           array_agg(booked.endpoint_id ORDER BY b.n), array_agg(booked.attempt ORDER BY b.n)
      INTO mine, endpoints, attempts
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN booked ON booked.n = b.n;
    INSERT INTO webhook_attempts (tenant_id, delivery_id, epoch, attempt, at, duration_ms, status, error, redirected,
                                  answer)
    SELECT b.tenant_id, b.subject, b.epoch, b.attempt, b.begun, b.duration, b.status, b.error, b.redirected, b.answer
      FROM unnest(p_tenants, mine, p_epochs, attempts, p_begun, p_durations, p_statuses, p_errors, p_redirected,
                  p_answers)
                   AS b (tenant_id, subject, epoch, attempt, begun, duration, status, error, redirected, answer)
     WHERE b.subject IS NOT NULL AND b.begun IS NOT NULL
    ON CONFLICT DO NOTHING;
    PERFORM note_endpoints(p_tenants, endpoints, p_at, p_stages, p_begun, p_gone, p_patience);
    RETURN mine;
END
$$;

GRANT EXECUTE ON FUNCTION book_webhooks_batch TO fe_worker;
