-- As due_on_nodes, without nodes that do not answer. A savepoint for each costs a third of the search.
CREATE OR REPLACE FUNCTION due_anywhere(
    p_table text, p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[],
    p_scope int
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    paused bigint[];
    paused_in text[];
    due jsonb;
BEGIN
    BEGIN
        -- The block rolls back a search that fails: otherwise the next one would wait for the locks of the nodes that answered.
        RETURN due_on_nodes(p_stage, p_environments, p_hosts, p_afters, p_floors, p_scope);
    EXCEPTION
        WHEN connection_exception THEN
            NULL;
    END;
    SELECT coalesce(array_agg(p.tenant_id), '{}'), coalesce(array_agg(p.environment), '{}') INTO paused, paused_in
      FROM pauses AS p;
    SELECT coalesce(jsonb_agg(found.due), '[]') INTO due
      FROM run_command_on_shards(p_table, format(
               'SELECT due_batch_in_shard(substring(''%%s'' FROM ''[0-9]+$'')::bigint, %L, %L::text[], %L::text[],
                                          %L::bigint[], %L::timestamptz[], %L::bigint[], %L::text[], %s)',
               p_stage, p_environments, p_hosts, p_afters, p_floors, paused, paused_in, p_scope)) AS shard
     CROSS JOIN jsonb_array_elements(shard.result::jsonb) AS found (due)
     WHERE shard.success;
    RETURN due;
END
$$;

GRANT EXECUTE ON FUNCTION due_anywhere TO fe_worker;
