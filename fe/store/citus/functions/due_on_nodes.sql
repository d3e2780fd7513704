-- Tenants with due work on all nodes. Raises connection_exception where a node does not answer or has no anchor.
-- Planned at each call: a cached plan would ask every shard.
CREATE OR REPLACE FUNCTION due_on_nodes(
    p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[], p_scope int
) RETURNS jsonb LANGUAGE plpgsql SET plan_cache_mode TO force_custom_plan AS $$
DECLARE
    every_node bigint[] := anchors_of_nodes();
    paused bigint[];
    paused_in text[];
    one jsonb;
    answered int := 0;
    due jsonb := '[]';
BEGIN
    SELECT coalesce(array_agg(p.tenant_id), '{}'), coalesce(array_agg(p.environment), '{}') INTO paused, paused_in
      FROM pauses AS p;
    FOR one IN
        SELECT due_on_node(a.anchor, p_stage, p_environments, p_hosts, p_afters, p_floors, paused, paused_in, p_scope)
          FROM anchors AS a
         WHERE a.anchor = ANY (every_node)
    LOOP
        due := due || one;
        answered := answered + 1;
    END LOOP;
    IF every_node IS NULL OR answered < cardinality(every_node) THEN
        RAISE EXCEPTION 'a node has lost the way to it' USING ERRCODE = 'connection_exception';
    END IF;
    RETURN due;
END
$$;

GRANT EXECUTE ON FUNCTION due_on_nodes TO fe_worker;
