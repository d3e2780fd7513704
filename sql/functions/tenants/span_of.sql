-- Least and greatest of some ids; NULL for none. With both bounds a query by a list of ids plans only the months
-- between them.
CREATE OR REPLACE FUNCTION span_of(p_ids uuid[], OUT first uuid, OUT last uuid)
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    one uuid;
BEGIN
    FOREACH one IN ARRAY coalesce(p_ids, '{}') LOOP
        first := least(first, one);
        last := greatest(last, one);
    END LOOP;
END
$$;

GRANT EXECUTE ON FUNCTION span_of TO fe_worker, fe_operator;
