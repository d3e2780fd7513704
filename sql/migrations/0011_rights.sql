-- Row-level security, and what each role may do with each table. The rights of functions stand beside them.

-- Around every table that has a tenant: the front, the portal and reception see the rows of the tenant that the transaction
-- names, the others all. A setting that was made and forgotten reads as empty, not as missing.
DO $$
DECLARE
    walled text;
    named text := 'USING (tenant_id = nullif(current_setting(''fe.tenant'', true), '''')::bigint)';
BEGIN
    FOR walled IN
        SELECT c.relname
          FROM pg_class AS c
          JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
         ORDER BY c.relname
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', walled);
        EXECUTE format('CREATE POLICY own_tenant ON %I TO fe_front, fe_portal %s', walled, named);
        EXECUTE format('CREATE POLICY every_tenant ON %I TO fe_worker, fe_operator USING (true)', walled);
        -- Drafts, and the notices that people have seen, are not for reports.
        IF walled NOT IN ('portal_drafts', 'portal_troubles_seen') THEN
            EXECUTE format('CREATE POLICY every_tenant_read ON %I FOR SELECT TO fe_readonly USING (true)', walled);
        END IF;
    END LOOP;
    FOREACH walled IN ARRAY ARRAY['receivers', 'received', 'acknowledgements', 'received_approvals', 'spent_seeds',
                                  'certificates', 'submissions', 'webhook_endpoints', 'webhook_events',
                                  'webhook_deliveries'] LOOP
        EXECUTE format('CREATE POLICY receiving_tenant ON %I TO fe_reception %s', walled, named);
    END LOOP;
END
$$;

-- Gates: a key, a receiver and an invitation are looked up before their tenant is known, and so is who is disabled; a person's
-- tenants before one is chosen.
CREATE POLICY before_the_tenant_is_known ON api_keys FOR SELECT TO fe_front USING (true);
CREATE POLICY before_the_tenant_is_known ON disabled_tenants FOR SELECT TO fe_front, fe_portal USING (true);
CREATE POLICY before_the_tenant_is_known ON receivers FOR SELECT TO fe_reception USING (true);
CREATE POLICY before_the_tenant_is_known ON invitations FOR SELECT TO fe_portal USING (true);
CREATE POLICY before_the_tenant_is_chosen ON memberships FOR SELECT TO fe_portal USING (true);
-- Of waiting rows the front reads three columns, none of which names a tenant.
CREATE POLICY counted ON outbox FOR SELECT TO fe_front USING (true);
-- A pause may be of all tenants.
CREATE POLICY which_are_paused ON pauses FOR SELECT TO fe_front, fe_portal USING (true);

-- Rights are granted on partitioned tables alone: a partition that is named directly would be a way around the policies.
-- fe_front

GRANT SELECT ON
applied_migrations, tenants, users, api_keys, billing_accounts, excise_rates, held_numbers, received,
acknowledgements, received_approvals, issuer_delegations, webhook_attempts, counterparty_deliveries, usage_ends,
usage_days, usage_marks, billing_months, disabled_tenants
TO fe_front;

GRANT INSERT ON outbox, write_probes, simulations TO fe_front;

GRANT SELECT, INSERT ON
submissions, client_requests, submission_documents, submission_events, webhook_events, webhook_deliveries,
webhook_recoveries, approvals
TO fe_front;

GRANT SELECT, DELETE ON returned_numbers TO fe_front;

GRANT SELECT, INSERT, UPDATE ON request_counts, api_key_uses, webhook_endpoints, request_flushes TO fe_front;

GRANT SELECT, INSERT, UPDATE, DELETE ON sequences, login_attempts, webhook_secrets TO fe_front;

GRANT UPDATE (secret_hash, pepper_id) ON api_keys TO fe_front;

GRANT SELECT (tenant_id, certificate_id, user_id, not_before, not_after, retired_at) ON certificates TO fe_front;

GRANT SELECT (tenant_id, submission_id, outcome) ON sends TO fe_front;

GRANT SELECT (stage, environment, run_at) ON outbox TO fe_front;

GRANT SELECT (tenant_id, subject) ON dead_letters TO fe_front;

GRANT SELECT (tenant_id, environment) ON pauses TO fe_front;

GRANT UPDATE (stage, run_at, attempt, holder, deaths, entered_at, finished_at) ON webhook_deliveries TO fe_front;

-- fe_portal

GRANT SELECT ON
applied_migrations, tenants, sends, dead_letters, billing_accounts, excise_rates, held_numbers, receivers, received,
acknowledgements, received_approvals, issuer_delegations, webhook_attempts, counterparty_deliveries, usage_ends,
usage_days, usage_marks, billing_months, billing_charges, disabled_tenants, people, password_resets
TO fe_portal;

GRANT INSERT ON certificates, outbox, write_probes, simulations TO fe_portal;

GRANT SELECT, INSERT ON
users, api_keys, submissions, client_requests, submission_documents, submission_events, webhook_events,
webhook_deliveries, webhook_recoveries, approvals, invitations, tenant_changes
TO fe_portal;

GRANT SELECT, DELETE ON returned_numbers TO fe_portal;

GRANT SELECT, INSERT, UPDATE ON
request_counts, api_key_uses, webhook_endpoints, request_flushes, portal_troubles_seen
TO fe_portal;

GRANT SELECT, INSERT, DELETE ON portal_forms, portal_logins, openid_requests TO fe_portal;

GRANT SELECT, INSERT, UPDATE, DELETE ON
sequences, login_attempts, webhook_secrets, recovery_codes, identities, memberships, portal_sessions, portal_drafts
TO fe_portal;

GRANT UPDATE (name, issuer, consumer_summary) ON tenants TO fe_portal;

GRANT UPDATE (issuer_override, removed_at) ON users TO fe_portal;

GRANT UPDATE (secret_hash, revoked_at, pepper_id) ON api_keys TO fe_portal;

GRANT
SELECT (
    tenant_id, certificate_id, user_id, holder, holder_id, serial_number, not_before, not_after, created_at,
    retired_at, destroyed_at
),
UPDATE (retired_at)
ON certificates TO fe_portal;

GRANT SELECT (tenant_id, submission_id, outcome) ON sends TO fe_portal;

GRANT SELECT (tenant_id, subject, stage, environment, run_at) ON outbox TO fe_portal;

GRANT SELECT (tenant_id, subject, environment, died_at) ON dead_letters TO fe_portal;

GRANT SELECT (tenant_id, environment) ON pauses TO fe_portal;

GRANT UPDATE (stage, run_at, attempt, holder, deaths, entered_at, finished_at) ON webhook_deliveries TO fe_portal;

GRANT
INSERT (person_id, email, name, language, password_hash, created_at),
UPDATE (name, language, password_hash, totp_secret, totp_since, totp_last_step)
ON people TO fe_portal;

GRANT UPDATE (accepted_at, withdrawn_at) ON invitations TO fe_portal;

GRANT UPDATE (used_at) ON password_resets TO fe_portal;

-- fe_reception

GRANT SELECT ON applied_migrations, certificates, receivers TO fe_reception;

GRANT INSERT ON webhook_events, webhook_deliveries TO fe_reception;

GRANT SELECT, INSERT ON received, acknowledgements, received_approvals, spent_seeds TO fe_reception;

GRANT
SELECT (tenant_id, submission_id, environment, root, e_ncf, issuer_rnc, buyer_rnc, status)
ON submissions TO fe_reception;

GRANT
SELECT (tenant_id, endpoint_id, environment, enabled, events, disabled_at, removed_at)
ON webhook_endpoints TO fe_reception;

-- fe_worker

GRANT SELECT ON
applied_migrations, tenants, users, certificates, sequences, pauses, api_key_uses, billing_accounts, excise_rates,
received, acknowledgements, webhook_endpoints, approvals, billing_terms, disabled_tenants, simulations
TO fe_worker;

GRANT SELECT, INSERT ON submission_documents, submission_events, dead_letters, returned_numbers TO fe_worker;

GRANT SELECT, UPDATE ON submissions TO fe_worker;

GRANT SELECT, DELETE ON spent_seeds, webhook_secrets, request_flushes, portal_drafts TO fe_worker;

GRANT SELECT, INSERT, UPDATE ON
sends, circuits, held_numbers, counterparty_deliveries, counterparty_sends, duties, billing_months, billing_charges,
billing_rounds
TO fe_worker;

GRANT SELECT, INSERT, DELETE ON webhook_events, webhook_attempts, webhook_notices TO fe_worker;

GRANT SELECT, UPDATE, DELETE ON outbox TO fe_worker;

GRANT SELECT, INSERT, UPDATE, DELETE ON
workers, webhook_deliveries, webhook_recoveries, counterparty_outbox, usage_ends, usage_carried, usage_days,
usage_latency, usage_marks
TO fe_worker;

GRANT UPDATE (paused_at, paused_for) ON sequences TO fe_worker;

GRANT UPDATE (failing_since, disabled_at, disabled_reason) ON webhook_endpoints TO fe_worker;

GRANT SELECT (person_id, totp_secret) ON people TO fe_worker;

-- fe_operator

GRANT SELECT ON
applied_migrations, client_requests, submission_documents, sends, workers, circuits, request_counts, api_key_uses,
held_numbers, audit_trail, received, acknowledgements, received_approvals, webhook_attempts, webhook_notices,
approvals, counterparty_sends, simulations, second_person
TO fe_operator;

GRANT SELECT, INSERT ON
tenants, users, api_keys, certificates, submission_events, outbox, operator_actions, webhook_events,
webhook_deliveries, webhook_recoveries, counterparty_outbox, billing_terms, portal_forms, tenant_changes,
password_resets, pending_actions, returned_numbers
TO fe_operator;

GRANT SELECT, UPDATE ON submissions, counterparty_deliveries TO fe_operator;

GRANT SELECT, DELETE ON dead_letters, login_attempts, portal_sessions, portal_logins TO fe_operator;

GRANT SELECT, INSERT, UPDATE ON
billing_accounts, replay_plans, replay_items, webhook_endpoints, duties, billing_months, billing_charges,
billing_rounds, people, invitations
TO fe_operator;

GRANT SELECT, INSERT, DELETE ON pauses, issuer_delegations, disabled_tenants TO fe_operator;

GRANT SELECT, INSERT, UPDATE, DELETE ON
sequences, excise_rates, receivers, webhook_secrets, usage_ends, usage_carried, usage_days, usage_latency,
usage_marks, recovery_codes, identities, memberships
TO fe_operator;

GRANT UPDATE (name, issuer, consumer_summary, sends_to_receivers) ON tenants TO fe_operator;

GRANT UPDATE (issuer_override, removed_at) ON users TO fe_operator;

GRANT UPDATE (revoked_at) ON api_keys TO fe_operator;

GRANT UPDATE (retired_at, x509, destroyed_at) ON certificates TO fe_operator;

GRANT UPDATE (stage, run_at, attempt, holder, deaths, entered_at, finished_at) ON webhook_deliveries TO fe_operator;

GRANT UPDATE (used_at) ON password_resets TO fe_operator;

GRANT UPDATE (decision, decided_by, decided_at, rows_done, outcome, executed_at) ON pending_actions TO fe_operator;

-- fe_readonly

GRANT SELECT ON
applied_migrations, tenants, users, sequences, submissions, client_requests, submission_documents, submission_events,
sends, outbox, dead_letters, workers, circuits, pauses, request_counts, api_key_uses, billing_accounts,
operator_actions, replay_plans, replay_items, excise_rates, held_numbers, audit_trail, receivers, received,
acknowledgements, received_approvals, issuer_delegations, webhook_events, webhook_deliveries, webhook_attempts,
webhook_notices, webhook_recoveries, approvals, counterparty_deliveries, counterparty_sends, counterparty_outbox,
usage_ends, usage_carried, usage_days, usage_latency, usage_marks, duties, billing_terms, billing_months,
billing_charges, disabled_tenants, simulations, memberships, tenant_changes, pending_actions, returned_numbers,
second_person
TO fe_readonly;

GRANT
SELECT (api_key_id, tenant_id, environment, scopes, name, created_at, expires_at, revoked_at, pepper_id)
ON api_keys TO fe_readonly;

GRANT
SELECT (
    tenant_id, certificate_id, user_id, holder, holder_id, serial_number, not_before, not_after, created_at,
    retired_at, x509, destroyed_at
)
ON certificates TO fe_readonly;

GRANT
SELECT (
    tenant_id, endpoint_id, environment, url, enabled, events, created_at, updated_at, failing_since,
    disabled_at, disabled_reason, removed_at
)
ON webhook_endpoints TO fe_readonly;

GRANT SELECT (tenant_id, secret_id, endpoint_id, created_at, expires_at) ON webhook_secrets TO fe_readonly;

GRANT
SELECT (person_id, email, name, language, is_operator, totp_since, created_at, disabled_at)
ON people TO fe_readonly;
