-- Trace of a claimed row. Volatile, so that it sees what the claim saw.
CREATE OR REPLACE FUNCTION trace_of(p_tenant bigint, p_subject uuid) RETURNS text
LANGUAGE plpgsql STRICT AS $$
BEGIN
    RETURN (SELECT o.trace FROM outbox AS o WHERE o.tenant_id = p_tenant AND o.subject = p_subject);
END
$$;

GRANT EXECUTE ON FUNCTION trace_of TO fe_worker;
