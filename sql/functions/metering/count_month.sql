-- Billed emissions of a month and the moment of the first, counted from the submissions.
CREATE OR REPLACE FUNCTION count_month(p_tenant bigint, p_month date, OUT many bigint, OUT first_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT coalesce(sum(x.many), 0), min(x.first_at) INTO many, first_at
      FROM (SELECT t.since, lead(t.since) OVER (ORDER BY t.since) AS until, t.enabled
              FROM billing_terms AS t
             WHERE t.tenant_id = p_tenant) AS term
     CROSS JOIN LATERAL (
           SELECT count(*) AS many, min(s.verdict_at) AS first_at
             FROM submissions AS s
            WHERE s.tenant_id = p_tenant AND s.environment = 'ecf'
              AND s.verdict_at >= greatest(term.since, month_begins(p_month))
              AND s.verdict_at < least(term.until, month_begins((p_month + interval '1 month')::date))
              AND s.status IN ('Aceptado', 'Aceptado Condicional')) AS x
     WHERE term.enabled;
END
$$;

GRANT EXECUTE ON FUNCTION count_month TO fe_worker, fe_operator;
