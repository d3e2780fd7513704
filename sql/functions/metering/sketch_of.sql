-- Sketch of latencies: counts by bucket.
CREATE OR REPLACE FUNCTION sketch_of(p_us bigint[]) RETURNS bigint[]
LANGUAGE sql IMMUTABLE STRICT
RETURN (
    WITH filled AS (
        SELECT
            latency_bucket(x.us) AS bucket,
            count(*) AS n
          FROM unnest(p_us) AS x (us)
         GROUP BY 1
    )

    SELECT array_agg(coalesce(f.n, 0) ORDER BY g.bucket)
      FROM generate_series(1, (SELECT max(filled.bucket) FROM filled)) AS g (bucket)
      LEFT JOIN filled AS f ON g.bucket = f.bucket
);

GRANT EXECUTE ON FUNCTION sketch_of TO fe_worker, fe_operator;
