-- The plain form with a first look that is planned once: mostly no endpoint wants the event.
CREATE OR REPLACE FUNCTION tell_outcomes(p_tenants bigint[], p_submissions uuid[], p_at timestamptz)
RETURNS void LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM webhook_endpoints AS e WHERE e.tenant_id = ANY (p_tenants)) THEN
        PERFORM tell_outcomes_to_webhooks(p_tenants, p_submissions, p_at);
    END IF;
END
$$;
