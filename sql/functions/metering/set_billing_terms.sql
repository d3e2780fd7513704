-- Change a tenant's billing terms from p_at on (NULL: from now on), never before its newest terms. NULL leaves a field
-- as it is. Returns the moment from which the terms hold.
CREATE OR REPLACE FUNCTION set_billing_terms(
    p_tenant bigint, p_at timestamptz, p_enabled boolean, p_subscription text, p_price numeric, p_currency text,
    p_tier text
) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
    newest timestamptz;
    moment timestamptz;
    terms record;
BEGIN
    INSERT INTO billing_accounts AS b (tenant_id, enabled, subscription_id, unit_price, currency, pricing_tier)
    VALUES (p_tenant, coalesce(p_enabled, false), p_subscription, p_price, coalesce(p_currency, 'USD'),
            coalesce(p_tier, 'standard'))
    ON CONFLICT (tenant_id) DO UPDATE
       SET enabled = coalesce(p_enabled, b.enabled), subscription_id = coalesce(p_subscription, b.subscription_id),
           unit_price = coalesce(p_price, b.unit_price), currency = coalesce(p_currency, b.currency),
           pricing_tier = coalesce(p_tier, b.pricing_tier)
    RETURNING b.enabled, b.subscription_id, b.unit_price, b.currency, b.pricing_tier INTO terms;
    SELECT max(t.since) INTO newest FROM billing_terms AS t WHERE t.tenant_id = p_tenant;
    moment := greatest(coalesce(p_at, clock_timestamp()), newest + interval '1 microsecond');
    INSERT INTO billing_terms (tenant_id, since, enabled, subscription_id, unit_price, currency, pricing_tier)
    -- Values, as Citus would use COPY for INSERT ... SELECT, which row-level security refuses.
    VALUES (p_tenant, moment, terms.enabled, terms.subscription_id, terms.unit_price, terms.currency,
            terms.pricing_tier);
    RETURN moment;
END
$$;

GRANT EXECUTE ON FUNCTION set_billing_terms TO fe_operator;
