-- Last day of a sequence, by the rule of `last_day` in fe/ecf/dates.py: the day in Santo Domingo, but midnight UTC is
-- its own calendar day.
CREATE OR REPLACE FUNCTION sequence_last_day(p_expire_at timestamptz) RETURNS date
LANGUAGE sql IMMUTABLE STRICT
RETURN CASE
    WHEN (p_expire_at AT TIME ZONE 'UTC')::time = time '00:00' THEN (p_expire_at AT TIME ZONE 'UTC')::date
    ELSE (p_expire_at AT TIME ZONE interval '-04:00')::date
END;

GRANT EXECUTE ON FUNCTION sequence_last_day TO fe_front, fe_portal, fe_operator;
