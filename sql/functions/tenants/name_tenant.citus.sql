-- The plain form for all nodes that the transaction uses from here on: Citus propagates SET LOCAL, and not
-- set_config(). EXECUTE, because Citus does so only within a transaction block or a nested statement.
CREATE OR REPLACE FUNCTION name_tenant(p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SET LOCAL fe.tenant = %L', p_tenant);
    RETURN p_tenant;
END
$$;
