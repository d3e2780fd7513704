-- Of the tenants with due work in a lane ([lane, tenant, round, first]): how many, since when, who is served in turn,
-- and with how many rows by weight. Tenants missing in p_weighted have weight 1.
CREATE OR REPLACE FUNCTION served_of(
    p_due jsonb, p_lane int, p_environment text, p_host text, p_capacity int, p_scope int, p_most int, p_busy bigint[],
    p_busy_in text[], p_weighted bigint[], p_weights int[],
    OUT due int, OUT first_due timestamptz, OUT tenants bigint[], OUT shares int[]
)
LANGUAGE plpgsql AS $$
DECLARE
    weights int[];
    most int[];
BEGIN
    WITH known AS (
        SELECT turn.tenant_id, coalesce(w.weight, 1) AS weight, turn.round, turn.first_due,
               p_most - (SELECT count(*)
                           FROM unnest(p_busy, p_busy_in) AS busy (tenant_id, lane)
                          WHERE busy.tenant_id = turn.tenant_id
                            AND busy.lane IN (p_environment || ' ' || p_host, p_environment))::int AS most
          FROM (SELECT (f.value ->> 1)::bigint AS tenant_id, min((f.value ->> 2)::int) AS round,
                       min((f.value ->> 3)::timestamptz) AS first_due
                  FROM jsonb_array_elements(p_due) AS f (value)
                 WHERE (f.value ->> 0)::int = p_lane
                 GROUP BY 1) AS turn
          LEFT JOIN unnest(p_weighted, p_weights) AS w (tenant_id, weight) ON w.tenant_id = turn.tenant_id
         ORDER BY turn.round, turn.tenant_id
         LIMIT least(p_scope, greatest(p_capacity, 0) + cardinality(p_busy) / p_most + 1)
    )
    SELECT count(*), min(k.first_due), array_agg(k.tenant_id ORDER BY k.round, k.tenant_id) FILTER (WHERE k.most > 0),
           array_agg(k.weight ORDER BY k.round, k.tenant_id) FILTER (WHERE k.most > 0),
           array_agg(k.most ORDER BY k.round, k.tenant_id) FILTER (WHERE k.most > 0)
      INTO due, first_due, tenants, weights, most
      FROM known AS k;
    tenants := coalesce(tenants[1:greatest(p_capacity, 0)], '{}');
    shares := CASE WHEN tenants = '{}' THEN '{}' ELSE divide_by_weight(weights[1:p_capacity], p_capacity, most) END;
END
$$;

GRANT EXECUTE ON FUNCTION served_of TO fe_worker;
