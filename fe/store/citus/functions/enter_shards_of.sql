-- Enter the shards of these anchors, by one connection to each node; entering does not block other writers. Planned at
-- each call: a cached plan would go to every shard.
CREATE OR REPLACE FUNCTION enter_shards_of(p_anchors bigint[]) RETURNS void
LANGUAGE plpgsql SET plan_cache_mode TO force_custom_plan SET "citus.multi_shard_modify_mode" TO sequential
SET "citus.all_modifications_commutative" TO on AS $$
BEGIN
    UPDATE anchors AS a SET entered = a.entered WHERE a.anchor = ANY (p_anchors) AND a.entered < 0;
END
$$;

GRANT EXECUTE ON FUNCTION enter_shards_of TO fe_front, fe_portal, fe_worker, fe_operator;
