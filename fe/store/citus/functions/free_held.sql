-- Remove silent workers or the one that leaves, and free their rows in some tables; returns the stage of each row. As
-- the statement of fe/store/queue/workers.py, row by row.
CREATE OR REPLACE FUNCTION free_held(p_tables text[], p_silence interval, p_leaving text, p_apart interval)
RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
    silent text[];
    one text;
    held record;
    due timestamptz;
BEGIN
    WITH gone AS (
        DELETE FROM workers
         WHERE CASE WHEN p_leaving IS NULL THEN seen_at < clock_timestamp() - p_silence ELSE holder = p_leaving END
        RETURNING holder
    )
    SELECT array_agg(gone.holder) INTO silent FROM gone;
    IF silent IS NULL THEN
        RETURN;
    END IF;
    FOREACH one IN ARRAY p_tables LOOP
        FOR held IN EXECUTE format(
            'SELECT tenant_id, subject, epoch, deaths, stage || '''' AS stage FROM %I WHERE holder = ANY ($1) AND run_at > $2',
            one) USING silent, now()
        LOOP
            due := now() + CASE WHEN held.deaths = 0 THEN interval '0'
                                ELSE p_apart * (('x' || left(md5(held.subject::text || held.epoch), 6))::bit(24)::int % 60)
                                     / 60 END;
            EXECUTE format(
                'UPDATE %I SET run_at = $1 WHERE tenant_id = $2 AND subject = $3 AND epoch = $4 AND holder = ANY ($5)',
                one) USING due, held.tenant_id, held.subject, held.epoch, silent;
            RETURN NEXT held.stage;
        END LOOP;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION free_held TO fe_worker;
