-- Take the least returned number from p_min on and below p_next that no submission has; NULL if there is none. The
-- caller holds the lock on the sequence's row. A number that a client has used meanwhile is removed from the returned
-- ones.
CREATE OR REPLACE FUNCTION take_returned_number(
    p_tenant bigint, p_environment text, p_prefix text, p_min bigint, p_next bigint
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    lowest bigint;
BEGIN
    LOOP
        SELECT r.number INTO lowest
          FROM returned_numbers AS r
         WHERE r.tenant_id = p_tenant AND r.environment = p_environment AND r.prefix = p_prefix
           AND r.number >= p_min AND r.number < p_next
         ORDER BY r.number
         LIMIT 1;
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        DELETE FROM returned_numbers AS r
         WHERE r.tenant_id = p_tenant AND r.environment = p_environment AND r.prefix = p_prefix AND r.number = lowest;
        IF NOT EXISTS (
            SELECT 1
              FROM submissions AS s
             WHERE s.tenant_id = p_tenant AND s.environment = p_environment
               AND s.e_ncf = p_prefix || lpad(lowest::text, 10, '0')
               AND s.root IN ('ECF', 'RFCE') AND s.number_fate <> 'reusable')
           AND number_is_free(p_tenant, p_environment, p_prefix || lpad(lowest::text, 10, '0'), NULL) THEN
            RETURN lowest;
        END IF;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION take_returned_number TO fe_front, fe_portal;
