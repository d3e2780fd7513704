-- The holders of numbers, in the order of the arrays.
CREATE OR REPLACE FUNCTION holders_of_batch(
    p_tenants bigint[], p_environments text[], p_e_ncfs text[], p_issuers text[]
)
RETURNS uuid[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN ARRAY(
        SELECT n.submission_id
          FROM unnest(p_tenants, p_environments, p_e_ncfs, p_issuers) WITH ORDINALITY
                       AS b (tenant_id, environment, e_ncf, issuer_rnc, n)
          LEFT JOIN held_numbers AS n
            ON n.tenant_id = b.tenant_id AND n.environment = b.environment AND n.e_ncf = b.e_ncf
           AND n.issuer_rnc = b.issuer_rnc
         ORDER BY b.n);
END
$$;

GRANT EXECUTE ON FUNCTION holders_of_batch TO fe_worker;
