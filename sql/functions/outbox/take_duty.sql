-- Take or keep a duty for `p_for`, by the server's clock; false: another process holds it. A lease that ends later than
-- `p_for` from now is ignored: the clock was set back.
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

GRANT EXECUTE ON FUNCTION take_duty TO fe_worker, fe_operator;
