-- What Citus needs of tenants: how one is named to row-level security on several nodes, and which have a weight of their own.

-- As in 0041, for every node that this transaction works with from here on: Citus hands SET LOCAL on, and set_config() not. A
-- statement within a statement, because it does so in a transaction block or from there, and an accept is neither by itself.
CREATE OR REPLACE FUNCTION name_tenant(p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SET LOCAL fe.tenant = %L', p_tenant);
    RETURN p_tenant;
END
$$;

-- Whoever claims on a node (near.sql) brings the weights with it.
CREATE INDEX IF NOT EXISTS tenants_with_a_weight ON tenants (tenant_id) INCLUDE (weight) WHERE weight <> 1;
