-- Documents as one value, for the way to a node. NULL documents are left out.
CREATE OR REPLACE FUNCTION joined(p_of bytea[]) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN (SELECT string_agg(x.document, ''::bytea ORDER BY x.n) FROM unnest(p_of) WITH ORDINALITY AS x (document, n));
END
$$;

GRANT EXECUTE ON FUNCTION joined TO fe_front, fe_portal, fe_worker, fe_operator;
