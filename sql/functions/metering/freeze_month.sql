-- Freeze the price of a month, once: the terms in force at p_at, the first billed emission.
CREATE OR REPLACE FUNCTION freeze_month(p_tenant bigint, p_month date, p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO billing_months (tenant_id, month, unit_price, currency, pricing_tier, subscription_id, frozen_at)
    SELECT p_tenant, p_month, t.unit_price, t.currency, t.pricing_tier, t.subscription_id, p_at
      FROM billing_terms AS t
     WHERE t.tenant_id = p_tenant AND t.since <= p_at AND t.enabled
     ORDER BY t.since DESC
     LIMIT 1
    ON CONFLICT DO NOTHING;
END
$$;

GRANT EXECUTE ON FUNCTION freeze_month TO fe_worker, fe_operator;
