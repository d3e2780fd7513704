-- Data of each tenant that signing needs, as JSON: its issuer and the certificates in use. Written in SQL, so that the
-- planner merges it into the statement that calls it: give it no subquery as an argument.
CREATE OR REPLACE FUNCTION signatories_of(p_tenants bigint[]) RETURNS TABLE (tenant_id bigint, signatory text)
LANGUAGE sql STABLE AS $$
    SELECT t.tenant_id,
           jsonb_build_object(
               'issuer', t.issuer, 'consumerSummary', t.consumer_summary,
               'candidates', (SELECT jsonb_agg(jsonb_build_array(c.certificate_id, c.user_id, u.email,
                                                                 u.issuer_override, c.not_before, c.not_after))
                                FROM certificates AS c
                                LEFT JOIN users AS u ON u.tenant_id = c.tenant_id AND u.user_id = c.user_id
                               WHERE c.tenant_id = t.tenant_id AND c.retired_at IS NULL))::text
      FROM tenants AS t
     WHERE t.tenant_id = ANY (p_tenants);
$$;

GRANT EXECUTE ON FUNCTION signatories_of TO fe_worker;
