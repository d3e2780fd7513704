-- Change the given fields of a sequence; NULL leaves a field as it is (the expiry: p_sets_expiry false). `p_prefix` is
-- its key. Raises exclusion_violation if numbers of the new range lie in another sequence.
--   'changed'
--   'none'      there is no such sequence
--   'range'     the minimum would exceed the maximum
--   'outside'   p_next is neither in the range nor one past its end
--   'sent'      p_next is at or below a number that was sent and is not free again
-- A range that equals the next one is that one, begun by hand; one that the sequence left by itself is its own again.
-- Setting the next number, a range with a new one, or setting the sequence active resumes a paused sequence.
CREATE OR REPLACE FUNCTION change_sequence(
    p_tenant bigint, p_environment text, p_prefix text, p_min bigint, p_max bigint, p_next bigint,
    p_sets_expiry boolean, p_expire_at timestamptz, p_is_active boolean, p_at timestamptz
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    was record;
    new_min bigint;
    new_max bigint;
    resumes boolean;
    goes_back boolean;
BEGIN
    SELECT q.min_number, q.max_number, q.current_number, q.left_ranges INTO was
      FROM sequences AS q
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix
       FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 'none';
    END IF;
    new_min := coalesce(p_min, was.min_number);
    new_max := coalesce(p_max, was.max_number);
    IF new_min > new_max THEN
        RETURN 'range';
    ELSIF p_next NOT BETWEEN new_min AND new_max + 1 THEN
        RETURN 'outside';
    ELSIF p_next < was.current_number AND EXISTS (
        SELECT 1
          FROM held_numbers AS n
          JOIN submissions AS s ON s.tenant_id = p_tenant AND s.submission_id = n.submission_id
          JOIN sends AS x ON x.tenant_id = p_tenant AND x.submission_id = n.submission_id
         WHERE n.tenant_id = p_tenant AND n.environment = p_environment
           AND n.e_ncf BETWEEN left(p_prefix, 3) || lpad(p_next::text, 10, '0')
               AND left(p_prefix, 3) || lpad(new_max::text, 10, '0')
           AND s.number_fate <> 'reusable' AND x.outcome <> 'not_sent') THEN
        RETURN 'sent';
    END IF;
    resumes := p_next IS NOT NULL OR coalesce(p_is_active, false)
               OR next_number_in(was.current_number, was.max_number, new_min, new_max) <> was.current_number;
    goes_back := EXISTS (
        SELECT 1
          FROM unnest(was.left_ranges) AS f (min_number, max_number, expire_at)
         WHERE f.min_number = new_min AND f.max_number = new_max);
    UPDATE sequences AS q
       SET former_ranges = with_former_range(
               CASE WHEN q.next_min = new_min AND q.next_max = new_max
                    THEN without_range(q.former_ranges, q.next_min, q.next_max, q.next_expire_at) ELSE q.former_ranges END,
               q.min_number, q.max_number, q.expire_at, new_min, new_max),
           set_at = CASE WHEN p_next IS NOT NULL OR q.min_number <> new_min OR q.max_number <> new_max THEN p_at ELSE q.set_at END,
           min_number = new_min, max_number = new_max,
           current_number = coalesce(p_next, next_number_in(q.current_number, q.max_number, new_min, new_max)),
           expire_at = CASE WHEN p_sets_expiry THEN p_expire_at ELSE q.expire_at END,
           next_min = CASE WHEN q.next_min = new_min AND q.next_max = new_max THEN NULL ELSE q.next_min END,
           next_max = CASE WHEN q.next_min = new_min AND q.next_max = new_max THEN NULL ELSE q.next_max END,
           next_expire_at = CASE WHEN q.next_min = new_min AND q.next_max = new_max THEN NULL ELSE q.next_expire_at END,
           left_ranges = CASE WHEN goes_back THEN '{}' ELSE q.left_ranges END,
           is_active = coalesce(p_is_active, q.is_active), updated_at = p_at,
           paused_at = CASE WHEN resumes THEN NULL ELSE q.paused_at END,
           paused_for = CASE WHEN resumes THEN NULL ELSE q.paused_for END,
           resumed_at = CASE WHEN resumes THEN p_at ELSE q.resumed_at END
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix;
    RETURN 'changed';
END
$$;

GRANT EXECUTE ON FUNCTION change_sequence TO fe_front, fe_portal, fe_operator;
