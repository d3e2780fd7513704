-- On a node: enter the shard that all of these tenants are in, as Citus does for writers: it is not moved or split
-- until the transaction ends. Returns the shard; refused unless it is here. Runs with its owner's rights, who alone may
-- lock a shard.
CREATE OR REPLACE FUNCTION shard_entered(p_tenants bigint[]) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    here bigint := get_shard_id_for_distribution_column('outbox', p_tenants[1]);
BEGIN
    PERFORM lock_shard_metadata(5, ARRAY[here]);
    IF NOT p_tenants[1] = ALL (p_tenants) THEN
        PERFORM require_way(here = ALL (outbox_shards(p_tenants)));
    END IF;
    PERFORM FROM pg_dist_placement AS p JOIN pg_dist_local_group AS local ON local.groupid = p.groupid WHERE p.shardid = here;
    PERFORM require_way(FOUND);
    RETURN here;
END
$$;

GRANT EXECUTE ON FUNCTION shard_entered TO fe_front, fe_portal, fe_worker, fe_operator;
