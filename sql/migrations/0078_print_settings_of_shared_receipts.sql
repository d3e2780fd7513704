-- The buyer's page prints with the issuer's logo and colour: of the receipt that its transaction names, and no other.
-- Citus takes no subquery in a policy, and the page is refused there (docs/decisions/buyers-page.md).
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
        GRANT SELECT (tenant_id) ON shared_receipts TO fe_share;
        CREATE POLICY of_the_shared_receipt ON print_settings FOR SELECT TO fe_share
        USING (tenant_id IN (SELECT x.tenant_id FROM shared_receipts AS x));
        GRANT SELECT ON print_settings TO fe_share;
    END IF;
END
$$;
