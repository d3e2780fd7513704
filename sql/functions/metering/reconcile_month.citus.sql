-- The plain form with count_month in the same statement: Citus cannot push a set-returning function to a node.
CREATE OR REPLACE FUNCTION reconcile_month(p_tenant bigint, p_month date) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    begins timestamptz := month_begins(p_month);
    ends timestamptz := month_begins((p_month + interval '1 month')::date);
    moment timestamptz := clock_timestamp();
    found record;
    wrong bigint;
BEGIN
    PERFORM 1 FROM usage_marks AS m WHERE m.tenant_id = p_tenant FOR UPDATE;
    SELECT coalesce(sum(x.many), 0)::bigint AS many, min(x.first_at) AS first_at,
           (SELECT m.counted FROM billing_months AS m WHERE m.tenant_id = p_tenant AND m.month = p_month) AS counted,
           (SELECT count(*) FROM usage_ends AS e WHERE e.tenant_id = p_tenant AND e.billed_in = p_month) AS noted
      INTO found
      FROM (SELECT t.since, lead(t.since) OVER (ORDER BY t.since) AS until, t.enabled
              FROM billing_terms AS t
             WHERE t.tenant_id = p_tenant) AS term
     CROSS JOIN LATERAL (
           SELECT count(*) AS many, min(s.verdict_at) AS first_at
             FROM submissions AS s
            WHERE s.tenant_id = p_tenant AND s.environment = 'ecf'
              AND s.verdict_at >= greatest(term.since, begins) AND s.verdict_at < least(term.until, ends)
              AND s.status IN ('Aceptado', 'Aceptado Condicional')) AS x
     WHERE term.enabled;
    IF found.many = 0 AND found.counted IS NULL THEN
        RETURN NULL;
    END IF;
    PERFORM freeze_month(p_tenant, p_month, found.first_at);
    wrong := coalesce(found.counted, 0) + found.noted - found.many;
    UPDATE billing_months AS m
       SET counted = found.many - found.noted, checked_at = moment, drift = wrong
     WHERE m.tenant_id = p_tenant AND m.month = p_month;
    RETURN wrong;
END
$$;
