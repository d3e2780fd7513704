-- Draw the next number of an active sequence that no submission has: returned numbers first, and after the last one the
-- first of the next range. `p_prefix` is the key of the sequence (sequences.prefix). Raises as accept_submission does.
CREATE OR REPLACE FUNCTION draw_number(p_tenant bigint, p_environment text, p_prefix text, p_at timestamptz)
RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    type_prefix text := left(p_prefix, 3);
    number bigint;
    free bigint;
    last bigint;
    set_at timestamptz;
    found record;
BEGIN
    -- Locked in any state: of two draws at the end of its range one begins the next, and the other sees that.
    SELECT q.min_number, q.current_number,
           q.is_active AND q.paused_at IS NULL AND NOT sequence_is_over(q.expire_at, p_at) AS gives INTO found
      FROM sequences AS q
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix
       FOR NO KEY UPDATE;
    IF found.gives THEN
        free := take_returned_number(p_tenant, p_environment, type_prefix, found.min_number, found.current_number);
        IF free IS NOT NULL THEN
            RETURN free;
        END IF;
    END IF;
    UPDATE sequences AS q
       SET current_number = q.current_number + 1, updated_at = p_at
     WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix
       AND q.is_active AND q.paused_at IS NULL AND q.current_number <= q.max_number AND NOT sequence_is_over(q.expire_at, p_at)
    RETURNING q.current_number - 1, q.max_number, q.set_at INTO number, last, set_at;
    free := first_free_number(p_tenant, p_environment, type_prefix, number, set_at, p_at);
    IF number IS NULL OR free > last THEN
        IF begin_next_range(p_tenant, p_environment, p_prefix, NULL, p_at) THEN
            RETURN draw_number(p_tenant, p_environment, p_prefix, p_at);
        END IF;
        PERFORM refuse_to_draw(p_tenant, p_environment, p_prefix, p_at);
    END IF;
    IF free > number THEN
        UPDATE sequences AS q
           SET current_number = free + 1
         WHERE q.tenant_id = p_tenant AND q.environment = p_environment AND q.prefix = p_prefix;
    END IF;
    RETURN free;
END
$$;

GRANT EXECUTE ON FUNCTION draw_number TO fe_front, fe_portal;
