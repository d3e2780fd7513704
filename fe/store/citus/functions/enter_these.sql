-- On a node: enter these shards, one for each tenant. shards_here tells whether they are here.
CREATE OR REPLACE FUNCTION enter_these(p_shards bigint[], p_tenants bigint[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    PERFORM lock_shard_metadata(5, ARRAY(SELECT DISTINCT s.shard FROM unnest(p_shards) AS s (shard) ORDER BY s.shard));
    PERFORM require_way(p_shards = outbox_shards(p_tenants));
END
$$;

GRANT EXECUTE ON FUNCTION enter_these TO fe_front, fe_portal, fe_worker, fe_operator;
