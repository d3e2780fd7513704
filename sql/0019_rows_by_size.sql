-- How rows lie on their pages: what is written of a document to the log is, for the most part, its rows being moved.

-- Make the partitions of the month that `moment` lies in: as in 0003, and with other room.
CREATE OR REPLACE FUNCTION ensure_month(moment timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
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

-- The part of the one above that the months which are there already need, too.
CREATE FUNCTION lay_out(p_parent text, p_child text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_parent = 'submissions' THEN
        -- A submission comes in with a third of what it becomes, and is changed three times: there is room for that on its
        -- page, so that a change is the few bytes that are new, and no index hears of it unless it holds what changed.
        EXECUTE format('ALTER TABLE %I SET (fillfactor = 35)', p_child);
    ELSIF p_parent = 'sends' THEN
        EXECUTE format('ALTER TABLE %I SET (fillfactor = 80)', p_child);
    ELSIF p_parent = 'submission_documents' THEN
        -- From 2 kB on a content is compressed (signed XML by a third) and stays in its row as long as that fits on a page:
        -- in chunks of 2 kB with an index of their own it would cost more to write than to compress.
        EXECUTE format('ALTER TABLE %I ALTER COLUMN content SET STORAGE MAIN', p_child);
        EXECUTE format('ALTER TABLE %I RESET (toast_tuple_target)', p_child);
    END IF;
END
$$;

-- Replaced functions lose what was said of them beside their text: see 0008.
DO $$
DECLARE
    here text := current_schema();
BEGIN
    EXECUTE format('ALTER FUNCTION ensure_month(timestamptz) SECURITY DEFINER SET search_path = %I, pg_temp', here);
END
$$;

-- This month and those to come; what is over is not written any more.
DO $$
DECLARE
    month record;
BEGIN
    FOR month IN
        SELECT parent.relname AS parent, child.relname AS child
          FROM pg_inherits AS i
          JOIN pg_class AS parent ON parent.oid = i.inhparent
          JOIN pg_class AS child ON child.oid = i.inhrelid
         WHERE parent.relnamespace = current_schema()::regnamespace AND parent.relkind = 'p'
           AND parent.relname IN ('submissions', 'submission_documents', 'sends')
           AND child.relname ~ '_\d{4}_\d{2}$'
           AND right(child.relname, 7) >= to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM')
         ORDER BY parent.relname, child.relname
    LOOP
        PERFORM lay_out(month.parent, month.child);
    END LOOP;
END
$$;
