-- Divide p_capacity among tenants by weight: at least one each, what rounding leaves to the first, none more than
-- p_most. There are no more tenants than p_capacity.
CREATE OR REPLACE FUNCTION divide_by_weight(p_weights int [], p_capacity int, p_most int []) RETURNS int []
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    many int := cardinality(p_weights);
    total bigint := 0;
    remaining int := p_capacity;
    shares int[] := p_weights;
BEGIN
    IF many = 1 THEN
        RETURN ARRAY[least(p_capacity, p_most[1])];
    END IF;
    FOR n IN 1 .. many LOOP
        total := total + p_weights[n];
    END LOOP;
    FOR n IN 1 .. many LOOP
        shares[n] := 1 + (p_capacity - many)::bigint * p_weights[n] / total;
        remaining := remaining - shares[n];
    END LOOP;
    FOR n IN 1 .. many LOOP
        shares[n] := least(shares[n] + (n <= remaining)::int, p_most[n]);
    END LOOP;
    RETURN shares;
END
$$;

GRANT EXECUTE ON FUNCTION divide_by_weight TO fe_worker;
