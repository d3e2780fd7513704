-- Next number after a change of range: moved to the nearest bound. One past the old end (used up) stays used up only if
-- the end is the same.
CREATE OR REPLACE FUNCTION next_number_in(p_next bigint, p_old_max bigint, p_min bigint, p_max bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN p_next = p_old_max + 1 AND p_max = p_old_max THEN p_next
    ELSE least(greatest(p_next, p_min), p_max)
END;

GRANT EXECUTE ON FUNCTION next_number_in TO fe_front, fe_portal, fe_operator;
