-- The plain form, whose rows are booked on their nodes (decide_batch). The coordinator knows which events and
-- deliveries follow: the call stands alone only where none does.
CREATE OR REPLACE FUNCTION book_verdict_batch(
    p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_statuses text[], p_track_ids text[],
    p_responses jsonb[], p_number_fates text[]
) RETURNS uuid[] LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    sends boolean[];
    answers text[];
    mine uuid[] := p_subjects;
    going_on uuid[] := p_subjects;
BEGIN
    IF EXISTS (SELECT FROM webhook_endpoints AS e WHERE e.tenant_id = ANY (p_tenants))
       OR EXISTS (SELECT FROM tenants AS t
                   WHERE t.tenant_id = ANY (p_tenants) AND (t.sends_to_receivers OR t.mail IS NOT NULL)) THEN
        PERFORM stand_together();
    END IF;
    IF NOT stands_alone() THEN
        sends := ARRAY(
            SELECT EXISTS (SELECT FROM tenants AS t
                            WHERE t.tenant_id = b.tenant_id AND (t.sends_to_receivers OR t.mail IS NOT NULL))
              FROM unnest(p_tenants) WITH ORDINALITY AS b (tenant_id, n)
             ORDER BY b.n);
    END IF;
    answers := decide_batch(
        p_tenants, p_subjects, p_epochs, p_at, p_statuses, p_track_ids, p_responses, p_number_fates, sends);
    FOR n IN 1 .. cardinality(answers) LOOP
        IF answers[n] IS DISTINCT FROM 'goes on' THEN
            going_on[n] := NULL;
        END IF;
        IF coalesce(answers[n], 'lost') = 'lost' THEN
            mine[n] := NULL;
        END IF;
    END LOOP;
    PERFORM tell_outcomes(p_tenants, mine, p_at);
    IF num_nonnulls(VARIADIC going_on) > 0 THEN
        PERFORM begin_deliveries(p_tenants, going_on, p_statuses, p_at);
    END IF;
    RETURN mine;
END
$$;
