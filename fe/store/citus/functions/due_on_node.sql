-- On a node: tenants with due work in its shards of the outbox (due_batch), in one statement. The anchor only routes
-- the call.
CREATE OR REPLACE FUNCTION due_on_node(
    p_anchor bigint, p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[],
    p_paused bigint[], p_paused_in text[], p_scope int
) RETURNS jsonb LANGUAGE plpgsql SET plan_cache_mode TO force_generic_plan AS $$
DECLARE
    here bigint;
    due jsonb := '[]';
BEGIN
    FOR here IN SELECT * FROM outbox_shards_here() LOOP
        due := due || due_batch_in_shard(here, p_stage, p_environments, p_hosts, p_afters, p_floors, p_paused, p_paused_in, p_scope);
    END LOOP;
    RETURN due;
END
$$;

GRANT EXECUTE ON FUNCTION due_on_node TO fe_worker;
