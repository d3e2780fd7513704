-- Move what waits for a later time, after the server's clock was set back. As the statement of fe/store/queue/tables.py,
-- row by row: an update of a distributed table cannot compute a time from its column.
CREATE OR REPLACE FUNCTION set_back_waiting(p_table text, p_by interval, p_lease interval) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    one record;
BEGIN
    FOR one IN EXECUTE format(
        'SELECT tenant_id, subject, epoch, holder, run_at FROM %I WHERE run_at > $1 AND run_at < ''infinity''', p_table)
        USING now()
    LOOP
        EXECUTE format('UPDATE %I SET run_at = $1 WHERE tenant_id = $2 AND subject = $3 AND epoch = $4 AND run_at = $5',
                       p_table)
          USING CASE WHEN one.holder IS NULL THEN greatest(now(), one.run_at - p_by)
                     ELSE least(one.run_at, now() + p_lease) END,
                one.tenant_id, one.subject, one.epoch, one.run_at;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION set_back_waiting TO fe_worker;
