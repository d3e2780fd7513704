-- Name the tenant of a new submission. Here a trigger checks whether it is disabled; an engine without the trigger
-- checks it in this function.
CREATE OR REPLACE FUNCTION name_submitter(p_tenant bigint) RETURNS bigint
LANGUAGE sql
RETURN name_tenant(p_tenant);

GRANT EXECUTE ON FUNCTION name_submitter TO fe_front, fe_portal;
