-- Create the partitions of the month of `moment`. Safe to repeat and to call concurrently. Rows that came before their
-- month was created are in the default partition and move over. Attaching takes weaker locks than creating in place:
-- reads and writes of other months go on.
CREATE OR REPLACE FUNCTION ensure_month(moment timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    first_day timestamptz := date_trunc('month', moment AT TIME ZONE 'UTC') AT TIME ZONE 'UTC';
    next_first timestamptz := (date_trunc('month', moment AT TIME ZONE 'UTC') + interval '1 month') AT TIME ZONE 'UTC';
    suffix text := to_char(first_day AT TIME ZONE 'UTC', 'YYYY_MM');
    parent text;
    child text;
    others text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext('ensure_month'));
    FOREACH parent IN ARRAY ARRAY['submissions', 'submission_documents', 'submission_events', 'sends'] LOOP
        child := parent || '_' || suffix;
        others := parent || '_default';
        IF to_regclass(child) IS NULL THEN
            EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', child, parent);
            PERFORM lay_out(parent, child);
            EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', others);
            EXECUTE format('WITH moved AS (DELETE FROM %I WHERE submission_id >= %L AND submission_id < %L RETURNING *)
                            INSERT INTO %I SELECT * FROM moved',
                           others, uuid_floor(first_day), uuid_floor(next_first), child);
            EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
                           parent, child, uuid_floor(first_day), uuid_floor(next_first));
        END IF;
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION ensure_month TO fe_worker;
