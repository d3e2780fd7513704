-- Remove a user.
--   'removed'
--   'none'         there is no such user
--   'certificate'  a certificate of the user is in use: retire it first
--   'needed'       documents wait to be signed by the user
CREATE OR REPLACE FUNCTION remove_user(
    p_tenant bigint, p_user uuid, p_at timestamptz, OUT outcome text, OUT waiting bigint
)
LANGUAGE plpgsql AS $$
DECLARE
    mine record;
BEGIN
    waiting := 0;
    SELECT u.email INTO mine
      FROM users AS u
     WHERE u.tenant_id = p_tenant AND u.user_id = p_user AND u.removed_at IS NULL
       FOR UPDATE;
    IF NOT FOUND THEN
        outcome := 'none';
        RETURN;
    END IF;
    IF EXISTS (SELECT 1
                 FROM certificates AS c
                WHERE c.tenant_id = p_tenant AND c.user_id = p_user AND c.retired_at IS NULL) THEN
        outcome := 'certificate';
        RETURN;
    END IF;
    waiting := unsigned_work(p_tenant, p_user, mine.email, false);
    IF waiting > 0 THEN
        outcome := 'needed';
        RETURN;
    END IF;
    UPDATE users AS u SET removed_at = p_at WHERE u.tenant_id = p_tenant AND u.user_id = p_user;
    outcome := 'removed';
END
$$;

GRANT EXECUTE ON FUNCTION remove_user TO fe_portal, fe_operator;
