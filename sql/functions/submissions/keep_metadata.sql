-- Keep clients' own labels of submissions, naming each tenant to row-level security. Row by row: on Citus a set of rows
-- becomes a COPY, which row-level security forbids.
CREATE OR REPLACE FUNCTION keep_metadata(p_tenants bigint [], p_submissions uuid [], p_metadata jsonb []) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT x.tenant, x.submission, x.metadata
                 FROM unnest(p_tenants, p_submissions, p_metadata) AS x (tenant, submission, metadata)
    LOOP
        PERFORM name_tenant(one.tenant);
        INSERT INTO submission_metadata (tenant_id, submission_id, metadata)
        VALUES (one.tenant, one.submission, one.metadata);
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION keep_metadata TO fe_front, fe_portal;
