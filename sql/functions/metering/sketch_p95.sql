-- 95th percentile of a sketch in microseconds.
CREATE OR REPLACE FUNCTION sketch_p95(p_counts bigint[]) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT
RETURN (
    SELECT latency_of_bucket(min(x.bucket)::int)
      FROM (
          SELECT
              c.bucket,
              sum(c.n) OVER (ORDER BY c.bucket) AS upto,
              sum(c.n) OVER () AS total
            FROM unnest(p_counts) WITH ORDINALITY AS c (n, bucket)
      ) AS x
     WHERE x.upto * 100 >= x.total * 95
);

GRANT EXECUTE ON FUNCTION sketch_p95 TO fe_worker, fe_operator;
