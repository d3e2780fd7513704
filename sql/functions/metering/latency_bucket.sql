-- Bucket of a latency, from 1: each is 2 % wider than the one before, the first ends at a millisecond. A bucket's value
-- is within 1 % of its latencies. (10 s: bucket 462; a month: 1085.)
CREATE OR REPLACE FUNCTION latency_bucket(p_us bigint) RETURNS int
LANGUAGE sql IMMUTABLE STRICT
RETURN 1 + ceil(ln(greatest(p_us, 1000) / 1000.0::double precision) / ln(1.01::double precision / 0.99))::int;

GRANT EXECUTE ON FUNCTION latency_bucket TO fe_worker, fe_operator;
