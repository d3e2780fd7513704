-- Remember what a search found due for the session's next claims; without p_due: forget it. Rolled back with the claim.
CREATE OR REPLACE FUNCTION keep_due(p_stage text, p_environments text[], p_hosts text[], p_due jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    name text := 'fe.due_to_' || p_stage;
BEGIN
    IF p_due IS NOT NULL THEN
        PERFORM set_config(name, jsonb_build_object('until', clock_timestamp() + interval '100 ms', 'lanes',
                                                    lanes_named(p_environments, p_hosts), 'due', p_due)::text, false);
    ELSIF current_setting(name, true) <> '' THEN
        PERFORM set_config(name, '', false);
    END IF;
END
$$;

GRANT EXECUTE ON FUNCTION keep_due TO fe_worker;
