-- On the coordinator: what a claim on a node is told: pauses, weights other than 1, and who may sign for some tenants.
CREATE OR REPLACE FUNCTION told_to_node(p_tenants bigint[]) RETURNS TABLE (
    paused bigint[], paused_in text[], weighted bigint[], weights int[], tenants bigint[], signatories text[]
)
LANGUAGE plpgsql STABLE SET plan_cache_mode TO force_generic_plan AS $$
BEGIN
    SELECT coalesce(array_agg(p.tenant_id), '{}'), coalesce(array_agg(p.environment), '{}') INTO paused, paused_in
      FROM pauses AS p;
    SELECT coalesce(array_agg(t.tenant_id), '{}'), coalesce(array_agg(t.weight), '{}') INTO weighted, weights
      FROM tenants AS t
     WHERE t.weight <> 1;
    IF p_tenants <> '{}' THEN
        SELECT array_agg(s.tenant_id), array_agg(s.signatory) INTO tenants, signatories
          FROM signatories_of(p_tenants) AS s;
    END IF;
    RETURN NEXT;
END
$$;

GRANT EXECUTE ON FUNCTION told_to_node TO fe_worker;
