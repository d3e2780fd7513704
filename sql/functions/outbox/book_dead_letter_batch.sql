-- Book submissions that are out of attempts as dead letters. To clients they stay queued, so that no second receipt is
-- issued.
CREATE OR REPLACE FUNCTION book_dead_letter_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_errors text[]
) RETURNS uuid[] LANGUAGE plpgsql SET enable_seqscan TO off AS $$
DECLARE
    mine uuid[];
    details jsonb[];
BEGIN
    WITH dead AS (
        DELETE FROM outbox AS o
         USING unnest(p_tenants, p_subjects, p_epochs, p_errors) WITH ORDINALITY
                       AS b (tenant_id, subject, epoch, error, n)
         WHERE o.tenant_id = ANY (ARRAY[b.tenant_id]) AND o.subject = b.subject
           AND o.epoch = b.epoch AND o.holder IS NOT NULL
        RETURNING b.n, b.error, o.tenant_id, o.subject, o.stage, o.environment, o.host, o.attempt, o.epoch, o.deaths,
                  o.entered_at
    ), kept AS (
        INSERT INTO dead_letters (tenant_id, subject, stage, environment, host, attempt, epoch, deaths, entered_at,
                                  died_at, error)
        SELECT dead.tenant_id, dead.subject, dead.stage, dead.environment, dead.host, dead.attempt, dead.epoch,
               dead.deaths, dead.entered_at, p_at, dead.error
          FROM dead
    )
    SELECT array_agg(dead.subject ORDER BY b.n),
           array_agg(jsonb_build_object('stage', dead.stage, 'attempt', dead.attempt, 'error', dead.error) ORDER BY b.n)
      INTO mine, details
      FROM unnest(p_subjects) WITH ORDINALITY AS b (subject, n)
      LEFT JOIN dead ON dead.n = b.n;
    UPDATE submissions AS s
       SET updated_at = p_at,
           response = coalesce(s.response, '{}'::jsonb)
                      || jsonb_build_object('status', 'dead_letter', 'error', b.error)
      FROM unnest(p_tenants, mine, p_errors) AS b (tenant_id, subject, error)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject;
    PERFORM record_event_batch(p_tenants, mine, p_at, 'dead_letter', details);
    RETURN mine;
END
$$;

GRANT EXECUTE ON FUNCTION book_dead_letter_batch TO fe_worker;
