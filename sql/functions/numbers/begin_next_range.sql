-- Let a sequence go on with its next range; false if it has none whose last day is still to come. Without a number
-- `p_prefix` is the key of the sequence, from which a draw got no number. With one it is a prefix: then the sequence of
-- that type begins whose next range has the number, if its own range is used up or expired. As after a new range by hand,
-- a number of the range before does not pause the sequence any more.
CREATE OR REPLACE FUNCTION begin_next_range(
    p_tenant bigint, p_environment text, p_prefix text, p_number bigint, p_at timestamptz
) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sequences AS q
       -- Also one without an expiry: a month's numbers lie in both.
       SET former_ranges = (row(q.min_number, q.max_number, q.expire_at)::former_range
                            || without_range(q.former_ranges, q.next_min, q.next_max, q.next_expire_at))[1:8],
           left_ranges = (row(q.min_number, q.max_number, q.expire_at)::former_range || q.left_ranges)[1:8],
           min_number = q.next_min, max_number = q.next_max, current_number = q.next_min,
           expire_at = q.next_expire_at, next_min = NULL, next_max = NULL, next_expire_at = NULL,
           set_at = p_at, updated_at = p_at, resumed_at = p_at
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment
       AND q.next_min IS NOT NULL AND NOT sequence_is_over(q.next_expire_at, p_at)
       AND CASE WHEN p_number IS NULL THEN q.prefix = p_prefix AND q.is_active AND q.paused_at IS NULL
                ELSE left(q.prefix, 3) = p_prefix AND p_number BETWEEN q.next_min AND q.next_max
                     AND (q.current_number > q.max_number OR sequence_is_over(q.expire_at, p_at)) END;
    RETURN FOUND;
END
$$;

GRANT EXECUTE ON FUNCTION begin_next_range TO fe_front, fe_portal;
