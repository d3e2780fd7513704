-- The attempts of a window.
CREATE OR REPLACE FUNCTION attempts_within(p_recent timestamptz[], p_after timestamptz, p_until timestamptz)
RETURNS timestamptz[]
LANGUAGE sql IMMUTABLE
RETURN (
    SELECT coalesce(array_agg(r ORDER BY r), '{}')
      FROM unnest(p_recent) AS r
     WHERE r > p_after AND r <= p_until
);

GRANT EXECUTE ON FUNCTION attempts_within TO fe_front, fe_portal;
