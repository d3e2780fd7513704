-- Names of the lanes, in order.
CREATE OR REPLACE FUNCTION lanes_named(p_environments text[], p_hosts text[]) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT jsonb_agg(l.environment || ' ' || l.host ORDER BY l.n)
      FROM unnest(p_environments, p_hosts) WITH ORDINALITY AS l (environment, host, n)
$$;

GRANT EXECUTE ON FUNCTION lanes_named TO fe_worker;
