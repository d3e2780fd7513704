-- The voiding that a number is in, asked or done; NULL if it is in none. Ranges of an environment and type do not overlap.
CREATE OR REPLACE FUNCTION voiding_of(p_tenant bigint, p_environment text, p_e_ncf text) RETURNS uuid
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT CASE WHEN v.last_number >= substr(p_e_ncf, 4)::bigint THEN v.voiding_id END
          FROM voided_ranges AS v
         WHERE v.tenant_id = p_tenant AND v.environment = p_environment AND v.prefix = left(p_e_ncf, 3)
           AND v.first_number <= substr(p_e_ncf, 4)::bigint
         ORDER BY v.first_number DESC
         LIMIT 1);
END
$$;

GRANT EXECUTE ON FUNCTION voiding_of TO fe_front, fe_portal, fe_worker, fe_operator;
