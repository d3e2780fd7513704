-- Where a front shows that it can write. The table is always empty: what is written is taken back.

-- The fill factor has each row start a page of its own: on a full disk that is what fails first, while changes in
-- pages that are there may go on for long. A row is small, because it goes through the server's log.
CREATE TABLE write_probes (
    probe_id uuid NOT NULL,
    filler text NOT NULL,
    CONSTRAINT write_probes_pk PRIMARY KEY (probe_id)
) WITH (fillfactor = 10);

-- Ask of the server what taking a document in asks of it: room for a row, and a commit that its log has kept. The
-- inner block is undone, so the row is dead at once, for everybody; autovacuum gives the pages back.
CREATE FUNCTION probe_writing(p_probe uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO write_probes (probe_id, filler) VALUES (p_probe, repeat(' ', 400));
    RAISE EXCEPTION USING ERRCODE = 'FE009';
EXCEPTION
    WHEN SQLSTATE 'FE009' THEN
        NULL;
END
$$;

GRANT INSERT ON write_probes TO fe_front;
GRANT EXECUTE ON FUNCTION probe_writing TO fe_front;
