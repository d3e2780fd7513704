-- Value of a bucket in microseconds.
CREATE OR REPLACE FUNCTION latency_of_bucket(p_bucket int) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT
RETURN round(0.99 * 1000 * power(1.01::double precision / 0.99, p_bucket - 1))::bigint;

GRANT EXECUTE ON FUNCTION latency_of_bucket TO fe_worker, fe_operator;
