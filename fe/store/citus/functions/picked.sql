-- Elements of an array at some places; NULL: all.
CREATE OR REPLACE FUNCTION picked(p_of anyarray, p_places int[]) RETURNS anyarray
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF p_places IS NULL OR p_of IS NULL THEN
        RETURN p_of;
    END IF;
    RETURN ARRAY(SELECT p_of[x.place] FROM unnest(p_places) WITH ORDINALITY AS x (place, n) ORDER BY x.n);
END
$$;

GRANT EXECUTE ON FUNCTION picked TO fe_front, fe_portal, fe_worker, fe_operator;
