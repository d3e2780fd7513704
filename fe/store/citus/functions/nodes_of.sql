-- Node, by its group, of each tenant's rows; NULL while a shard is being split. Runs with its owner's rights: some
-- callers have none on the outbox.
CREATE OR REPLACE FUNCTION nodes_of(p_tenants bigint[]) RETURNS int[]
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    RETURN ARRAY(SELECT (SELECT min(p.groupid) FROM pg_dist_placement AS p WHERE p.shardid = t.shard)
                   FROM unnest(outbox_shards(p_tenants)) WITH ORDINALITY AS t (shard, n)
                  ORDER BY t.n);
END
$$;

GRANT EXECUTE ON FUNCTION nodes_of TO fe_front, fe_portal, fe_worker, fe_operator, fe_reception;
