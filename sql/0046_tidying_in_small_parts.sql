-- The server tidies up after a busy hour in small parts, and counts what has changed by what has come: vacuum and analyze took turns each minute
-- with a month that was still small, and the answers of a second of each minute came late for it.

-- As in 0019, and how each month is tidied.
CREATE OR REPLACE FUNCTION lay_out(p_parent text, p_child text) RETURNS void
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
    PERFORM tidy_in_small_parts(p_parent, p_child);
END
$$;

CREATE FUNCTION tidy_in_small_parts(p_parent text, p_child text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_parent IN ('submissions', 'sends') THEN
        -- Four changes for each row that came, or two: statistics are taken when there are twice as many rows.
        EXECUTE format('ALTER TABLE %I SET (autovacuum_analyze_scale_factor = %s)', p_child,
                       CASE p_parent WHEN 'submissions' THEN 4 ELSE 2 END);
    ELSE
        -- Rows that are never changed: what is to be done with them is done as often as so many came, and slowly.
        EXECUTE format('ALTER TABLE %I SET (autovacuum_analyze_scale_factor = 1,
                                            autovacuum_vacuum_insert_scale_factor = 0,
                                            autovacuum_vacuum_insert_threshold = 250000,
                                            autovacuum_vacuum_cost_delay = 10)', p_child);
    END IF;
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
           AND parent.relname IN ('submissions', 'submission_documents', 'submission_events', 'sends')
           AND child.relname ~ '_\d{4}_\d{2}$'
           AND right(child.relname, 7) >= to_char(now() AT TIME ZONE 'UTC', 'YYYY_MM')
         ORDER BY parent.relname, child.relname
    LOOP
        PERFORM tidy_in_small_parts(month.parent, month.child);
    END LOOP;
    PERFORM tidy_in_small_parts('client_requests', 'client_requests');
    PERFORM tidy_in_small_parts('held_numbers', 'held_numbers');
END
$$;
