-- Name a tenant to row-level security for the rest of the transaction, and return it. The only place that does so:
-- Citus has another body. Used within a statement, it names the tenant of the row that is checked.
CREATE OR REPLACE FUNCTION name_tenant(p_tenant bigint) RETURNS bigint
LANGUAGE sql
RETURN set_config('fe.tenant', p_tenant::text, true)::bigint;

GRANT EXECUTE ON FUNCTION name_tenant TO fe_front, fe_portal;
