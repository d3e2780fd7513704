-- Add a process's request counts once: false when this batch or a later one of the process was added before.
CREATE OR REPLACE FUNCTION flush_requests(
    p_process uuid, p_batch bigint, p_tenants bigint[], p_environments text[], p_days date[], p_succeeded bigint[],
    p_failed bigint[], p_bytes_in bigint[], p_bytes_out bigint[], p_key_tenants bigint[], p_keys text[],
    p_used_at timestamptz[]
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO request_flushes AS f (process, batch, written_at)
    VALUES (p_process, p_batch, clock_timestamp())
    ON CONFLICT (process) DO UPDATE
       SET batch = EXCLUDED.batch, written_at = EXCLUDED.written_at
     WHERE f.batch < EXCLUDED.batch;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    FOR n IN 1 .. cardinality(p_tenants) LOOP
        PERFORM count_requests(p_tenants[n], p_environments[n], p_days[n], p_succeeded[n], p_failed[n],
                               p_bytes_in[n], p_bytes_out[n]);
    END LOOP;
    FOR n IN 1 .. cardinality(p_keys) LOOP
        PERFORM note_key_use(p_key_tenants[n], p_keys[n], p_used_at[n]);
    END LOOP;
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION flush_requests TO fe_front, fe_portal;
