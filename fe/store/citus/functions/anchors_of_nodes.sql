-- An anchor of each node that answers, if all nodes have one.
CREATE OR REPLACE FUNCTION anchors_of_nodes() RETURNS bigint[]
LANGUAGE plpgsql STABLE SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    away int[] := away_nodes();
BEGIN
    RETURN (SELECT CASE WHEN count(*) = count(n.anchor) THEN coalesce(array_agg(n.anchor), '{}') END
              FROM (SELECT min(a.anchor) AS anchor
                      FROM pg_dist_shard AS s
                      JOIN pg_dist_placement AS p ON p.shardid = s.shardid
                      LEFT JOIN anchored_shards AS a ON a.shard = s.shardid
                     WHERE s.logicalrelid = 'anchors'::regclass AND p.groupid <> ALL (away)
                     GROUP BY p.groupid) AS n);
END
$$;

GRANT EXECUTE ON FUNCTION anchors_of_nodes TO fe_worker;
