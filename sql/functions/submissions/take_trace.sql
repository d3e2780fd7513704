-- Give a new row the trace of its submission, from the setting of the transaction.
CREATE OR REPLACE FUNCTION take_trace() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.trace := nullif(
        split_part(split_part(current_setting('fe.traces'), concat(E'\n', NEW.subject, ' '), 2), E'\n', 1), '');
    RETURN NEW;
END
$$;
