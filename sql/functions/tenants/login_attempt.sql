-- Count an attempt for its address and, unless that is locked out, for its key id (NULL: the address alone). Always in
-- this order, so that two attempts cannot deadlock.
CREATE OR REPLACE FUNCTION login_attempt(
    p_address bytea, p_address_limit int, p_key bytea, p_key_limit int, p_window interval, p_lockout interval
) RETURNS TABLE (kind text, retry_after double precision, began boolean)
LANGUAGE plpgsql AS $$
DECLARE
    counted record;
BEGIN
    SELECT * INTO counted FROM count_attempt(p_address, 'address', p_address_limit, p_window, p_lockout);
    IF counted.retry_after IS NOT NULL THEN
        RETURN QUERY SELECT 'address'::text, counted.retry_after, counted.began;
        RETURN;
    END IF;
    IF p_key IS NOT NULL THEN
        SELECT * INTO counted FROM count_attempt(p_key, 'key', p_key_limit, p_window, p_lockout);
        IF counted.retry_after IS NOT NULL THEN
            RETURN QUERY SELECT 'key'::text, counted.retry_after, counted.began;
        END IF;
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION login_attempt TO fe_front, fe_portal;
