-- Write a row on a new page and roll it back: fails where accepting a document would fail, as on a full disk.
CREATE OR REPLACE FUNCTION probe_writing(p_probe uuid) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO write_probes (probe_id, filler) VALUES (p_probe, repeat(' ', 400));
    RAISE EXCEPTION USING ERRCODE = 'FE009';
EXCEPTION
    WHEN SQLSTATE 'FE009' THEN
        NULL;
END
$$;

GRANT EXECUTE ON FUNCTION probe_writing TO fe_front, fe_portal;
