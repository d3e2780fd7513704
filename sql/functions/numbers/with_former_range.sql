-- Former ranges of a sequence after a change to p_min and p_max, eight at most. A change that keeps the range is a
-- correction of all its numbers; a range without an expiry is not remembered.
CREATE OR REPLACE FUNCTION with_former_range(
    p_former former_range [], p_old_min bigint, p_old_max bigint, p_old_expire_at timestamptz, p_min bigint,
    p_max bigint
) RETURNS former_range []
LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN p_old_expire_at IS NULL OR (p_old_min = p_min AND p_old_max = p_max) THEN p_former
    ELSE (row(p_old_min, p_old_max, p_old_expire_at)::former_range || p_former)[1:8]
END;

GRANT EXECUTE ON FUNCTION with_former_range TO fe_front, fe_portal, fe_operator;
