-- A moment as events write it.
CREATE OR REPLACE FUNCTION webhook_moment(p_at timestamptz) RETURNS text
LANGUAGE sql STABLE STRICT
RETURN to_char(p_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');

GRANT EXECUTE ON FUNCTION webhook_moment TO fe_front, fe_portal, fe_reception, fe_worker, fe_operator;
