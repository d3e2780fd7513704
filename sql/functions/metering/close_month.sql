-- Close a month that is over by the server's clock: recount it, and create the charge p_subject for the emissions not
-- charged yet. Returns the amount, 0 for nothing to charge, NULL when the month is not over. Later finds are charged at
-- the next close. All charges of a month sum to its emissions at its price, rounded once.
CREATE OR REPLACE FUNCTION close_month(
    p_tenant bigint, p_month date, p_subject uuid, p_at timestamptz
) RETURNS numeric
LANGUAGE plpgsql AS $$
DECLARE
    mine record;
    total bigint;
    before numeric;
    due numeric;
    parts int;
BEGIN
    IF clock_timestamp() < month_begins((p_month + interval '1 month')::date) THEN
        RETURN NULL;
    END IF;
    PERFORM reconcile_month(p_tenant, p_month);
    SELECT m.unit_price, m.currency, m.subscription_id, m.charged,
           m.counted + (SELECT count(*) FROM usage_ends AS e
                         WHERE e.tenant_id = p_tenant AND e.billed_in = p_month) AS emissions
      INTO mine
      FROM billing_months AS m
     WHERE m.tenant_id = p_tenant AND m.month = p_month
       FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    total := greatest(mine.emissions, mine.charged);
    SELECT coalesce(sum(c.amount), 0), count(*) INTO before, parts
      FROM billing_charges AS c
     WHERE c.tenant_id = p_tenant AND c.month = p_month;
    due := round(total * mine.unit_price, 2) - before;
    UPDATE billing_months AS m
       SET closed_at = coalesce(m.closed_at, p_at), charged = total
     WHERE m.tenant_id = p_tenant AND m.month = p_month;
    IF due <= 0 THEN
        RETURN 0;
    END IF;
    INSERT INTO billing_charges (tenant_id, subject, stage, environment, run_at, entered_at, month, part, emissions,
                                 unit_price, amount, currency, subscription_id)
    VALUES (p_tenant, p_subject, 'charge', 'ecf', clock_timestamp(), clock_timestamp(), p_month, parts,
            total - mine.charged, mine.unit_price, due, mine.currency, mine.subscription_id);
    RETURN due;
END
$$;

GRANT EXECUTE ON FUNCTION close_month TO fe_worker, fe_operator;
