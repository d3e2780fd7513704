-- On a node: recreate the functions that call those of each shard, with a branch for each shard. A name that is put
-- together would be parsed and planned at each call.
CREATE OR REPLACE FUNCTION make_shard_callers() RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    caller text[];
    branches text;
BEGIN
    FOREACH caller SLICE 1 IN ARRAY shard_callers() LOOP
        SELECT string_agg(replace(caller[3], '{{shard}}', made.shard), '' ORDER BY made.shard) INTO branches
          FROM (SELECT substring(p.proname FROM '[0-9]+$') AS shard
                  FROM pg_proc AS p
                 WHERE p.pronamespace = current_schema()::regnamespace
                   AND p.proname ~ ('^' || caller[1] || '_[0-9]+$')) AS made;
        EXECUTE replace(caller[2], '{{branches}}', coalesce(branches, ''));
    END LOOP;
END
$$;
