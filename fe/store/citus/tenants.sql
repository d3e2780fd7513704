-- How a tenant is named to row-level security on several nodes.

-- As in 0041, for every node that this transaction works with from here on: Citus hands SET LOCAL on, and set_config() not. A
-- statement within a statement, because it does so in a transaction block or from there, and an accept is neither by itself.
CREATE OR REPLACE FUNCTION name_tenant(p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SET LOCAL fe.tenant = %L', p_tenant);
    RETURN p_tenant;
END
$$;
