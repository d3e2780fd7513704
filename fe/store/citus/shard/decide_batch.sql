-- Book verdicts; returns of each whether it was booked, and whether a delivery to a counterparty follows. Without
-- p_sends the call stands alone and is refused if one follows.
CREATE FUNCTION decide_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_statuses text[], p_track_ids text[],
    p_responses jsonb[], p_number_fates text[], p_sends boolean[]
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
    mine uuid[] := book_verdict_batch(
        p_tenants, p_subjects, p_epochs, p_at, p_statuses, p_track_ids, p_responses, p_number_fates);
    going_on uuid[] := may_go_on_batch(p_tenants, mine, p_sends);
BEGIN
    IF p_sends IS NULL AND num_nonnulls(VARIADIC going_on) > 0 THEN
        RAISE EXCEPTION 'a verdict goes on to whom it is about' USING ERRCODE = 'FE011';
    END IF;
    RETURN ARRAY(
        SELECT CASE WHEN b.mine IS NULL THEN 'lost' WHEN b.goes_on IS NULL THEN 'booked' ELSE 'goes on' END
          FROM unnest(mine, going_on) WITH ORDINALITY AS b (mine, goes_on, n)
         ORDER BY b.n);
END
$$;
