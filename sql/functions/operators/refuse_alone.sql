-- Refuse an action without a second operator where one is needed.
CREATE OR REPLACE FUNCTION refuse_alone() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF needs_second_person(NEW.kind, NEW.asked_by, NEW.row_count) THEN
        RAISE EXCEPTION 'a second operator has to approve this (fe approval limit)' USING ERRCODE = 'FE013';
    END IF;
    RETURN NEW;
END
$$;
