-- How fast a sequence's numbers go, for pages that show how long they last (fe/store/records/number_history.py); and rights to see it.

-- The first number of a range that was taken at a moment or later, p_next where none was; what is looked at is which
-- submission holds it. Numbers are given in their order, so it is looked for by halves: some thirty keys of one index,
-- however many numbers were used. Where documents come with numbers out of their order, it is near the truth.
CREATE FUNCTION first_number_since(
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

-- A tenant's own bills, and for operators the requests of a tenant's days (`fe usage`).
GRANT SELECT ON billing_charges TO fe_portal;

GRANT SELECT ON request_counts TO fe_operator;
