-- Triggers of the tables before, with the functions that they call.

\ir ../functions/operators/keep_audit_trail.sql
\ir ../functions/operators/note_in_audit_trail.sql
\ir ../functions/operators/note_pending_action.sql
\ir ../functions/operators/refuse_alone.sql
\ir ../functions/operators/require_second_person.sql
\ir ../functions/submissions/leave_trace.sql
\ir ../functions/submissions/take_trace.sql
\ir ../functions/tenants/destroy_key.sql
\ir ../functions/tenants/note_tenant_rnc.sql
\ir ../functions/tenants/refuse_disabled.sql
\ir ../functions/webhooks/hold_calls_of_disabled.sql
\ir ../functions/webhooks/take_trace_of_event.sql

CREATE TRIGGER audit_trail_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_trail
FOR EACH STATEMENT EXECUTE FUNCTION keep_audit_trail();

-- Audited tables. A hash that moves to another pepper, and a number that is drawn, are not audited.
CREATE TRIGGER tenants_audited AFTER INSERT OR UPDATE OR DELETE ON tenants
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER users_audited AFTER INSERT OR UPDATE OR DELETE ON users
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER api_keys_audited AFTER INSERT OR DELETE OR UPDATE OF environment, scopes, expires_at, revoked_at
ON api_keys
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER certificates_audited AFTER INSERT OR UPDATE OR DELETE ON certificates
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER excise_rates_audited AFTER INSERT OR UPDATE OR DELETE ON excise_rates
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER operator_actions_audited AFTER INSERT ON operator_actions
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

-- Operators who lift a lockout; the front deletes old attempts unaudited.
CREATE TRIGGER login_attempts_audited AFTER DELETE ON login_attempts
FOR EACH ROW WHEN (current_user = 'fe_operator') EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER tenants_rncs_noted AFTER INSERT OR UPDATE OF issuer OR DELETE ON tenants
FOR EACH ROW EXECUTE FUNCTION note_tenant_rnc();

CREATE TRIGGER issuer_delegations_audited AFTER INSERT OR UPDATE OR DELETE ON issuer_delegations
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

-- Operators who change a sequence; a number that the front draws is not audited.
CREATE TRIGGER sequences_audited AFTER INSERT OR UPDATE OR DELETE ON sequences
FOR EACH ROW WHEN (current_user = 'fe_operator') EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER billing_accounts_audited AFTER INSERT OR UPDATE OR DELETE ON billing_accounts
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

-- BEFORE, because the statement that deletes the row from the outbox also writes the dead letter.
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

CREATE TRIGGER disabled_tenants_audited AFTER INSERT OR UPDATE OR DELETE ON disabled_tenants
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER submissions_of_the_enabled AFTER INSERT ON submissions
REFERENCING NEW TABLE AS added
FOR EACH STATEMENT EXECUTE FUNCTION refuse_disabled();

CREATE TRIGGER webhook_endpoints_of_the_enabled BEFORE INSERT OR UPDATE OF disabled_at ON webhook_endpoints
FOR EACH ROW EXECUTE FUNCTION hold_calls_of_disabled();

CREATE TRIGGER certificates_destroyed BEFORE UPDATE OF destroyed_at ON certificates
FOR EACH ROW EXECUTE FUNCTION destroy_key();

CREATE TRIGGER people_audited
AFTER INSERT OR DELETE OR UPDATE OF email, password_hash, is_operator, totp_secret, totp_since, disabled_at ON people
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER memberships_audited AFTER INSERT OR UPDATE OR DELETE ON memberships
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER identities_audited AFTER INSERT OR UPDATE OR DELETE ON identities
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER invitations_audited AFTER INSERT OR UPDATE ON invitations
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER tenant_changes_audited AFTER INSERT ON tenant_changes
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER password_resets_audited AFTER INSERT OR UPDATE ON password_resets
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER pending_actions_audited AFTER INSERT OR UPDATE OF decision, executed_at ON pending_actions
FOR EACH ROW EXECUTE FUNCTION note_pending_action();

CREATE TRIGGER second_person_audited AFTER UPDATE ON second_person
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

CREATE TRIGGER operator_actions_approved BEFORE INSERT ON operator_actions
FOR EACH ROW WHEN (new.action IN ('plan', 'discard', 'tenant disable', 'billing enable', 'billing price'))
EXECUTE FUNCTION require_second_person();

CREATE TRIGGER pending_actions_alone BEFORE INSERT ON pending_actions
FOR EACH ROW WHEN (new.decision = 'alone') EXECUTE FUNCTION refuse_alone();
