-- Refuse changes of the audit trail, also by its owner.
CREATE OR REPLACE FUNCTION keep_audit_trail() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit trail is only added to' USING ERRCODE = 'insufficient_privilege';
END
$$;
