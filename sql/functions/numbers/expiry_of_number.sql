-- Expiry of the range that a number belongs to: the sequence's present range or, if it lies outside, the latest former
-- one. A number outside all known ranges (the client has it from elsewhere) has the expiry of the sequence
-- (interface.md#auto-fill).
CREATE OR REPLACE FUNCTION expiry_of_number(
    p_e_ncf text, p_min bigint, p_max bigint, p_expire_at timestamptz, p_former former_range []
) RETURNS timestamptz
LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN cardinality(p_former) > 0 AND substr(p_e_ncf, 4)::bigint NOT BETWEEN p_min AND p_max
    THEN nullif(coalesce(former_expiry(substr(p_e_ncf, 4)::bigint, p_former), p_expire_at), 'infinity')
    ELSE p_expire_at
END;

GRANT EXECUTE ON FUNCTION expiry_of_number TO fe_front, fe_portal, fe_worker, fe_operator;
