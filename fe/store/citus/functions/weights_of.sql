-- Of the tenants with due work: the unpaused ones, p_limit of each lane, in turn.
CREATE OR REPLACE FUNCTION weights_of(p_due jsonb, p_environments text[], p_limit int)
RETURNS TABLE (lane int, tenant_id bigint, weight int)
LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
#variable_conflict use_column
BEGIN
    RETURN QUERY
    SELECT turn.lane, turn.tenant_id, turn.weight
      FROM (SELECT d.lane, d.tenant_id, t.weight,
                   row_number() OVER (PARTITION BY d.lane ORDER BY d.round, d.tenant_id) AS n
              FROM (SELECT (f.value ->> 0)::int AS lane, (f.value ->> 1)::bigint AS tenant_id,
                           min((f.value ->> 2)::int) AS round
                      FROM jsonb_array_elements(p_due) AS f (value)
                     GROUP BY 1, 2) AS d
              JOIN tenants AS t ON t.tenant_id = d.tenant_id
             WHERE NOT EXISTS (SELECT FROM pauses AS p
                                WHERE p.tenant_id IN (0, d.tenant_id) AND p.environment IN ('', p_environments[d.lane]))
           ) AS turn
     WHERE turn.n <= p_limit
     ORDER BY turn.lane, turn.n;
END
$$;

GRANT EXECUTE ON FUNCTION weights_of TO fe_worker;
