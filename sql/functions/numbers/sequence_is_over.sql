-- Whether the last day of a sequence is over; false without an expiry.
CREATE OR REPLACE FUNCTION sequence_is_over(p_expire_at timestamptz, p_at timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE
RETURN coalesce((p_at AT TIME ZONE interval '-04:00')::date > sequence_last_day(p_expire_at), false);

GRANT EXECUTE ON FUNCTION sequence_is_over TO fe_front, fe_portal, fe_operator;
