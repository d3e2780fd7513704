-- How a tenant is named to row-level security on several nodes, and what the name of one who hands a submission in comes to.

-- As in 0041, for every node that this transaction works with from here on: Citus hands SET LOCAL on, and set_config() not. A
-- statement within a statement, because it does so in a transaction block or from there, and an accept is neither by itself.
CREATE OR REPLACE FUNCTION name_tenant(p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('SET LOCAL fe.tenant = %L', p_tenant);
    RETURN p_tenant;
END
$$;

-- As in 0041, and what the trigger of 0027 looks at: on the nodes, where submissions are written, nobody knows who is disabled.
CREATE OR REPLACE FUNCTION name_submitter(p_tenant bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM disabled_tenants AS d WHERE d.tenant_id = p_tenant) THEN
        RAISE EXCEPTION 'the tenant is disabled' USING ERRCODE = 'FE004';
    END IF;
    RETURN name_tenant(p_tenant);
END
$$;
