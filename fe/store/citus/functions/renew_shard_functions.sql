-- On a node: recreate all functions of its shards. Those of a later shard are created on first use; two calls that
-- create some on several nodes may deadlock, and one is refused.
CREATE OR REPLACE FUNCTION renew_shard_functions() RETURNS void
LANGUAGE plpgsql SET "citus.enable_ddl_propagation" TO off AS $$
DECLARE
    one text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('shard functions'));
    FOR one IN
        SELECT p.oid::regprocedure::text
          FROM pg_proc AS p
          JOIN unnest(shard_functions()) AS f (text)
            ON p.proname ~ ('^' || (regexp_match(f.text, '\{\{(\w+)\}\}'))[1] || '_[0-9]+$')
         WHERE p.pronamespace = current_schema()::regnamespace
    LOOP
        EXECUTE 'DROP FUNCTION ' || one;
    END LOOP;
    PERFORM make_shard_callers();
    PERFORM make_shard_functions(here.shard) FROM outbox_shards_here() AS here (shard);
END
$$;
