-- The requested leases; NULL where none was requested or the work is paused.
CREATE OR REPLACE FUNCTION leases_unless_paused(p_tenants bigint[], p_environments text[], p_leases interval[])
RETURNS interval[] LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_leases IS NULL OR num_nonnulls(VARIADIC p_leases) = 0 THEN
        RETURN p_leases;
    END IF;
    RETURN ARRAY(SELECT CASE WHEN NOT EXISTS (
                            SELECT 1
                              FROM pauses AS p
                             WHERE p.tenant_id IN (0, b.tenant_id) AND p.environment IN ('', b.environment))
                        THEN b.lease END
                   FROM unnest(p_tenants, p_environments, p_leases) WITH ORDINALITY
                        AS b (tenant_id, environment, lease, n)
                  ORDER BY b.n);
END
$$;

GRANT EXECUTE ON FUNCTION leases_unless_paused TO fe_front, fe_portal, fe_worker, fe_operator;
