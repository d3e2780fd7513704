-- The trace that the steps of a submission belong to: W3C Trace Context (`traceparent`, and after a blank `tracestate`),
-- of the few that are traced at all; NULL of all others, and of all while tracing is off (docs/decisions/tracing.md).
--
-- It comes with the row into the outbox, stays with it from stage to stage, and goes on to whatever takes its place in the
-- transaction in which it leaves: a dead letter, the deliveries of webhooks, and back into the outbox with a replay. So no
-- function that moves rows knows of it. Between two rows it is in a setting of the transaction, fe.traces: for each
-- subject a line that begins with a line feed, the subject and a blank. No header of HTTP can have a line feed in it.

ALTER TABLE outbox ADD COLUMN trace text,
ADD CONSTRAINT outbox_trace_form CHECK (trace ~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}( .*)?$');

ALTER TABLE dead_letters ADD COLUMN trace text;

ALTER TABLE webhook_deliveries ADD COLUMN trace text;

CREATE FUNCTION leave_trace() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('fe.traces', concat(current_setting('fe.traces', true), E'\n', OLD.subject, ' ', OLD.trace), true);
    RETURN OLD;
END
$$;

CREATE FUNCTION take_trace() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    NEW.trace := nullif(
        split_part(split_part(current_setting('fe.traces'), concat(E'\n', NEW.subject, ' '), 2), E'\n', 1), '');
    RETURN NEW;
END
$$;

-- Of a delivery the trace is that of what its event is about.
CREATE FUNCTION take_trace_of_event() RETURNS trigger
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

-- Before, because a dead letter is written by the statement that takes its row out of the outbox.
CREATE TRIGGER leave_trace BEFORE DELETE ON outbox
FOR EACH ROW WHEN (old.trace IS NOT NULL) EXECUTE FUNCTION leave_trace();

CREATE TRIGGER leave_trace BEFORE DELETE ON dead_letters
FOR EACH ROW WHEN (old.trace IS NOT NULL) EXECUTE FUNCTION leave_trace();

CREATE TRIGGER take_trace BEFORE INSERT ON outbox
FOR EACH ROW WHEN (current_setting('fe.traces', true) <> '') EXECUTE FUNCTION take_trace();

CREATE TRIGGER take_trace BEFORE INSERT ON dead_letters
FOR EACH ROW WHEN (current_setting('fe.traces', true) <> '') EXECUTE FUNCTION take_trace();

CREATE TRIGGER take_trace BEFORE INSERT ON webhook_deliveries
FOR EACH ROW WHEN (current_setting('fe.traces', true) <> '') EXECUTE FUNCTION take_trace_of_event();

-- For a claim that wants it, beside each row; volatile, so that it sees what the claim saw.
CREATE FUNCTION trace_of(p_tenant bigint, p_subject uuid) RETURNS text
LANGUAGE plpgsql STRICT AS $$
BEGIN
    RETURN (SELECT o.trace FROM outbox AS o WHERE o.tenant_id = p_tenant AND o.subject = p_subject);
END
$$;

GRANT EXECUTE ON FUNCTION trace_of TO fe_worker;
