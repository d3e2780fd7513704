-- How much one operator may do alone: kept here, and not in a setting of those whom it binds. Only the owner of the tables
-- changes it (`fe approval limit`). 0: everything may be done alone.
CREATE TABLE second_person (
    only_row boolean NOT NULL DEFAULT true,
    -- Replays and discards of more dead letters than this take two; with any limit, disabling a tenant and prices do.
    more_than int NOT NULL DEFAULT 0,
    CONSTRAINT second_person_pk PRIMARY KEY (only_row),
    CONSTRAINT second_person_one_row CHECK (only_row),
    CONSTRAINT second_person_not_negative CHECK (more_than >= 0)
);
INSERT INTO second_person (more_than) VALUES (0);
GRANT SELECT ON second_person TO fe_operator, fe_readonly;

CREATE TRIGGER second_person_audited AFTER UPDATE ON second_person
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

-- Whether an act of so many rows takes a second operator. Discards of the last ten minutes count, or a loop over single
-- ones would be a way around.
CREATE FUNCTION needs_second_person(p_kind text, p_by text, p_rows int) RETURNS boolean
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

-- What is recorded is done: without an approval that is being carried out, none of this is.
CREATE FUNCTION require_second_person() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    of_kind text := CASE NEW.action WHEN 'plan' THEN 'replay' ELSE NEW.action END;
BEGIN
    IF needs_second_person(of_kind, NEW.by_whom, coalesce((NEW.detail ->> 'rows')::int, 1)) AND NOT EXISTS (
        SELECT FROM pending_actions AS p
         WHERE p.kind = of_kind AND p.decision = 'approved' AND p.executed_at IS NULL AND p.asked_by = NEW.by_whom
           AND p.tenant_id IS NOT DISTINCT FROM CASE WHEN NEW.action IN ('plan', 'discard') THEN NULL ELSE NEW.tenant_id END
    ) THEN
        RAISE EXCEPTION 'a second operator has to approve this (fe approval limit)' USING ERRCODE = 'FE013';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER operator_actions_approved BEFORE INSERT ON operator_actions
FOR EACH ROW WHEN (new.action IN ('plan', 'discard', 'tenant disable', 'billing enable', 'billing price'))
EXECUTE FUNCTION require_second_person();

-- And nobody decides alone in their stead.
CREATE FUNCTION refuse_alone() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF needs_second_person(NEW.kind, NEW.asked_by, NEW.row_count) THEN
        RAISE EXCEPTION 'a second operator has to approve this (fe approval limit)' USING ERRCODE = 'FE013';
    END IF;
    RETURN NEW;
END
$$;

CREATE TRIGGER pending_actions_alone BEFORE INSERT ON pending_actions
FOR EACH ROW WHEN (new.decision = 'alone') EXECUTE FUNCTION refuse_alone();

GRANT EXECUTE ON FUNCTION needs_second_person TO fe_operator;
