-- On a node: the documents that `joined` put together.
CREATE OR REPLACE FUNCTION parted(p_joined bytea, p_lengths int[]) RETURNS bytea[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    parts bytea[] := '{}';
    first int := 1;
BEGIN
    FOR n IN 1 .. cardinality(p_lengths) LOOP
        parts[n] := substring(p_joined FROM first FOR p_lengths[n]);
        first := first + coalesce(p_lengths[n], 0);
    END LOOP;
    RETURN parts;
END
$$;

GRANT EXECUTE ON FUNCTION parted TO fe_front, fe_portal, fe_worker, fe_operator;
