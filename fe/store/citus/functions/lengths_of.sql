-- Length of each document; NULL: no document.
CREATE OR REPLACE FUNCTION lengths_of(p_of bytea[]) RETURNS int[]
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN ARRAY(SELECT octet_length(x.document) FROM unnest(p_of) WITH ORDINALITY AS x (document, n) ORDER BY x.n);
END
$$;

GRANT EXECUTE ON FUNCTION lengths_of TO fe_front, fe_portal, fe_worker, fe_operator;
