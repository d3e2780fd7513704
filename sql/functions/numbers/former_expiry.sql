-- Expiry of the latest former range that a number lies in: infinity if that has none; NULL if no range is known.
CREATE OR REPLACE FUNCTION former_expiry(p_number bigint, p_former former_range []) RETURNS timestamptz
LANGUAGE sql IMMUTABLE
RETURN (
    SELECT coalesce(f.expire_at, 'infinity')
      FROM unnest(p_former) WITH ORDINALITY AS f (min_number, max_number, expire_at, nth)
     WHERE p_number BETWEEN f.min_number AND f.max_number
     ORDER BY f.nth
     LIMIT 1
);

GRANT EXECUTE ON FUNCTION former_expiry TO fe_front, fe_portal, fe_worker, fe_operator;
