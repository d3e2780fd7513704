-- Month of a moment, as its first day.
CREATE OR REPLACE FUNCTION utc_month(p_at timestamptz) RETURNS date
LANGUAGE sql IMMUTABLE STRICT
RETURN date_trunc('month', p_at AT TIME ZONE 'UTC')::date;

GRANT EXECUTE ON FUNCTION utc_month TO fe_worker, fe_operator;
