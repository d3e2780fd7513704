-- Signatories of each tenant, as claim_with_input returns it.
CREATE OR REPLACE FUNCTION signatories_of(p_tenants bigint[]) RETURNS TABLE (tenant_id bigint, signatory text)
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT t.tenant_id,
           jsonb_build_object(
               'issuer', t.issuer, 'consumerSummary', t.consumer_summary,
               'candidates', (SELECT jsonb_agg(jsonb_build_array(x.certificate_id, x.user_id, u.email,
                                                                 u.issuer_override, x.not_before, x.not_after))
                                FROM certificates AS x
                                LEFT JOIN users AS u ON u.tenant_id = x.tenant_id AND u.user_id = x.user_id
                               WHERE x.tenant_id = t.tenant_id AND x.retired_at IS NULL))::text
      FROM tenants AS t
     WHERE t.tenant_id = ANY (p_tenants);
END
$$;

GRANT EXECUTE ON FUNCTION signatories_of TO fe_worker;
