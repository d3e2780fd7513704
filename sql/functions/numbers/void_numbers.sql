-- Set the fate `void` of numbers that unsigned submissions had, each with an event that names the voiding.
CREATE OR REPLACE FUNCTION void_numbers(p_tenant bigint, p_submissions uuid[], p_at timestamptz, p_voiding uuid)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    one uuid;
BEGIN
    FOREACH one IN ARRAY p_submissions LOOP
        UPDATE submissions AS s
           SET number_fate = 'void', updated_at = p_at
         WHERE s.tenant_id = p_tenant AND s.submission_id = one AND s.status = 'error' AND s.number_fate = 'reusable'
           AND s.signed_at IS NULL;
        IF FOUND THEN
            PERFORM record_event(p_tenant, one, p_at, 'voided',
                                 jsonb_build_object('numberFate', 'void', 'voidingId', p_voiding));
        END IF;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION void_numbers TO fe_worker, fe_operator;
