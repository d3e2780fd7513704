-- On a node: name the tenant whose rows are written.
CREATE OR REPLACE FUNCTION named_here(p_tenant bigint) RETURNS bigint
LANGUAGE sql VOLATILE
RETURN set_config('fe.tenant', p_tenant::text, true)::bigint;

GRANT EXECUTE ON FUNCTION named_here TO fe_front, fe_portal, fe_worker, fe_operator;
