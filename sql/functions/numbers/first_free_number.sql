-- First number from p_from on that can be drawn, in the range or past its end. After a hundred taken numbers it
-- searches by the keys alone, and skips the whole run, with any returned numbers in it.
CREATE OR REPLACE FUNCTION first_free_number(
    p_tenant bigint, p_environment text, p_prefix text, p_from bigint, p_set_at timestamptz, p_at timestamptz
) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    lately timestamptz := CASE WHEN p_at < p_set_at + interval '40 days' THEN p_set_at END;
    number bigint := p_from;
    somebodys text;
BEGIN
    LOOP
        FOR nth IN 1 .. 100 LOOP
            IF number IS NULL OR number > 9999999999
               OR number_is_free(p_tenant, p_environment, p_prefix || lpad(number::text, 10, '0'), lately) THEN
                RETURN number;
            END IF;
            number := number + 1;
        END LOOP;
        FOR somebodys IN
            SELECT n.e_ncf
              FROM held_numbers AS n
             WHERE n.tenant_id = p_tenant AND n.environment = p_environment
               AND n.e_ncf >= p_prefix || lpad(number::text, 10, '0') AND n.e_ncf <= p_prefix || '9999999999'
             ORDER BY n.e_ncf
             LIMIT 100000
        LOOP
            EXIT WHEN substr(somebodys, 4)::bigint > number;
            number := substr(somebodys, 4)::bigint + 1;
        END LOOP;
        FOR somebodys IN
            SELECT s.e_ncf
              FROM submissions AS s
             WHERE s.tenant_id = p_tenant AND s.environment = p_environment
               AND s.e_ncf >= p_prefix || lpad(number::text, 10, '0') AND s.e_ncf <= p_prefix || '9999999999'
               AND s.submission_id >= uuid_floor(lately - interval '40 days')
               AND s.submission_id < uuid_floor(lately + interval '1 hour')
               AND s.root IN ('ECF', 'RFCE')
             ORDER BY s.e_ncf
             LIMIT 100000
        LOOP
            EXIT WHEN substr(somebodys, 4)::bigint > number;
            number := substr(somebodys, 4)::bigint + 1;
        END LOOP;
        number := greatest(number, (
            SELECT v.last_number + 1
              FROM voided_ranges AS v
             WHERE v.tenant_id = p_tenant AND v.environment = p_environment AND v.prefix = p_prefix
               AND v.first_number <= number
             ORDER BY v.first_number DESC
             LIMIT 1));
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION first_free_number TO fe_front, fe_portal;
