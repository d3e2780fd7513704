-- Refuse to record an action that needs an approval, unless one is being executed.
CREATE OR REPLACE FUNCTION require_second_person() RETURNS trigger
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
