-- Count an attempt to log in, in one statement, which makes it atomic. During a lockout nothing is counted; when a
-- lockout begins the window is emptied. Attempts in the future and lockouts longer than one are dropped: the clock was
-- set back.
CREATE OR REPLACE FUNCTION count_attempt(
    p_bucket bytea, p_kind text, p_limit int, p_window interval, p_lockout interval,
    OUT retry_after double precision, OUT began boolean
)
LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    slack CONSTANT interval := interval '1 s';
    until timestamptz;
BEGIN
    INSERT INTO login_attempts AS a (bucket, kind, recent, last_at)
    VALUES (p_bucket, p_kind, ARRAY[moment], moment)
    ON CONFLICT (bucket) DO UPDATE
       SET last_at = EXCLUDED.last_at,
           recent = CASE
               WHEN a.locked_until > EXCLUDED.last_at AND a.locked_until <= EXCLUDED.last_at + p_lockout + slack
                   THEN a.recent
               WHEN cardinality(attempts_within(a.recent, EXCLUDED.last_at - p_window, EXCLUDED.last_at + slack)) >= p_limit
                   THEN '{}'
               ELSE attempts_within(a.recent, EXCLUDED.last_at - p_window, EXCLUDED.last_at + slack) || EXCLUDED.last_at
           END,
           locked_until = CASE
               WHEN a.locked_until > EXCLUDED.last_at AND a.locked_until <= EXCLUDED.last_at + p_lockout + slack
                   THEN a.locked_until
               WHEN cardinality(attempts_within(a.recent, EXCLUDED.last_at - p_window, EXCLUDED.last_at + slack)) >= p_limit
                   THEN EXCLUDED.last_at + p_lockout
           END
    RETURNING a.locked_until INTO until;
    retry_after := extract(EPOCH FROM until - moment);
    began := coalesce(until = moment + p_lockout, false);
END
$$;

GRANT EXECUTE ON FUNCTION count_attempt TO fe_front, fe_portal;
