-- On a node: the given shards that are here, and the places of each.
CREATE OR REPLACE FUNCTION shards_here(p_shards bigint[]) RETURNS TABLE (shard bigint, places int[])
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT s.shard, array_agg(s.n::int ORDER BY s.n)
      FROM unnest(p_shards) WITH ORDINALITY AS s (shard, n)
      JOIN pg_dist_placement AS p ON p.shardid = s.shard
      JOIN pg_dist_local_group AS here ON here.groupid = p.groupid
     GROUP BY s.shard
     ORDER BY s.shard;
END
$$;

GRANT EXECUTE ON FUNCTION shards_here TO fe_front, fe_portal, fe_worker, fe_operator;
