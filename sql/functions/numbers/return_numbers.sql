-- Return the numbers of submissions that have just ended unsigned, where their sequence drew them. NULL among the
-- submissions: skip.
CREATE OR REPLACE FUNCTION return_numbers(p_tenants bigint[], p_subjects uuid[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO returned_numbers (tenant_id, environment, prefix, number)
    SELECT s.tenant_id, s.environment, left(s.e_ncf, 3), substr(s.e_ncf, 4)::bigint
      FROM unnest(p_tenants, p_subjects) AS b (tenant_id, subject)
      JOIN submissions AS s ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
      JOIN submission_events AS e ON e.tenant_id = b.tenant_id AND e.submission_id = b.subject AND e.seq = 1
     WHERE s.status = 'error' AND s.number_fate = 'reusable' AND s.signed_at IS NULL AND s.root = 'ECF'
       AND s.e_ncf IS NOT NULL AND e.detail ->> 'drawn' = 'true'
    ON CONFLICT DO NOTHING;
END
$$;

GRANT EXECUTE ON FUNCTION return_numbers TO fe_worker, fe_operator;
