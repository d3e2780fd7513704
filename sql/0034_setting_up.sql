-- What people set up for their company: its data, users, certificates and keys, and what the record of it is asked for.

-- Narrower than the front where the front needs more: the portal asks for keys and work when it knows whose, and never
-- for what is encrypted. A key that somebody stole out of a page would have to be in it.
ALTER POLICY before_the_tenant_is_known ON api_keys TO fe_front;
ALTER POLICY counted ON outbox TO fe_front;
REVOKE SELECT ON certificates FROM fe_portal;
GRANT SELECT (
    tenant_id, certificate_id, user_id, holder, holder_id, serial_number, not_before, not_after, created_at, retired_at,
    destroyed_at
) ON certificates TO fe_portal;

-- What `change_tenant`, `remove_user` and `retire_certificate` read and write (0027): they run with the caller's rights.
GRANT UPDATE (name, issuer, consumer_summary) ON tenants TO fe_portal;
GRANT UPDATE (issuer_override, removed_at) ON users TO fe_portal;
GRANT UPDATE (issuer_override) ON users TO fe_operator;
GRANT SELECT (tenant_id, stage, subject) ON outbox TO fe_portal;
GRANT SELECT ON dead_letters, receivers TO fe_portal;
GRANT EXECUTE ON FUNCTION unsigned_work TO fe_portal;

-- The latest changes of one kind.
CREATE INDEX tenant_changes_by_action ON tenant_changes (tenant_id, action, change_id);

-- When a key was last used, for the command line too.
GRANT SELECT ON api_key_uses TO fe_operator;
