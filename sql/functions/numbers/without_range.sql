-- Former ranges of a sequence without the given one.
CREATE OR REPLACE FUNCTION without_range(
    p_former former_range [], p_min bigint, p_max bigint, p_expire_at timestamptz
) RETURNS former_range []
LANGUAGE sql IMMUTABLE
RETURN array_remove(p_former, row(p_min, p_max, p_expire_at)::former_range);

GRANT EXECUTE ON FUNCTION without_range TO fe_front, fe_portal, fe_operator;
