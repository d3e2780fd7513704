-- Set the storage of a month's partition (docs/decisions/micro-performance.md).
CREATE OR REPLACE FUNCTION lay_out(p_parent text, p_child text) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    IF p_parent = 'submissions' THEN
        -- A submission comes in with a third of what it becomes, and is changed three times: there is room for that on its
        -- page, so that a change is the few bytes that are new, and no index hears of it unless it holds what changed.
        EXECUTE format('ALTER TABLE %I SET (fillfactor = 30)', p_child);
    ELSIF p_parent = 'sends' THEN
        EXECUTE format('ALTER TABLE %I SET (fillfactor = 80)', p_child);
    ELSIF p_parent = 'submission_documents' THEN
        -- From 2 kB on a content is compressed (signed XML by a third) and stays in its row as long as that fits on a page:
        -- in chunks of 2 kB with an index of their own it would cost more to write than to compress.
        EXECUTE format('ALTER TABLE %I ALTER COLUMN content SET STORAGE MAIN', p_child);
        EXECUTE format('ALTER TABLE %I RESET (toast_tuple_target)', p_child);
        -- The same size for a third less time, where the server was built with it.
        IF (SELECT 'lz4' = ANY (g.enumvals) FROM pg_settings AS g WHERE g.name = 'default_toast_compression') THEN
            EXECUTE format('ALTER TABLE %I ALTER COLUMN content SET COMPRESSION lz4', p_child);
        END IF;
    END IF;
    PERFORM tidy_in_small_parts(p_parent, p_child);
END
$$;
