-- First moment of a month.
CREATE OR REPLACE FUNCTION month_begins(p_month date) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT
RETURN p_month::timestamp AT TIME ZONE 'UTC';

GRANT EXECUTE ON FUNCTION month_begins TO fe_worker, fe_operator;
