-- The earlier of each two moments; NULL: there is none.
CREATE OR REPLACE FUNCTION earlier_of(p_one timestamptz[], p_other timestamptz[]) RETURNS timestamptz[]
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN ARRAY(SELECT least(x.one, x.other) FROM unnest(p_one, p_other) WITH ORDINALITY AS x (one, other, n) ORDER BY x.n);
END
$$;

GRANT EXECUTE ON FUNCTION earlier_of TO fe_worker;
