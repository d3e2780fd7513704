-- For each node with rows of a batch: an anchor as the way there, the places of its rows (NULL: all), and their shards
-- (NULL: the anchor's).
CREATE OR REPLACE FUNCTION ways_to(p_tenants bigint[], p_shards bigint[])
RETURNS TABLE (way bigint, places int[], shards bigint[])
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT anchor_of(x.tenant_id), CASE WHEN x.nodes > 1 THEN x.places END, CASE WHEN x.several THEN x.shards END
      FROM (SELECT min(t.tenant_id) AS tenant_id, array_agg(t.n::int ORDER BY t.n) AS places,
                   array_agg(t.shard ORDER BY t.n) AS shards, min(t.shard) < max(t.shard) AS several,
                   count(*) OVER () AS nodes, p.groupid
              FROM unnest(p_tenants, p_shards) WITH ORDINALITY AS t (tenant_id, shard, n)
              JOIN pg_dist_placement AS p ON p.shardid = t.shard
             GROUP BY p.groupid) AS x
     ORDER BY x.groupid;
END
$$;

GRANT EXECUTE ON FUNCTION ways_to TO fe_front, fe_portal, fe_worker, fe_operator;
