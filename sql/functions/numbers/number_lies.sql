-- How near a number lies to a sequence of its type: 0 in the range, 1 in a former range, 2 elsewhere and the sequence
-- has no name, NULL elsewhere. Of the sequences of a type the one with the least rank is the number's.
CREATE OR REPLACE FUNCTION number_lies(
    p_e_ncf text, p_sequence text, p_min bigint, p_max bigint, p_former former_range []
) RETURNS int
LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN substr(p_e_ncf, 4)::bigint BETWEEN p_min AND p_max THEN 0
    WHEN cardinality(p_former) > 0 AND former_expiry(substr(p_e_ncf, 4)::bigint, p_former) IS NOT NULL THEN 1
    WHEN length(p_sequence) = 3 THEN 2
END;

GRANT EXECUTE ON FUNCTION number_lies TO fe_front, fe_portal, fe_worker, fe_operator;
