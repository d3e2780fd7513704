-- The plain form row by row: each statement names one tenant, and so goes to one node.
CREATE OR REPLACE FUNCTION note_ends(p_tenants bigint[], p_subjects uuid[], p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    this_month date := utc_month(p_at);
    is_billed boolean;
    month_billed date;
BEGIN
    FOR n IN 1 .. coalesce(cardinality(p_subjects), 0) LOOP
        SELECT s.environment = 'ecf' AND s.status IN ('Aceptado', 'Aceptado Condicional') INTO is_billed
          FROM submissions AS s
         WHERE s.tenant_id = p_tenants[n] AND s.submission_id = p_subjects[n];
        CONTINUE WHEN NOT FOUND;
        month_billed := CASE WHEN is_billed AND (SELECT t.enabled
                                                   FROM billing_terms AS t
                                                  WHERE t.tenant_id = p_tenants[n] AND t.since <= p_at
                                                  ORDER BY t.since DESC
                                                  LIMIT 1) THEN this_month END;
        INSERT INTO usage_ends (tenant_id, submission_id, noted_at, billed_in)
        VALUES (p_tenants[n], p_subjects[n], clock_timestamp(), month_billed)
        ON CONFLICT DO NOTHING;
        IF FOUND AND month_billed IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM billing_months AS m WHERE m.tenant_id = p_tenants[n] AND m.month = this_month) THEN
            PERFORM freeze_month(p_tenants[n], this_month, p_at);
        END IF;
    END LOOP;
END
$$;
