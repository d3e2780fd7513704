-- Set autovacuum for a table: statistics when its rows have doubled, and vacuum of rows that never change in small,
-- slow parts.
CREATE OR REPLACE FUNCTION tidy_in_small_parts(p_parent text, p_child text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_parent IN ('submissions', 'sends') THEN
        -- Four changes for each row that came, or two: statistics are taken when there are twice as many rows.
        EXECUTE format('ALTER TABLE %I SET (autovacuum_analyze_scale_factor = %s)', p_child,
                       CASE p_parent WHEN 'submissions' THEN 4 ELSE 2 END);
    ELSE
        -- Rows never change: vacuum after each 250,000 new ones, slowly.
        EXECUTE format('ALTER TABLE %I SET (autovacuum_analyze_scale_factor = 1,
                                            autovacuum_vacuum_insert_scale_factor = 0,
                                            autovacuum_vacuum_insert_threshold = 250000,
                                            autovacuum_vacuum_cost_delay = 10)', p_child);
    END IF;
END
$$;
