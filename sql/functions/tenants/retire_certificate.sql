-- Retire a certificate without a successor. `waiting`: how many documents forbid it.
--   'retired'
--   'none'      there is no such certificate
--   'before'    it was retired before
--   'needed'    documents wait to be signed with it
--   'receives'  it signs the acknowledgements of suppliers' documents
CREATE OR REPLACE FUNCTION retire_certificate(
    p_tenant bigint, p_certificate uuid, p_at timestamptz, OUT outcome text, OUT waiting bigint
)
LANGUAGE plpgsql AS $$
DECLARE
    mine record;
    others record;
BEGIN
    waiting := 0;
    SELECT c.user_id, c.retired_at, u.email INTO mine
      FROM certificates AS c
      LEFT JOIN users AS u ON u.tenant_id = p_tenant AND u.user_id = c.user_id
     WHERE c.tenant_id = p_tenant AND c.certificate_id = p_certificate
       FOR UPDATE OF c;
    IF NOT FOUND THEN
        outcome := 'none';
        RETURN;
    ELSIF mine.retired_at IS NOT NULL THEN
        outcome := 'before';
        RETURN;
    END IF;
    -- Without a requested user the company signs, or the only user who can (interface.md#certificate-selection).
    SELECT bool_or(c.user_id IS NULL) AS company, count(*) AS users INTO others
      FROM certificates AS c
     WHERE c.tenant_id = p_tenant AND c.retired_at IS NULL AND c.certificate_id <> p_certificate;
    waiting := unsigned_work(p_tenant, mine.user_id, mine.email,
                             mine.user_id IS NULL OR others.company IS NOT TRUE);
    IF waiting > 0 THEN
        outcome := 'needed';
        RETURN;
    END IF;
    -- They are acknowledged by the company, else by the only user.
    IF ((mine.user_id IS NULL AND others.users <> 1) OR (mine.user_id IS NOT NULL AND others.users = 0))
       AND EXISTS (SELECT 1 FROM receivers AS r WHERE r.tenant_id = p_tenant) THEN
        outcome := 'receives';
        RETURN;
    END IF;
    UPDATE certificates AS c SET retired_at = p_at WHERE c.tenant_id = p_tenant AND c.certificate_id = p_certificate;
    outcome := 'retired';
END
$$;

GRANT EXECUTE ON FUNCTION retire_certificate TO fe_portal, fe_operator;
