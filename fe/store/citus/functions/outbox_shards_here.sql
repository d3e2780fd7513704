-- On a node: its shards of the outbox.
CREATE OR REPLACE FUNCTION outbox_shards_here() RETURNS SETOF bigint
LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
    SELECT s.shardid
      FROM pg_dist_shard AS s
      JOIN pg_dist_placement AS p ON p.shardid = s.shardid
      JOIN pg_dist_local_group AS local ON local.groupid = p.groupid
     WHERE s.logicalrelid = 'outbox'::regclass;
END
$$;

GRANT EXECUTE ON FUNCTION outbox_shards_here TO fe_worker;
