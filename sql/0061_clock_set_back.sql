-- The server's clock was ahead, and was set back: a moment that no rule can have given lies in the future, and counts no more.
-- Until that moment came, nobody took a duty that a dead process held, and who was locked out stayed so.

-- As before (0023) but for that: nobody holds a duty for longer than `p_for`.
CREATE OR REPLACE FUNCTION take_duty(p_duty text, p_holder text, p_for interval) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
    moment timestamptz := clock_timestamp();
BEGIN
    INSERT INTO duties AS d (duty, holder, held_until)
    VALUES (p_duty, p_holder, moment + p_for)
    ON CONFLICT (duty) DO UPDATE
       SET holder = EXCLUDED.holder, held_until = EXCLUDED.held_until
     WHERE d.holder = EXCLUDED.holder OR d.held_until < moment OR d.held_until > moment + p_for;
    RETURN FOUND;
END
$$;

CREATE FUNCTION attempts_within(p_recent timestamptz [], p_after timestamptz, p_until timestamptz)
RETURNS timestamptz []
LANGUAGE sql IMMUTABLE
RETURN (
    SELECT coalesce(array_agg(r ORDER BY r), '{}')
      FROM unnest(p_recent) AS r
     WHERE r > p_after AND r <= p_until
);

GRANT EXECUTE ON FUNCTION attempts_within TO fe_front, fe_portal;

-- As before (0006) but for that: attempts of the future, and a lockout that is longer than one, are forgotten. Attempts
-- that are counted at one moment may come a little out of order.
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
