-- Book verdicts: submissions end, their sends are closed, usage is noted, and deliveries to counterparties begin.
CREATE OR REPLACE FUNCTION book_verdict_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_statuses text[], p_track_ids text[],
    p_responses jsonb[], p_number_fates text[]
) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
    mine uuid[] := complete_batch(p_tenants, p_subjects, p_epochs);
    span record := span_of(mine);
BEGIN
    PERFORM close_sends_batch(p_tenants, mine, p_at, 'received', p_track_ids);
    UPDATE submissions AS s
       SET status = b.status, track_id = coalesce(b.track_id, s.track_id), response = b.response,
           number_fate = b.number_fate, updated_at = p_at, verdict_at = p_at,
           first_answer_at = coalesce(s.first_answer_at, p_at)
      FROM unnest(p_tenants, mine, p_statuses, p_track_ids, p_responses, p_number_fates)
                   AS b (tenant_id, subject, status, track_id, response, number_fate)
     WHERE s.tenant_id = b.tenant_id AND s.submission_id = b.subject
       AND s.submission_id BETWEEN span.first AND span.last;
    PERFORM record_event_batch(p_tenants, mine, p_at, 'verdict', ARRAY(
        SELECT jsonb_build_object('status', b.status, 'response', b.response, 'numberFate', b.number_fate)
          FROM unnest(p_statuses, p_responses, p_number_fates) WITH ORDINALITY AS b (status, response, number_fate, n)
         ORDER BY b.n));
    PERFORM begin_deliveries(p_tenants, mine, p_statuses, p_at);
    PERFORM note_ends(p_tenants, mine, p_at);
    RETURN mine;
END
$$;

GRANT EXECUTE ON FUNCTION book_verdict_batch TO fe_worker;
