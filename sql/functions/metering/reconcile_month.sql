-- Recount a month from the submissions and correct it. Returns by how much the count was too high; NULL when nothing of
-- it is billed.
CREATE OR REPLACE FUNCTION reconcile_month(p_tenant bigint, p_month date) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    found record;
    wrong bigint;
BEGIN
    PERFORM 1 FROM usage_marks AS m WHERE m.tenant_id = p_tenant FOR UPDATE;
    -- One statement, so one moment: what is counted, what is noted, and what there is.
    SELECT c.many, c.first_at, m.month IS NOT NULL AS is_frozen, coalesce(m.counted, 0) AS counted,
           (SELECT count(*) FROM usage_ends AS e WHERE e.tenant_id = p_tenant AND e.billed_in = p_month) AS noted
      INTO found
      FROM count_month(p_tenant, p_month) AS c
      LEFT JOIN billing_months AS m ON m.tenant_id = p_tenant AND m.month = p_month;
    IF found.many = 0 AND NOT found.is_frozen THEN
        RETURN NULL;
    END IF;
    PERFORM freeze_month(p_tenant, p_month, found.first_at);
    wrong := found.counted + found.noted - found.many;
    UPDATE billing_months AS m
       SET counted = found.many - found.noted, checked_at = clock_timestamp(), drift = wrong
     WHERE m.tenant_id = p_tenant AND m.month = p_month;
    RETURN wrong;
END
$$;

GRANT EXECUTE ON FUNCTION reconcile_month TO fe_worker, fe_operator;
