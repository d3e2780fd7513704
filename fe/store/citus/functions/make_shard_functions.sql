-- On a node: create the functions of one more shard, and their callers. Runs with its owner's rights and executes only
-- the texts of shard_functions() and shard_callers().
CREATE OR REPLACE FUNCTION make_shard_functions(p_shard bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET "citus.enable_ddl_propagation" TO off AS $$
DECLARE
    names jsonb;
    function_text text;
    function_name text;
    one text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('shard functions'));
    -- Made by the call that held the lock.
    IF EXISTS (SELECT
                 FROM pg_proc AS p
                WHERE p.oid = to_regproc('due_batch_in_shard') AND p.prosrc LIKE '%p_shard = ' || p_shard || ' THEN%') THEN
        RETURN;
    END IF;
    SELECT jsonb_object_agg(beside.logicalrelid::text, beside.logicalrelid::text || '_' || beside.shardid) INTO names
      FROM pg_dist_shard AS s
      JOIN pg_dist_partition AS p ON p.logicalrelid = s.logicalrelid
      JOIN pg_dist_partition AS q ON q.colocationid = p.colocationid
      JOIN pg_dist_shard AS beside ON beside.logicalrelid = q.logicalrelid AND beside.shardminvalue = s.shardminvalue
     WHERE s.shardid = p_shard;
    FOREACH function_text IN ARRAY shard_functions() LOOP
        function_name := (regexp_match(function_text, '\{\{(\w+)\}\}'))[1] || '_' || p_shard;
        FOR one IN SELECT DISTINCT (regexp_matches(function_text, '\{\{(\w+)\}\}', 'g'))[1] LOOP
            function_text := replace(function_text, '{{' || one || '}}', coalesce(names ->> one, one || '_' || p_shard));
        END LOOP;
        IF to_regproc(function_name) IS NULL THEN
            EXECUTE function_text;
            EXECUTE format('GRANT EXECUTE ON FUNCTION %I TO fe_front, fe_portal, fe_worker, fe_operator', function_name);
        END IF;
    END LOOP;
    PERFORM make_shard_callers();
END
$$;

GRANT EXECUTE ON FUNCTION make_shard_functions TO fe_front, fe_portal, fe_worker, fe_operator;
