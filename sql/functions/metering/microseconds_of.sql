-- An interval in microseconds; 0 if negative, after a clock was set back.
CREATE OR REPLACE FUNCTION microseconds_of(p_span interval) RETURNS bigint
LANGUAGE sql IMMUTABLE STRICT
RETURN greatest((extract(EPOCH FROM p_span) * 1000000)::bigint, 0);

GRANT EXECUTE ON FUNCTION microseconds_of TO fe_worker, fe_operator;
