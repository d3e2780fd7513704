-- First number of a range that was used at a moment or later; p_next if none was. A binary search over the numbers'
-- order: some thirty index look-ups. An approximation where clients send numbers out of order.
CREATE OR REPLACE FUNCTION first_number_since(
    p_tenant bigint, p_environment text, p_prefix text, p_min bigint, p_next bigint, p_since timestamptz
) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    low bigint := p_min;
    high bigint := p_next;
    middle bigint;
    found record;
BEGIN
    WHILE low < high LOOP
        middle := (low + high) / 2;
        SELECT n.submission_id, n.e_ncf INTO found
          FROM held_numbers AS n
         WHERE n.tenant_id = p_tenant AND n.environment = p_environment
           AND n.e_ncf >= p_prefix || lpad(middle::text, 10, '0')
           AND n.e_ncf <= p_prefix || lpad((high - 1)::text, 10, '0')
         ORDER BY n.e_ncf
         LIMIT 1;
        IF found.e_ncf IS NULL OR found.submission_id >= uuid_floor(p_since) THEN
            high := middle;
        ELSE
            low := substr(found.e_ncf, 4)::bigint + 1;
        END IF;
    END LOOP;
    RETURN high;
END
$$;

GRANT EXECUTE ON FUNCTION first_number_since TO fe_front, fe_portal, fe_operator;
