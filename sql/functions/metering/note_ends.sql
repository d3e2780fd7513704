-- Record that submissions have ended, in the transaction that ends them, and whether each is billed. The first billed
-- one of a month freezes its price. p_at is when they ended. NULL among the submissions: skip.
CREATE OR REPLACE FUNCTION note_ends(p_tenants bigint[], p_subjects uuid[], p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    this_month date := utc_month(p_at);
    billed bigint[];
    one bigint;
    span record := span_of(p_subjects);
BEGIN
    WITH noted AS (
        INSERT INTO usage_ends (tenant_id, submission_id, noted_at, billed_in)
        SELECT b.tenant_id, b.subject, clock_timestamp(),
               CASE WHEN s.environment = 'ecf' AND s.status IN ('Aceptado', 'Aceptado Condicional')
                         AND (SELECT t.enabled
                                FROM billing_terms AS t
                               WHERE t.tenant_id = b.tenant_id AND t.since <= p_at
                               ORDER BY t.since DESC
                               LIMIT 1) THEN this_month END
          FROM unnest(p_tenants, p_subjects) AS b (tenant_id, subject)
          JOIN submissions AS s
            ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
           AND s.submission_id BETWEEN span.first AND span.last
        ON CONFLICT DO NOTHING
        RETURNING tenant_id, billed_in
    )
    SELECT array_agg(DISTINCT noted.tenant_id ORDER BY noted.tenant_id) INTO billed
      FROM noted
     WHERE noted.billed_in IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM billing_months AS m
                        WHERE m.tenant_id = noted.tenant_id AND m.month = this_month);
    IF billed IS NOT NULL THEN
        FOREACH one IN ARRAY billed LOOP
            PERFORM freeze_month(one, this_month, p_at);
        END LOOP;
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION note_ends TO fe_worker, fe_operator;
