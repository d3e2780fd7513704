-- Rebuild a tenant's days from its submissions. Until they are closed again, usage is read from the submissions.
CREATE OR REPLACE FUNCTION restart_usage(p_tenant bigint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO usage_marks (tenant_id, closed_until)
    VALUES (p_tenant, NULL)
    ON CONFLICT (tenant_id) DO UPDATE SET closed_until = NULL;
    DELETE FROM usage_days AS d WHERE d.tenant_id = p_tenant;
    DELETE FROM usage_latency AS l WHERE l.tenant_id = p_tenant;
    DELETE FROM receipt_days AS r WHERE r.tenant_id = p_tenant;
    DELETE FROM usage_carried AS c WHERE c.tenant_id = p_tenant;
    INSERT INTO usage_ends (tenant_id, submission_id, noted_at)
    SELECT p_tenant, s.submission_id, coalesce(s.verdict_at, s.updated_at)
      FROM submissions AS s
     WHERE s.tenant_id = p_tenant
       AND s.status IN ('Aceptado', 'Aceptado Condicional', 'Rechazado', 'error')
    ON CONFLICT DO NOTHING;
END
$$;

GRANT EXECUTE ON FUNCTION restart_usage TO fe_worker, fe_operator;
