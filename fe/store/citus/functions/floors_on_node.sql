-- On a node: first due moment of each lane in its shards (floors_batch).
CREATE OR REPLACE FUNCTION floors_on_node(p_anchor bigint, p_stage text, p_environments text[], p_hosts text[])
RETURNS timestamptz[] LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    here bigint;
    floors timestamptz[] := array_fill(NULL::timestamptz, ARRAY[cardinality(p_hosts)]);
BEGIN
    FOR here IN SELECT * FROM outbox_shards_here() LOOP
        floors := earlier_of(floors, floors_batch_in_shard(here, p_stage, p_environments, p_hosts));
    END LOOP;
    RETURN floors;
END
$$;

GRANT EXECUTE ON FUNCTION floors_on_node TO fe_worker;
