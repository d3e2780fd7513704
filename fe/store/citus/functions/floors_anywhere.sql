-- First due moment of each lane on the nodes that answer.
CREATE OR REPLACE FUNCTION floors_anywhere(p_stage text, p_environments text[], p_hosts text[]) RETURNS timestamptz[]
LANGUAGE plpgsql SET plan_cache_mode TO force_custom_plan AS $$
DECLARE
    every_node bigint[] := anchors_of_nodes();
    one timestamptz[];
    nobody timestamptz[] := array_fill(NULL::timestamptz, ARRAY[cardinality(p_hosts)]);
    floors timestamptz[] := nobody;
    answered int := 0;
BEGIN
    BEGIN
        FOR one IN
            SELECT floors_on_node(a.anchor, p_stage, p_environments, p_hosts)
              FROM anchors AS a
             WHERE a.anchor = ANY (every_node)
        LOOP
            floors := earlier_of(floors, one);
            answered := answered + 1;
        END LOOP;
        IF answered = cardinality(every_node) THEN
            RETURN floors;
        END IF;
    EXCEPTION
        WHEN connection_exception THEN
            NULL;
    END;
    floors := nobody;
    FOR one IN
        SELECT shard.result::timestamptz[]
          FROM run_command_on_shards('outbox', format(
                   'SELECT floors_batch_in_shard(substring(''%%s'' FROM ''[0-9]+$'')::bigint, %L, %L::text[], %L::text[])',
                   p_stage, p_environments, p_hosts)) AS shard
         WHERE shard.success
    LOOP
        floors := earlier_of(floors, one);
    END LOOP;
    RETURN floors;
END
$$;

GRANT EXECUTE ON FUNCTION floors_anywhere TO fe_worker;
