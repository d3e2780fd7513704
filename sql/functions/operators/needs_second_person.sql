-- Whether an action on this many rows needs a second operator. Discards of the last ten minutes are added, so that many
-- small ones count too.
CREATE OR REPLACE FUNCTION needs_second_person(p_kind text, p_by text, p_rows int) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
DECLARE
    allowed int := (SELECT s.more_than FROM second_person AS s);
BEGIN
    IF allowed = 0 THEN
        RETURN false;
    ELSIF p_kind = 'replay' THEN
        RETURN p_rows > allowed;
    ELSIF p_kind = 'discard' THEN
        RETURN p_rows + (
            SELECT count(*)
              FROM operator_actions AS a
             WHERE a.action = 'discard' AND a.at > now() - interval '10 minutes'
               AND split_part(a.by_whom, ' (', 1) = split_part(p_by, ' (', 1)) > allowed;
    END IF;
    RETURN true;
END
$$;

GRANT EXECUTE ON FUNCTION needs_second_person TO fe_operator;
