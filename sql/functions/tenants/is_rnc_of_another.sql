-- Whether an RNC is another tenant's, without telling whose.
CREATE OR REPLACE FUNCTION is_rnc_of_another(p_tenant bigint, p_rnc text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT EXISTS (SELECT 1 FROM tenant_rncs AS r WHERE r.rnc = p_rnc AND r.holder <> p_tenant)
$$;

GRANT EXECUTE ON FUNCTION is_rnc_of_another TO fe_front, fe_portal;
