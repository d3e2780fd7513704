-- A tenant's own choice of mail, and the operator's limit.

-- The settings of a tenant that has switched mail off.
ALTER TABLE tenants ADD COLUMN mail_off jsonb;
-- Most mails of a day that the operator allows; 0 forbids mail, NULL: no limit.
ALTER TABLE tenants ADD COLUMN mail_limit int;
ALTER TABLE tenants ADD CONSTRAINT tenants_mail_limit_not_negative CHECK (mail_limit >= 0);
GRANT UPDATE (mail, mail_off) ON tenants TO fe_front;
GRANT UPDATE (mail_off) ON tenants TO fe_portal;
GRANT UPDATE (mail_off, mail_limit) ON tenants TO fe_operator;

-- The API writes changes too.
GRANT INSERT ON tenant_changes TO fe_front;

-- There is no one-click unsubscription: a buyer answers the mail, and the tenant puts the address on its list.
ALTER TABLE mail_suppressions DROP CONSTRAINT mail_suppressions_reason_known;
ALTER TABLE mail_suppressions ADD CONSTRAINT mail_suppressions_reason_known
CHECK (reason IN ('refused', 'tenant', 'operator'));

-- Rights of 0065 that nothing uses.
REVOKE INSERT ON mail_recipients FROM fe_portal;
REVOKE SELECT ON mail_recipients FROM fe_operator;
REVOKE SELECT ON mail_days FROM fe_operator;
