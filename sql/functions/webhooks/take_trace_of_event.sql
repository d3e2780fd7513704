-- Give a new delivery the trace of the submission that its event is about.
CREATE OR REPLACE FUNCTION take_trace_of_event() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    of_what text;
BEGIN
    SELECT v.about INTO of_what
      FROM webhook_events AS v
     WHERE v.tenant_id = NEW.tenant_id AND v.event_id = NEW.event_id;
    NEW.trace := nullif(
        split_part(split_part(current_setting('fe.traces'), concat(E'\n', of_what, ' '), 2), E'\n', 1), '');
    RETURN NEW;
END
$$;
