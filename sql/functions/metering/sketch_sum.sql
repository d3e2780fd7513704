-- Sum of two sketches.
CREATE OR REPLACE FUNCTION sketch_sum(p_one bigint[], p_other bigint[]) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT
RETURN (
    SELECT array_agg(coalesce(x.one, 0) + coalesce(x.other, 0) ORDER BY x.bucket)
      FROM unnest(p_one, p_other) WITH ORDINALITY AS x (one, other, bucket)
);

GRANT EXECUTE ON FUNCTION sketch_sum TO fe_worker, fe_operator;
