-- Whether a number can be drawn: it is not void, no signed submission has it, and none that waits to be signed. Waiting submissions are
-- searched from p_set_at on, when the sequence was set to this number, and for forty days at most.
CREATE OR REPLACE FUNCTION number_is_free(
    p_tenant bigint, p_environment text, p_e_ncf text, p_set_at timestamptz
) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF p_set_at IS NOT NULL THEN
        IF EXISTS (
            SELECT 1
              FROM submissions AS s
             WHERE s.tenant_id = p_tenant AND s.environment = p_environment AND s.e_ncf = p_e_ncf
               AND s.submission_id >= uuid_floor(p_set_at - interval '40 days')
               AND s.submission_id < uuid_floor(p_set_at + interval '1 hour')  -- as far as clocks may be apart
               AND s.signed_at IS NULL AND s.root IN ('ECF', 'RFCE')
               AND s.status <> 'error' AND s.number_fate <> 'reusable') THEN
            RETURN false;
        END IF;
    END IF;
    RETURN NOT EXISTS (
        SELECT 1
          FROM held_numbers AS n
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = n.submission_id
         WHERE n.tenant_id = p_tenant AND n.environment = p_environment AND n.e_ncf = p_e_ncf
           AND s.number_fate <> 'reusable')
       AND voiding_of(p_tenant, p_environment, p_e_ncf) IS NULL;
END
$$;

GRANT EXECUTE ON FUNCTION number_is_free TO fe_front, fe_portal;
