-- Tenants with due work in each lane, as the search of fe/store/queue/tables.py.
CREATE OR REPLACE FUNCTION due_tenants_of(
    p_table text, p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[],
    p_limit int
) RETURNS TABLE (environment text, host text, tenant_id bigint, weight int)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT p_environments[w.lane], p_hosts[w.lane], w.tenant_id, w.weight
      FROM weights_of(due_anywhere(p_table, p_stage, p_environments, p_hosts, p_afters, p_floors, p_limit),
                      p_environments, p_limit) WITH ORDINALITY AS w (lane, tenant_id, weight, n)
     ORDER BY w.n;
END
$$;

GRANT EXECUTE ON FUNCTION due_tenants_of TO fe_worker;
