-- Keep the trace of a deleted row in a setting of the transaction, for the row that replaces it.
CREATE OR REPLACE FUNCTION leave_trace() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('fe.traces', concat(current_setting('fe.traces', true), E'\n', OLD.subject, ' ', OLD.trace), true);
    RETURN OLD;
END
$$;
