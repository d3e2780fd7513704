-- The schema at a glance: made from a migrated database by `python -m tests.store.catalogue`, and never applied.
-- Left out: triggers, policies, grants, months, and the text of functions (sql/functions).

-- type claimed: lane int, due int, tenants bigint[], shares int[], tenant_id bigint, subject uuid, attempt int, epoch
--    bigint, deaths int, waited interval, last_error text
-- type document_kind: CHECK ((VALUE = ANY (ARRAY['original', 'signed', 'sent'])))
-- type document_root: CHECK ((VALUE = ANY (ARRAY['ECF', 'RFCE', 'ACECF', 'ANECF'])))
-- type environment: CHECK ((VALUE = ANY (ARRAY['ecf', 'certecf', 'testecf'])))
-- type former_range: min_number bigint, max_number bigint, expire_at timestamptz
-- type host: CHECK ((VALUE = ANY (ARRAY['', 'ecf', 'fc'])))
-- type number_fate: CHECK ((VALUE = ANY (ARRAY['reserved', 'used', 'reusable', 'unknown', 'void'])))
-- type portal_role: 'owner', 'member', 'accountant'
-- type send_outcome: CHECK ((VALUE = ANY (ARRAY['intended', 'received', 'refused', 'not_sent', 'unknown',
--    'not_known'])))
-- type stage: CHECK ((VALUE = ANY (ARRAY['sign', 'send', 'track', 'reconcile'])))
-- type submission_format: CHECK ((VALUE = ANY (ARRAY['xml', 'structured', 'signed']))) NOT VALID
-- type submission_status: CHECK ((VALUE = ANY (ARRAY['queued', 'En Proceso', 'Aceptado', 'Aceptado Condicional',
--    'Rechazado', 'error'])))

CREATE TABLE acknowledgements (
    tenant_id bigint NOT NULL, environment environment NOT NULL, digest bytea NOT NULL, reason smallint NOT NULL,
    issuer_rnc text NOT NULL, e_ncf text NOT NULL, signer text, presenter text, document bytea,
    acknowledgement bytea NOT NULL, said_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, environment, digest, reason)
);

CREATE TABLE agents (
    tenant_id bigint NOT NULL, environment environment NOT NULL, agent_id uuid NOT NULL, epoch bigint NOT NULL,
    nonce uuid NOT NULL, certificates text[] NOT NULL, leased_at timestamptz NOT NULL, retired_at timestamptz,
    retired_by text,
    PRIMARY KEY (tenant_id, environment, agent_id)
);

CREATE TABLE api_key_uses (
    tenant_id bigint NOT NULL, api_key_id text NOT NULL, last_used_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, api_key_id),
    FOREIGN KEY (api_key_id) REFERENCES api_keys(api_key_id)
);

CREATE TABLE api_keys (
    api_key_id text NOT NULL, tenant_id bigint NOT NULL, environment environment NOT NULL, secret_hash bytea NOT NULL,
    scopes text[] NOT NULL, name text NOT NULL, created_at timestamptz NOT NULL, expires_at timestamptz,
    revoked_at timestamptz, pepper_id text NOT NULL,
    PRIMARY KEY (api_key_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE INDEX api_keys_by_tenant ON api_keys (tenant_id);

CREATE TABLE applied_functions (
    digest bytea NOT NULL, files jsonb NOT NULL, applied_at timestamptz NOT NULL,
    PRIMARY KEY (digest)
);

CREATE TABLE applied_migrations (
    number int NOT NULL, name text NOT NULL, digest bytea NOT NULL, applied_at timestamptz NOT NULL,
    works_from int NOT NULL,
    PRIMARY KEY (number)
);

CREATE TABLE approvals (
    tenant_id bigint NOT NULL, received_id uuid NOT NULL, round int NOT NULL, submission_id uuid NOT NULL,
    approved boolean NOT NULL, reason text, decided_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, received_id, round),
    UNIQUE (tenant_id, submission_id),
    FOREIGN KEY (tenant_id, received_id) REFERENCES received(tenant_id, received_id)
);
CREATE INDEX approvals_rejected ON approvals (tenant_id, received_id) WHERE (NOT approved);

CREATE TABLE archive_chains (
    tenant_id bigint NOT NULL, environment environment NOT NULL, planned_until timestamptz NOT NULL,
    issued_until timestamptz NOT NULL, checked_at timestamptz, missing bigint NOT NULL, faults text[] NOT NULL,
    PRIMARY KEY (tenant_id, environment)
);

CREATE TABLE archive_handovers (
    tenant_id bigint NOT NULL, at timestamptz NOT NULL, by_whom text NOT NULL, protocol bytea NOT NULL,
    heads jsonb NOT NULL, packages bigint NOT NULL, receipts bigint NOT NULL,
    PRIMARY KEY (tenant_id, at, protocol)
);

CREATE TABLE archive_items (
    tenant_id bigint NOT NULL, evidence_id uuid NOT NULL, part text NOT NULL, environment environment NOT NULL,
    number bigint, events int NOT NULL, refused text,
    PRIMARY KEY (tenant_id, evidence_id, part),
    FOREIGN KEY (tenant_id, environment, number) REFERENCES archive_packages(tenant_id, environment, number)
);
CREATE INDEX archive_items_of_package ON archive_items (tenant_id, environment, number, evidence_id);
CREATE INDEX archive_items_refused ON archive_items (tenant_id) WHERE (refused IS NOT NULL);

CREATE TABLE archive_packages (
    tenant_id bigint NOT NULL, environment environment NOT NULL, number bigint NOT NULL, previous_number bigint,
    previous bytea, day date NOT NULL, planned_at timestamptz NOT NULL, receipts int NOT NULL, additions int NOT NULL,
    manifest bytea, digest bytea, bytes bigint, location text, made_at timestamptz, stored_at timestamptz, fault text,
    totals jsonb, stamped_at timestamptz,
    PRIMARY KEY (tenant_id, environment, number),
    UNIQUE (tenant_id, environment, number, manifest),
    FOREIGN KEY (tenant_id, environment, previous_number, previous) REFERENCES archive_packages(tenant_id, environment, number, manifest)
);
CREATE UNIQUE INDEX archive_packages_open ON archive_packages (tenant_id, environment) WHERE (stored_at IS NULL);
CREATE INDEX archive_packages_unstamped ON archive_packages (tenant_id, environment, number) WHERE ((stored_at IS NOT NULL) AND (stamped_at IS NULL));

CREATE TABLE archive_places (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, environment environment NOT NULL, number bigint NOT NULL,
    start bigint NOT NULL, length int NOT NULL, digest bytea NOT NULL,
    PRIMARY KEY (tenant_id, submission_id),
    FOREIGN KEY (tenant_id, environment, number) REFERENCES archive_packages(tenant_id, environment, number)
);

CREATE TABLE audit_trail (
    number bigint NOT NULL, entry text NOT NULL, previous bytea, hash bytea NOT NULL,
    PRIMARY KEY (number),
    UNIQUE (hash),
    UNIQUE (previous),
    FOREIGN KEY (previous) REFERENCES audit_trail(hash)
);

CREATE TABLE authority_health (
    environment environment NOT NULL, service text NOT NULL, began_at timestamptz NOT NULL, answered bigint NOT NULL,
    failed bigint NOT NULL, milliseconds bigint NOT NULL, slowest_milliseconds bigint NOT NULL,
    PRIMARY KEY (environment, service, began_at)
);

CREATE TABLE authority_outages (
    environment environment NOT NULL, host host NOT NULL, began_at timestamptz NOT NULL, ended_at timestamptz,
    reason text NOT NULL,
    PRIMARY KEY (environment, host, began_at)
);

CREATE TABLE billing_accounts (
    tenant_id bigint NOT NULL, enabled boolean NOT NULL, subscription_id text, unit_price numeric(12,4),
    currency text NOT NULL, pricing_tier text NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);

CREATE TABLE billing_charges (
    tenant_id bigint NOT NULL, subject uuid NOT NULL, stage text NOT NULL, environment environment NOT NULL,
    host text NOT NULL, run_at timestamptz NOT NULL, attempt int NOT NULL, epoch bigint NOT NULL, holder text,
    deaths int NOT NULL, entered_at timestamptz NOT NULL, last_error text, month date NOT NULL, part int NOT NULL,
    emissions bigint NOT NULL, unit_price numeric(12,4) NOT NULL, amount numeric(16,2) NOT NULL, currency text NOT NULL,
    subscription_id text NOT NULL, generation int NOT NULL, tried_at timestamptz, item_id text, settled_at timestamptz,
    PRIMARY KEY (tenant_id, subject),
    UNIQUE (tenant_id, month, part)
);
CREATE INDEX billing_charges_due ON billing_charges (stage, environment, host, tenant_id, run_at);

CREATE TABLE billing_months (
    tenant_id bigint NOT NULL, month date NOT NULL, unit_price numeric(12,4) NOT NULL, currency text NOT NULL,
    pricing_tier text NOT NULL, subscription_id text NOT NULL, frozen_at timestamptz NOT NULL, counted bigint NOT NULL,
    checked_at timestamptz, drift bigint NOT NULL, closed_at timestamptz, charged bigint NOT NULL,
    PRIMARY KEY (tenant_id, month)
);

CREATE TABLE billing_rounds (
    round text NOT NULL, ended_at timestamptz NOT NULL,
    PRIMARY KEY (round)
);

CREATE TABLE billing_terms (
    tenant_id bigint NOT NULL, since timestamptz NOT NULL, enabled boolean NOT NULL, subscription_id text,
    unit_price numeric(12,4), currency text NOT NULL, pricing_tier text NOT NULL,
    PRIMARY KEY (tenant_id, since),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);

CREATE TABLE certificates (
    tenant_id bigint NOT NULL, certificate_id uuid NOT NULL, user_id uuid, p12 bytea, passphrase bytea,
    holder text NOT NULL, holder_id text, serial_number text NOT NULL, not_before timestamptz NOT NULL,
    not_after timestamptz NOT NULL, created_at timestamptz NOT NULL, retired_at timestamptz, x509 bytea,
    destroyed_at timestamptz,
    PRIMARY KEY (tenant_id, certificate_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES users(tenant_id, user_id)
);
CREATE UNIQUE INDEX certificates_in_use ON certificates (tenant_id, user_id, not_before) NULLS NOT DISTINCT WHERE (retired_at IS NULL);

CREATE TABLE certification_cases (
    tenant_id bigint NOT NULL, run_id uuid NOT NULL, place int NOT NULL, name text NOT NULL, e_ncf text NOT NULL,
    is_summary boolean NOT NULL, original bytea, attempt int NOT NULL, submission_id uuid,
    is_confirmed boolean NOT NULL,
    PRIMARY KEY (tenant_id, run_id, place),
    UNIQUE (tenant_id, run_id, name),
    FOREIGN KEY (tenant_id, run_id) REFERENCES certification_runs(tenant_id, run_id)
);

CREATE TABLE certification_runs (
    tenant_id bigint NOT NULL, run_id uuid NOT NULL, state text NOT NULL, loaded_at timestamptz NOT NULL,
    loaded_by text NOT NULL, name text NOT NULL, digest bytea NOT NULL, content bytea NOT NULL, stopped_en text,
    stopped_es text, kind text NOT NULL, to_do text,
    PRIMARY KEY (tenant_id, run_id),
    UNIQUE (tenant_id, digest),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE UNIQUE INDEX certification_runs_open ON certification_runs (tenant_id, kind) WHERE (state <> 'replaced');

CREATE TABLE certification_steps (
    tenant_id bigint NOT NULL, step int NOT NULL, done_at timestamptz NOT NULL, done_by text NOT NULL,
    note text NOT NULL,
    PRIMARY KEY (tenant_id, step),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);

CREATE TABLE certification_tasks (
    tenant_id bigint NOT NULL, task_id uuid NOT NULL, kind text NOT NULL, asked_at timestamptz NOT NULL,
    asked_by text NOT NULL, name text NOT NULL, content bytea, choices jsonb NOT NULL, held_until timestamptz,
    done_at timestamptz, result bytea, faults jsonb,
    PRIMARY KEY (tenant_id, task_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE INDEX certification_tasks_open ON certification_tasks (asked_at) WHERE (done_at IS NULL);

CREATE TABLE certifications (
    tenant_id bigint NOT NULL, path text NOT NULL, begun_at timestamptz NOT NULL, begun_by text NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);

CREATE TABLE circuits (
    environment environment NOT NULL, host host NOT NULL, is_open boolean NOT NULL, since timestamptz NOT NULL,
    reason text NOT NULL, probe_at timestamptz NOT NULL, failed_probes int NOT NULL,
    PRIMARY KEY (environment, host)
);

CREATE TABLE client_requests (
    tenant_id bigint NOT NULL, environment environment NOT NULL, client_request_id text NOT NULL,
    submission_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, environment, client_request_id)
);

CREATE TABLE counterparty_deliveries (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, kind text NOT NULL, environment environment NOT NULL,
    counterparty_rnc text NOT NULL, state text NOT NULL, reason text, url text, answer bytea,
    since timestamptz NOT NULL, changed_at timestamptz NOT NULL, epoch bigint NOT NULL,
    PRIMARY KEY (tenant_id, submission_id)
);
CREATE INDEX counterparty_deliveries_acknowledged ON counterparty_deliveries (tenant_id, environment, changed_at) WHERE ((kind = 'receipt') AND (answer IS NOT NULL));
CREATE INDEX counterparty_deliveries_given_up ON counterparty_deliveries (changed_at) WHERE (state = 'gave_up');

CREATE TABLE counterparty_outbox (
    tenant_id bigint NOT NULL, subject uuid NOT NULL, stage text NOT NULL, environment environment NOT NULL,
    host text NOT NULL, run_at timestamptz NOT NULL, attempt int NOT NULL, epoch bigint NOT NULL, holder text,
    deaths int NOT NULL, entered_at timestamptz NOT NULL, last_error text,
    PRIMARY KEY (tenant_id, subject)
);
CREATE INDEX counterparty_outbox_by_time ON counterparty_outbox (stage, run_at);
CREATE INDEX counterparty_outbox_due ON counterparty_outbox (stage, environment, host, tenant_id, run_at);
CREATE INDEX counterparty_outbox_held ON counterparty_outbox (stage, environment, host) WHERE (holder IS NOT NULL);

CREATE TABLE counterparty_sends (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, epoch bigint NOT NULL, digest bytea NOT NULL,
    url text NOT NULL, intended_at timestamptz NOT NULL, outcome text NOT NULL, status int, answered_at timestamptz,
    PRIMARY KEY (tenant_id, submission_id, epoch)
);

CREATE TABLE customers (
    tenant_id bigint NOT NULL, id text NOT NULL, name text NOT NULL, rnc text, email text, phone text, address text,
    municipality text, province text, receipt_type text, search text NOT NULL, source text NOT NULL,
    version int NOT NULL, changed_at timestamptz NOT NULL, changed_by text NOT NULL, used_at timestamptz,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX customers_by_rnc ON customers (tenant_id, rnc) WHERE (rnc IS NOT NULL);
CREATE INDEX customers_by_use ON customers (tenant_id, used_at) WHERE (used_at IS NOT NULL);
CREATE INDEX customers_in_order ON customers (tenant_id, search, id);

CREATE TABLE dead_letters (
    tenant_id bigint NOT NULL, subject uuid NOT NULL, stage stage NOT NULL, environment environment NOT NULL,
    host host NOT NULL, attempt int NOT NULL, epoch bigint NOT NULL, deaths int NOT NULL,
    entered_at timestamptz NOT NULL, died_at timestamptz NOT NULL, error text NOT NULL, trace text,
    PRIMARY KEY (tenant_id, subject),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);

CREATE TABLE disabled_tenants (
    tenant_id bigint NOT NULL, since timestamptz NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);

CREATE TABLE duties (
    duty text NOT NULL, holder text NOT NULL, held_until timestamptz NOT NULL,
    PRIMARY KEY (duty)
);

CREATE TABLE excise_rates (
    code text NOT NULL, since date NOT NULL, until date, rate numeric NOT NULL, set_at timestamptz NOT NULL,
    set_by text NOT NULL,
    PRIMARY KEY (code, since)
);

CREATE TABLE held_numbers (
    tenant_id bigint NOT NULL, environment environment NOT NULL, e_ncf text NOT NULL, issuer_rnc text NOT NULL,
    submission_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, environment, e_ncf, issuer_rnc)
);

CREATE TABLE identities (
    issuer text NOT NULL, subject text NOT NULL, person_id uuid NOT NULL, since timestamptz NOT NULL,
    PRIMARY KEY (issuer, subject),
    FOREIGN KEY (person_id) REFERENCES people(person_id)
);
CREATE INDEX identities_by_person ON identities (person_id);

CREATE TABLE import_files (
    tenant_id bigint NOT NULL, import_id uuid NOT NULL, environment environment NOT NULL,
    created_at timestamptz NOT NULL, api_key_id text NOT NULL, person_id uuid, name text NOT NULL,
    digest bytea NOT NULL, content bytea NOT NULL, notes jsonb NOT NULL,
    PRIMARY KEY (tenant_id, import_id),
    UNIQUE (tenant_id, environment, digest)
);

CREATE TABLE import_receipts (
    tenant_id bigint NOT NULL, import_id uuid NOT NULL, place int NOT NULL, key text NOT NULL,
    is_own_key boolean NOT NULL, file_rows int[] NOT NULL, prefix text, payload bytea NOT NULL, outcome text,
    misread jsonb NOT NULL, faults jsonb NOT NULL, submission_id uuid, e_ncf text, total numeric(18,2),
    PRIMARY KEY (tenant_id, import_id, place)
);
CREATE INDEX import_receipts_open ON import_receipts (tenant_id, import_id, place) WHERE ((outcome IS NULL) OR (outcome = 'valid'));

CREATE TABLE imports (
    tenant_id bigint NOT NULL, import_id uuid NOT NULL, environment environment NOT NULL, state text NOT NULL,
    created_at timestamptz NOT NULL, held_until timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, import_id)
);
CREATE INDEX imports_at_work ON imports (created_at) WHERE (state = ANY (ARRAY['validating', 'issuing']));

CREATE TABLE invitations (
    invitation_id uuid NOT NULL, tenant_id bigint, role portal_role, email text NOT NULL, token_hash bytea NOT NULL,
    invited_by text NOT NULL, created_at timestamptz NOT NULL, expires_at timestamptz NOT NULL, accepted_at timestamptz,
    withdrawn_at timestamptz,
    PRIMARY KEY (invitation_id),
    UNIQUE (token_hash),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE INDEX invitations_by_tenant ON invitations (tenant_id);

CREATE TABLE issuer_delegations (
    tenant_id bigint NOT NULL, rnc text NOT NULL, recorded_at timestamptz NOT NULL, recorded_by text NOT NULL,
    reason text NOT NULL,
    PRIMARY KEY (tenant_id, rnc),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);

CREATE TABLE login_attempts (
    bucket bytea NOT NULL, kind text NOT NULL, recent timestamptz[] NOT NULL, locked_until timestamptz,
    last_at timestamptz NOT NULL,
    PRIMARY KEY (bucket)
);

CREATE TABLE mail_days (
    tenant_id bigint NOT NULL, day date NOT NULL, mails int NOT NULL,
    PRIMARY KEY (tenant_id, day)
);

CREATE TABLE mail_recipients (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, address text NOT NULL,
    PRIMARY KEY (tenant_id, submission_id)
);

CREATE TABLE mail_suppressions (
    tenant_id bigint NOT NULL, address text NOT NULL, reason text NOT NULL, since timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, address)
);

CREATE TABLE mails (
    tenant_id bigint NOT NULL, subject uuid NOT NULL, stage text NOT NULL, environment environment NOT NULL,
    host text NOT NULL, run_at timestamptz NOT NULL, attempt int NOT NULL, epoch bigint NOT NULL, holder text,
    deaths int NOT NULL, entered_at timestamptz NOT NULL, last_error text, address text, message_id text,
    counted_on date, code int, finished_at timestamptz,
    PRIMARY KEY (tenant_id, subject)
);
CREATE INDEX mails_due ON mails (stage, environment, host, tenant_id, run_at) WHERE (run_at < 'infinity'::timestamptz);
CREATE INDEX mails_given_up ON mails (finished_at) WHERE (stage = 'failed');

CREATE TABLE memberships (
    tenant_id bigint NOT NULL, person_id uuid NOT NULL, role portal_role NOT NULL, since timestamptz NOT NULL,
    answers boolean NOT NULL,
    PRIMARY KEY (tenant_id, person_id),
    FOREIGN KEY (person_id) REFERENCES people(person_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE INDEX memberships_by_person ON memberships (person_id);

CREATE TABLE mode_periods (
    tenant_id bigint NOT NULL, environment environment NOT NULL, period_id uuid NOT NULL, mode text NOT NULL,
    number text, valid_until date, began_at timestamptz NOT NULL, begun_by text NOT NULL, reason text NOT NULL,
    ended_at timestamptz, ended_by text, end_reason text,
    PRIMARY KEY (tenant_id, period_id)
);
CREATE UNIQUE INDEX mode_periods_one_at_a_time ON mode_periods (tenant_id, environment) WHERE (ended_at IS NULL);

CREATE TABLE notice_mails (
    tenant_id bigint NOT NULL, person_id uuid NOT NULL, is_on boolean NOT NULL, sent_on date, told text[] NOT NULL,
    PRIMARY KEY (tenant_id, person_id)
);

CREATE TABLE openid_requests (
    state_hash bytea NOT NULL, browser_hash bytea NOT NULL, purpose text NOT NULL, next text NOT NULL,
    invitation_hash bytea, began_at timestamptz NOT NULL,
    PRIMARY KEY (state_hash)
);
CREATE INDEX openid_requests_by_age ON openid_requests (began_at);

CREATE TABLE operator_actions (
    action_id uuid NOT NULL, at timestamptz NOT NULL, by_whom text NOT NULL, action text NOT NULL, reason text NOT NULL,
    tenant_id bigint, subject uuid, detail jsonb NOT NULL, login text,
    PRIMARY KEY (action_id)
);
CREATE INDEX operator_actions_by_time ON operator_actions (at);

CREATE TABLE operator_keys (
    operator_key_id text NOT NULL, person_id uuid NOT NULL, name text NOT NULL, secret_hash bytea NOT NULL,
    pepper_id text NOT NULL, created_at timestamptz NOT NULL, expires_at timestamptz NOT NULL, revoked_at timestamptz,
    last_used_at timestamptz,
    PRIMARY KEY (operator_key_id),
    FOREIGN KEY (person_id) REFERENCES people(person_id)
);
CREATE INDEX operator_keys_by_person ON operator_keys (person_id);

CREATE TABLE outbox (
    tenant_id bigint NOT NULL, subject uuid NOT NULL, stage stage NOT NULL, environment environment NOT NULL,
    host host NOT NULL, run_at timestamptz NOT NULL, attempt int NOT NULL, epoch bigint NOT NULL, holder text,
    deaths int NOT NULL, entered_at timestamptz NOT NULL, last_error text, trace text,
    PRIMARY KEY (tenant_id, subject)
);
CREATE INDEX outbox_due ON outbox (stage, environment, host, tenant_id, run_at) WHERE (run_at < 'infinity'::timestamptz);
CREATE INDEX outbox_due_by_time ON outbox (stage, environment, host, run_at) WHERE ((run_at < 'infinity'::timestamptz) AND (epoch >= 0));

CREATE TABLE paper_ranges (
    tenant_id bigint NOT NULL, environment environment NOT NULL, range_id uuid NOT NULL, prefix text NOT NULL,
    first_number int NOT NULL, last_number int NOT NULL, next_number int NOT NULL, expires_on date NOT NULL,
    recorded_at timestamptz NOT NULL, recorded_by text NOT NULL,
    PRIMARY KEY (tenant_id, range_id),
    EXCLUDE USING gist (int8range(tenant_id, tenant_id, '[]') WITH =, int4range(((((substr(prefix, 2, 2))::int * 10) + (((environment) = 'certecf'))::int) + ((((environment) = 'testecf'))::int * 2)), ((((substr(prefix, 2, 2))::int * 10) + (((environment) = 'certecf'))::int) + ((((environment) = 'testecf'))::int * 2)), '[]') WITH =, int8range((first_number)::bigint, (last_number)::bigint, '[]') WITH &&)
);

CREATE TABLE paper_receipts (
    tenant_id bigint NOT NULL, environment environment NOT NULL, ncf text NOT NULL, range_id uuid NOT NULL,
    period_id uuid NOT NULL, issued_on date NOT NULL, client_request_id text, payload bytea NOT NULL, buyer_rnc text,
    buyer_name text, total numeric(18,2) NOT NULL, itbis numeric(18,2) NOT NULL, entered_at timestamptz NOT NULL,
    entered_by text NOT NULL, replaced_at timestamptz, replaced_by uuid, e_ncf text,
    PRIMARY KEY (tenant_id, environment, ncf),
    UNIQUE (tenant_id, environment, client_request_id),
    UNIQUE (tenant_id, replaced_by),
    FOREIGN KEY (tenant_id, period_id) REFERENCES mode_periods(tenant_id, period_id),
    FOREIGN KEY (tenant_id, range_id) REFERENCES paper_ranges(tenant_id, range_id)
);
CREATE INDEX paper_receipts_by_day ON paper_receipts (tenant_id, environment, issued_on);
CREATE INDEX paper_receipts_open ON paper_receipts (tenant_id, environment, ncf) WHERE (replaced_at IS NULL);

CREATE TABLE paper_references (
    tenant_id bigint NOT NULL, environment environment NOT NULL, ncf text NOT NULL, submission_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, environment, ncf, submission_id)
);

CREATE TABLE paper_replacements (
    tenant_id bigint NOT NULL, environment environment NOT NULL, ncf text NOT NULL, attempt int NOT NULL,
    client_request_id text NOT NULL, begun_at timestamptz NOT NULL, begun_by text NOT NULL, freed_at timestamptz,
    PRIMARY KEY (tenant_id, environment, ncf, attempt),
    UNIQUE (tenant_id, environment, client_request_id),
    FOREIGN KEY (tenant_id, environment, ncf) REFERENCES paper_receipts(tenant_id, environment, ncf)
);
CREATE UNIQUE INDEX paper_replacements_one_live ON paper_replacements (tenant_id, environment, ncf) WHERE (freed_at IS NULL);

CREATE TABLE password_resets (
    token_hash bytea NOT NULL, person_id uuid NOT NULL, created_by text NOT NULL, created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL, used_at timestamptz,
    PRIMARY KEY (token_hash),
    FOREIGN KEY (person_id) REFERENCES people(person_id)
);
CREATE INDEX password_resets_by_person ON password_resets (person_id);

CREATE TABLE pauses (
    tenant_id bigint NOT NULL, environment text NOT NULL, paused_at timestamptz NOT NULL, paused_by text NOT NULL,
    reason text NOT NULL,
    PRIMARY KEY (tenant_id, environment)
);

CREATE TABLE pending_actions (
    action_id uuid NOT NULL, kind text NOT NULL, tenant_id bigint, request text NOT NULL, digest bytea NOT NULL,
    row_count int NOT NULL, asked_by text NOT NULL, asked_through text NOT NULL, asked_at timestamptz NOT NULL,
    reason text NOT NULL, expires_at timestamptz NOT NULL, decision text, decided_by text, decided_at timestamptz,
    rows_done int NOT NULL, outcome jsonb NOT NULL, executed_at timestamptz,
    PRIMARY KEY (action_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE INDEX pending_actions_by_age ON pending_actions (asked_at);
CREATE INDEX pending_actions_to_do ON pending_actions (asked_at) WHERE ((executed_at IS NULL) AND (decision <> 'refused'));

CREATE TABLE people (
    person_id uuid NOT NULL, email text NOT NULL, name text NOT NULL, language text NOT NULL, password_hash text,
    is_operator boolean NOT NULL, totp_secret bytea, totp_since timestamptz, totp_last_step bigint,
    created_at timestamptz NOT NULL, disabled_at timestamptz,
    PRIMARY KEY (person_id)
);
CREATE UNIQUE INDEX people_by_email ON people (lower(email));

CREATE TABLE portal_drafts (
    tenant_id bigint NOT NULL, person_id uuid NOT NULL, draft_id uuid NOT NULL, saved_at timestamptz NOT NULL,
    content bytea NOT NULL,
    PRIMARY KEY (tenant_id, person_id, draft_id)
);
CREATE INDEX portal_drafts_by_age ON portal_drafts (saved_at);

CREATE TABLE portal_forms (
    form_id uuid NOT NULL, sent_at timestamptz NOT NULL,
    PRIMARY KEY (form_id)
);
CREATE INDEX portal_forms_by_age ON portal_forms (sent_at);

CREATE TABLE portal_logins (
    token_hash bytea NOT NULL, person_id uuid NOT NULL, way text NOT NULL, began_at timestamptz NOT NULL,
    PRIMARY KEY (token_hash),
    FOREIGN KEY (person_id) REFERENCES people(person_id)
);
CREATE INDEX portal_logins_by_age ON portal_logins (began_at);
CREATE INDEX portal_logins_by_person ON portal_logins (person_id);

CREATE TABLE portal_sessions (
    token_hash bytea NOT NULL, person_id uuid NOT NULL, created_at timestamptz NOT NULL, seen_at timestamptz NOT NULL,
    authenticated_at timestamptz NOT NULL, address text NOT NULL, user_agent text NOT NULL, notice jsonb,
    PRIMARY KEY (token_hash),
    FOREIGN KEY (person_id) REFERENCES people(person_id)
);
CREATE INDEX portal_sessions_by_age ON portal_sessions (created_at);
CREATE INDEX portal_sessions_by_person ON portal_sessions (person_id);

CREATE TABLE portal_troubles_seen (
    tenant_id bigint NOT NULL, person_id uuid NOT NULL, seen_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, person_id)
);

CREATE TABLE print_settings (
    tenant_id bigint NOT NULL, logo bytea, accent text NOT NULL, footer text NOT NULL, marks text[] NOT NULL,
    language text NOT NULL, layout text NOT NULL, changed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);

CREATE TABLE products (
    tenant_id bigint NOT NULL, id text NOT NULL, name text NOT NULL, code text, unit text, price numeric(20,4),
    price_has_itbis boolean, itbis text, kind text, additional_taxes text[] NOT NULL, search text NOT NULL,
    source text NOT NULL, version int NOT NULL, changed_at timestamptz NOT NULL, changed_by text NOT NULL,
    used_at timestamptz,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX products_by_code ON products (tenant_id, code) WHERE (code IS NOT NULL);
CREATE INDEX products_by_use ON products (tenant_id, used_at) WHERE (used_at IS NOT NULL);
CREATE INDEX products_in_order ON products (tenant_id, search, id);

CREATE TABLE receipt_days (
    tenant_id bigint NOT NULL, environment environment NOT NULL, issued_on date NOT NULL, ecf_type text NOT NULL,
    status submission_status NOT NULL, receipts bigint NOT NULL, total numeric(20,2) NOT NULL,
    itbis numeric(20,2) NOT NULL, base18 numeric(20,2) NOT NULL, base16 numeric(20,2) NOT NULL,
    base0 numeric(20,2) NOT NULL, exempt numeric(20,2) NOT NULL, itbis18 numeric(20,2) NOT NULL,
    itbis16 numeric(20,2) NOT NULL, itbis_withheld numeric(20,2) NOT NULL, isr_withheld numeric(20,2) NOT NULL,
    without_amounts bigint NOT NULL, first_number text NOT NULL, last_number text NOT NULL,
    PRIMARY KEY (tenant_id, environment, issued_on, ecf_type, status)
);

CREATE TABLE receipt_expenses (
    tenant_id bigint NOT NULL, supplier text NOT NULL, e_ncf text NOT NULL, kind text NOT NULL, isr_type text,
    payment text, paid_on date, itbis text NOT NULL, changed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, supplier, e_ncf),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);

CREATE TABLE received (
    tenant_id bigint NOT NULL, received_id uuid NOT NULL, environment environment NOT NULL, issuer_rnc text NOT NULL,
    e_ncf text NOT NULL, ecf_type text NOT NULL, issuer_name text NOT NULL, buyer_rnc text NOT NULL,
    issued_on date NOT NULL, total numeric(18,2) NOT NULL, digest bytea NOT NULL, received_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, received_id),
    UNIQUE (tenant_id, environment, issuer_rnc, e_ncf)
);
CREATE INDEX received_by_issue_day ON received (tenant_id, issued_on, received_id);
CREATE INDEX received_by_issuer ON received (tenant_id, environment, issuer_rnc, received_id);
CREATE INDEX received_by_number ON received (tenant_id, e_ncf, received_id);
CREATE INDEX received_of_an_environment ON received (tenant_id, environment, received_id);

CREATE TABLE received_amounts (
    tenant_id bigint NOT NULL, received_id uuid NOT NULL, amounts jsonb NOT NULL,
    PRIMARY KEY (tenant_id, received_id),
    FOREIGN KEY (tenant_id, received_id) REFERENCES received(tenant_id, received_id)
);

CREATE TABLE received_approvals (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, approved boolean NOT NULL, reason text, signer text,
    presenter text, document bytea NOT NULL, received_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, submission_id)
);
CREATE INDEX received_approvals_by_time ON received_approvals (tenant_id, received_at);

CREATE TABLE received_waiting (
    tenant_id bigint NOT NULL, environment environment NOT NULL, received_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, environment, received_id),
    FOREIGN KEY (tenant_id, received_id) REFERENCES received(tenant_id, received_id)
);

CREATE TABLE receivers (
    environment environment NOT NULL, rnc text NOT NULL, tenant_id bigint NOT NULL, demands_token boolean NOT NULL,
    since timestamptz NOT NULL,
    PRIMARY KEY (environment, rnc),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE INDEX receivers_by_tenant ON receivers (tenant_id);

CREATE TABLE recovery_codes (
    person_id uuid NOT NULL, code_hash bytea NOT NULL, used_at timestamptz,
    PRIMARY KEY (person_id, code_hash),
    FOREIGN KEY (person_id) REFERENCES people(person_id)
);

CREATE TABLE recurring_due (
    tenant_id bigint NOT NULL, recurring_id uuid NOT NULL, run_at timestamptz NOT NULL, held_until timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, recurring_id)
);
CREATE INDEX recurring_due_in_order ON recurring_due (run_at);

CREATE TABLE recurring_receipts (
    tenant_id bigint NOT NULL, recurring_id uuid NOT NULL, environment environment NOT NULL, id text NOT NULL,
    name text NOT NULL, state text NOT NULL, day int NOT NULL, every int NOT NULL, starts_on date, ends_on date,
    next_on date, last_month date, customer text, payment_days int, payload bytea NOT NULL, as_user text,
    as_user_id uuid, notify text, sequence text, api_key_id text NOT NULL, version int NOT NULL,
    created_at timestamptz NOT NULL, changed_at timestamptz NOT NULL, changed_by text NOT NULL, preview jsonb,
    previewed_for date,
    PRIMARY KEY (tenant_id, recurring_id),
    UNIQUE (tenant_id, environment, id)
);
CREATE INDEX recurring_receipts_previewed ON recurring_receipts (tenant_id) WHERE (previewed_for IS NOT NULL);

CREATE TABLE recurring_turns (
    tenant_id bigint NOT NULL, recurring_id uuid NOT NULL, month date NOT NULL, due_on date NOT NULL,
    state text NOT NULL, reason text, said jsonb, tried_at timestamptz, try_at timestamptz, submission_id uuid,
    e_ncf text,
    PRIMARY KEY (tenant_id, recurring_id, month)
);
CREATE INDEX recurring_turns_held ON recurring_turns (tenant_id) WHERE (state = 'held');

CREATE TABLE replay_items (
    tenant_id bigint NOT NULL, plan_id text NOT NULL, subject uuid NOT NULL, turn int NOT NULL, released_at timestamptz,
    released_to text, passed_over boolean NOT NULL,
    PRIMARY KEY (tenant_id, plan_id, subject),
    FOREIGN KEY (plan_id) REFERENCES replay_plans(plan_id)
);
CREATE INDEX replay_items_by_turn ON replay_items (plan_id, turn);
CREATE INDEX replay_items_waiting ON replay_items (plan_id, passed_over, turn) WHERE (released_at IS NULL);

CREATE TABLE replay_plans (
    plan_id text NOT NULL, created_at timestamptz NOT NULL, created_by text NOT NULL, reason text NOT NULL,
    canary int NOT NULL, canaries_passed boolean NOT NULL, per_second numeric NOT NULL,
    next_release_at timestamptz NOT NULL, stop_on_failure boolean NOT NULL, finished_at timestamptz, canary_of_lane int,
    carried_on boolean NOT NULL, halted_at timestamptz, halted_because text,
    PRIMARY KEY (plan_id)
);
CREATE INDEX replay_plans_by_age ON replay_plans (created_at);
CREATE INDEX replay_plans_to_do ON replay_plans (created_at) WHERE (carried_on AND (finished_at IS NULL) AND (halted_at IS NULL));

CREATE TABLE request_counts (
    tenant_id bigint NOT NULL, environment environment NOT NULL, utc_day date NOT NULL, succeeded bigint NOT NULL,
    failed bigint NOT NULL, bytes_in bigint NOT NULL, bytes_out bigint NOT NULL,
    PRIMARY KEY (tenant_id, environment, utc_day),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);

CREATE TABLE request_flushes (
    process uuid NOT NULL, batch bigint NOT NULL, written_at timestamptz NOT NULL,
    PRIMARY KEY (process)
);

CREATE TABLE request_log (
    tenant_id bigint NOT NULL, environment environment NOT NULL, entry_id uuid NOT NULL, api_key_id text NOT NULL,
    request_id text NOT NULL, method text NOT NULL, route text NOT NULL, path text NOT NULL, status smallint NOT NULL,
    duration_ms int NOT NULL, message text, message_es text, body text,
    PRIMARY KEY (tenant_id, environment, entry_id)
);
CREATE INDEX request_log_by_age ON request_log (entry_id);
CREATE INDEX request_log_by_request ON request_log (tenant_id, request_id);

CREATE TABLE returned_numbers (
    tenant_id bigint NOT NULL, environment environment NOT NULL, prefix text NOT NULL, number bigint NOT NULL,
    PRIMARY KEY (tenant_id, environment, prefix, number)
);

CREATE TABLE sandbox_outages (
    tenant_id bigint NOT NULL, environment environment NOT NULL, began_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, environment, began_at)
);

CREATE TABLE second_person (
    only_row boolean NOT NULL, more_than int NOT NULL,
    PRIMARY KEY (only_row)
);

CREATE TABLE sends (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, epoch bigint NOT NULL, digest bytea NOT NULL,
    intended_at timestamptz NOT NULL, outcome send_outcome NOT NULL, answered_at timestamptz, track_id text,
    PRIMARY KEY (tenant_id, submission_id, epoch)
);

CREATE TABLE sequences (
    tenant_id bigint NOT NULL, environment environment NOT NULL, prefix text NOT NULL, sequence_id uuid NOT NULL,
    min_number bigint NOT NULL, max_number bigint NOT NULL, current_number bigint NOT NULL, is_active boolean NOT NULL,
    expire_at timestamptz, created_at timestamptz NOT NULL, updated_at timestamptz NOT NULL,
    former_ranges former_range[] NOT NULL, set_at timestamptz, paused_at timestamptz, paused_for text,
    resumed_at timestamptz, user_ids uuid[] NOT NULL, user_emails text[] NOT NULL, agent_id uuid, next_min bigint,
    next_max bigint, next_expire_at timestamptz, left_ranges former_range[] NOT NULL,
    PRIMARY KEY (tenant_id, environment, prefix),
    EXCLUDE USING gist (int8range(tenant_id, tenant_id, '[]') WITH =, int4range(((((substr(prefix, 2, 2))::int * 10) + (((environment) = 'certecf'))::int) + ((((environment) = 'testecf'))::int * 2)), ((((substr(prefix, 2, 2))::int * 10) + (((environment) = 'certecf'))::int) + ((((environment) = 'testecf'))::int * 2)), '[]') WITH =, (
CASE
    WHEN (next_min IS NULL) THEN int8multirange(int8range(min_number, max_number, '[]'))
    ELSE int8multirange(VARIADIC ARRAY[int8range(min_number, max_number, '[]'), int8range(next_min, next_max, '[]')])
END) WITH &&),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE UNIQUE INDEX sequences_one_spelling ON sequences (tenant_id, environment, lower(prefix));

CREATE TABLE service_states (
    part text NOT NULL, began_at timestamptz NOT NULL, seen_at timestamptz NOT NULL, severity smallint NOT NULL,
    PRIMARY KEY (part, began_at)
);

CREATE TABLE shared_receipts (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, key_id text NOT NULL, nonce bytea NOT NULL,
    token_hash bytea NOT NULL, shared_at timestamptz NOT NULL, environment environment NOT NULL,
    status submission_status NOT NULL, security_code text, qr_code_url text, document bytea NOT NULL,
    PRIMARY KEY (tenant_id, submission_id, key_id),
    UNIQUE (token_hash)
);

CREATE TABLE simulations (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, environment environment NOT NULL, outcome text NOT NULL,
    code int, seconds int,
    PRIMARY KEY (tenant_id, submission_id)
);

CREATE TABLE spent_seeds (
    tenant_id bigint NOT NULL, seed bytea NOT NULL, expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, seed)
);
CREATE INDEX spent_seeds_by_end ON spent_seeds (expires_at);

CREATE TABLE submission_documents (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, kind document_kind NOT NULL, content bytea NOT NULL,
    PRIMARY KEY (tenant_id, submission_id, kind)
);

CREATE TABLE submission_events (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, seq int NOT NULL, at timestamptz NOT NULL,
    kind text NOT NULL, detail jsonb NOT NULL, hash bytea NOT NULL,
    PRIMARY KEY (tenant_id, submission_id, seq)
);

CREATE TABLE submission_metadata (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, metadata jsonb NOT NULL,
    PRIMARY KEY (tenant_id, submission_id)
);

CREATE TABLE submissions (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, environment environment NOT NULL, api_key_id text NOT NULL,
    client_request_id text, body_digest bytea NOT NULL, format submission_format NOT NULL, root document_root NOT NULL,
    ecf_type text, e_ncf text, issuer_rnc text, buyer_rnc text, as_user text, as_user_id uuid, certificate_id uuid,
    status submission_status NOT NULL, track_id text, security_code text, qr_code_url text, ncf_expiration date,
    signed_at timestamptz, number_fate number_fate NOT NULL, response jsonb, submitted_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL, first_answer_at timestamptz, verdict_at timestamptz,
    replayed_epoch bigint NOT NULL, total numeric(18,2), itbis numeric(18,2), buyer_name text, issued_on date,
    amounts jsonb,
    PRIMARY KEY (tenant_id, submission_id)
);
CREATE INDEX submissions_as_user ON ONLY submissions (tenant_id, as_user, submission_id) WHERE (as_user IS NOT NULL);
CREATE INDEX submissions_as_user_id ON ONLY submissions (tenant_id, as_user_id, submission_id) WHERE (as_user_id IS NOT NULL);
CREATE INDEX submissions_by_buyer ON ONLY submissions (tenant_id, buyer_rnc, submission_id) WHERE (buyer_rnc IS NOT NULL);
CREATE INDEX submissions_by_e_ncf ON ONLY submissions (tenant_id, e_ncf, submission_id) WHERE (e_ncf IS NOT NULL);
CREATE INDEX submissions_by_issue_day ON ONLY submissions (tenant_id, issued_on, submission_id) WHERE (issued_on IS NOT NULL);
CREATE INDEX submissions_by_track_id ON ONLY submissions (tenant_id, track_id) WHERE (track_id IS NOT NULL);
CREATE INDEX submissions_by_verdict ON ONLY submissions (tenant_id, environment, verdict_at) WHERE (verdict_at IS NOT NULL);
CREATE INDEX submissions_not_quite_accepted ON ONLY submissions (tenant_id, environment, status, submission_id) WHERE ((status) = ANY (ARRAY['Rechazado', 'error', 'Aceptado Condicional']));
CREATE INDEX submissions_of_a_kind ON ONLY submissions (tenant_id, environment, ecf_type, submission_id);
CREATE INDEX submissions_that_approve ON ONLY submissions (tenant_id, submission_id) WHERE (((root) = 'ACECF') AND ((status) = ANY (ARRAY['Aceptado', 'Aceptado Condicional'])));

CREATE TABLE supplier_expenses (
    tenant_id bigint NOT NULL, supplier text NOT NULL, kind text NOT NULL, isr_type text, payment text, paid_after int,
    itbis text NOT NULL, changed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, supplier),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);

CREATE TABLE taxpayer_register (
    one boolean NOT NULL, generation int NOT NULL, rows int NOT NULL, loaded_at timestamptz NOT NULL,
    loaded_by text NOT NULL,
    PRIMARY KEY (one)
);

CREATE TABLE taxpayers (
    generation int NOT NULL, rnc text NOT NULL, name text NOT NULL, trade_name text NOT NULL, activity text NOT NULL,
    status text NOT NULL, regime text NOT NULL,
    PRIMARY KEY (generation, rnc)
);

CREATE TABLE tenant_changes (
    tenant_id bigint NOT NULL, change_id uuid NOT NULL, at timestamptz NOT NULL, by_whom text NOT NULL, person_id uuid,
    through text NOT NULL, action text NOT NULL, subject text NOT NULL, before jsonb, after jsonb,
    PRIMARY KEY (tenant_id, change_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE INDEX tenant_changes_by_action ON tenant_changes (tenant_id, action, change_id);

CREATE TABLE tenant_rncs (
    rnc text NOT NULL, holder bigint NOT NULL,
    PRIMARY KEY (rnc, holder)
);

CREATE TABLE tenants (
    tenant_id bigint NOT NULL, name text NOT NULL, issuer jsonb NOT NULL, consumer_summary text NOT NULL,
    weight int NOT NULL, created_at timestamptz NOT NULL, sends_to_receivers boolean NOT NULL, mail jsonb,
    mail_off jsonb, mail_limit int,
    PRIMARY KEY (tenant_id),
    UNIQUE (name)
);

CREATE TABLE usage_carried (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, answered boolean NOT NULL,
    PRIMARY KEY (tenant_id, submission_id)
);

CREATE TABLE usage_days (
    tenant_id bigint NOT NULL, utc_day date NOT NULL, environment environment NOT NULL, submitted bigint NOT NULL,
    settled bigint NOT NULL, accepted bigint NOT NULL, conditional bigint NOT NULL, rejected bigint NOT NULL,
    answered bigint NOT NULL, latency_us bigint NOT NULL, p95_us bigint,
    PRIMARY KEY (tenant_id, utc_day, environment)
);

CREATE TABLE usage_ends (
    tenant_id bigint NOT NULL, submission_id uuid NOT NULL, noted_at timestamptz NOT NULL, billed_in date,
    PRIMARY KEY (tenant_id, submission_id)
);

CREATE TABLE usage_latency (
    tenant_id bigint NOT NULL, utc_day date NOT NULL, environment environment NOT NULL, counts bigint[] NOT NULL,
    PRIMARY KEY (tenant_id, utc_day, environment)
);

CREATE TABLE usage_marks (
    tenant_id bigint NOT NULL, closed_until date,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);

CREATE TABLE users (
    tenant_id bigint NOT NULL, user_id uuid NOT NULL, email text NOT NULL, issuer_override jsonb,
    created_at timestamptz NOT NULL, removed_at timestamptz,
    PRIMARY KEY (tenant_id, user_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE UNIQUE INDEX users_email_unique ON users (tenant_id, lower(email)) WHERE (removed_at IS NULL);

CREATE TABLE voided_ranges (
    tenant_id bigint NOT NULL, environment environment NOT NULL, prefix text NOT NULL, first_number bigint NOT NULL,
    last_number bigint NOT NULL, voiding_id uuid NOT NULL, fate text NOT NULL, reason smallint NOT NULL, voided_on date,
    PRIMARY KEY (tenant_id, environment, prefix, first_number)
);

CREATE TABLE voidings (
    tenant_id bigint NOT NULL, subject uuid NOT NULL, stage text NOT NULL, environment environment NOT NULL,
    host text NOT NULL, run_at timestamptz NOT NULL, attempt int NOT NULL, epoch bigint NOT NULL, holder text,
    deaths int NOT NULL, entered_at timestamptz NOT NULL, last_error text, client_request_id text,
    requested_at timestamptz NOT NULL, requested_by text NOT NULL, issuer_rnc text NOT NULL, reason smallint NOT NULL,
    ranges jsonb NOT NULL, numbers bigint NOT NULL, document bytea, certificate_id uuid, signed_at timestamptz,
    unanswered int NOT NULL, answer jsonb, finished_at timestamptz,
    PRIMARY KEY (tenant_id, subject),
    UNIQUE (tenant_id, environment, client_request_id)
);
CREATE INDEX voidings_due ON voidings (stage, environment, host, tenant_id, run_at) WHERE (run_at < 'infinity'::timestamptz);
CREATE INDEX voidings_ended ON voidings (tenant_id, environment, finished_at) WHERE (stage = ANY (ARRAY['voided', 'partly voided', 'rejected']));
CREATE INDEX voidings_in_doubt ON voidings (finished_at) WHERE (stage = 'in doubt');

CREATE TABLE webhook_attempts (
    tenant_id bigint NOT NULL, delivery_id uuid NOT NULL, epoch bigint NOT NULL, attempt int NOT NULL,
    at timestamptz NOT NULL, duration_ms int NOT NULL, status int, error text, redirected boolean NOT NULL,
    answer bytea,
    PRIMARY KEY (tenant_id, delivery_id, epoch)
);

CREATE TABLE webhook_deliveries (
    tenant_id bigint NOT NULL, subject uuid NOT NULL, stage text NOT NULL, environment environment NOT NULL,
    host text NOT NULL, run_at timestamptz NOT NULL, attempt int NOT NULL, epoch bigint NOT NULL, holder text,
    deaths int NOT NULL, entered_at timestamptz NOT NULL, last_error text, event_id uuid NOT NULL,
    endpoint_id uuid NOT NULL, created_at timestamptz NOT NULL, finished_at timestamptz, redirected boolean NOT NULL,
    trace text,
    PRIMARY KEY (tenant_id, subject)
);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (tenant_id, event_id);
CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (stage, run_at);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (stage, environment, host, tenant_id, run_at);
CREATE INDEX webhook_deliveries_held ON webhook_deliveries (stage, environment, host) WHERE (holder IS NOT NULL);
CREATE INDEX webhook_deliveries_not_delivered ON webhook_deliveries (tenant_id, stage, subject) WHERE (stage = ANY (ARRAY['failed', 'held']));

CREATE TABLE webhook_endpoints (
    tenant_id bigint NOT NULL, endpoint_id uuid NOT NULL, environment environment, url text NOT NULL,
    enabled boolean NOT NULL, events text[] NOT NULL, headers bytea, created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL, failing_since timestamptz, disabled_at timestamptz, disabled_reason text,
    removed_at timestamptz, name text NOT NULL,
    PRIMARY KEY (tenant_id, endpoint_id),
    FOREIGN KEY (tenant_id) REFERENCES tenants(tenant_id)
);
CREATE UNIQUE INDEX webhook_endpoints_of_environment ON webhook_endpoints (tenant_id, environment, name) NULLS NOT DISTINCT WHERE (removed_at IS NULL);
CREATE INDEX webhook_endpoints_of_outcomes ON webhook_endpoints (tenant_id) WHERE (enabled AND (removed_at IS NULL) AND (events && ARRAY['submission.accepted', 'submission.conditional', 'submission.rejected', 'submission.error']));

CREATE TABLE webhook_events (
    tenant_id bigint NOT NULL, event_id uuid NOT NULL, environment environment, kind text NOT NULL, about text NOT NULL,
    body bytea NOT NULL, created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, event_id)
);
CREATE INDEX webhook_events_about ON webhook_events (tenant_id, about);
CREATE INDEX webhook_events_of_a_kind ON webhook_events (tenant_id, kind, event_id) WHERE (kind <> 'submission.accepted');

CREATE TABLE webhook_notices (
    tenant_id bigint NOT NULL, kind text NOT NULL, about text NOT NULL, told_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, kind, about)
);

CREATE TABLE webhook_recoveries (
    tenant_id bigint NOT NULL, subject uuid NOT NULL, stage text NOT NULL, environment environment NOT NULL,
    host text NOT NULL, run_at timestamptz NOT NULL, attempt int NOT NULL, epoch bigint NOT NULL, holder text,
    deaths int NOT NULL, entered_at timestamptz NOT NULL, last_error text, endpoint_id uuid NOT NULL,
    since timestamptz NOT NULL, until timestamptz NOT NULL, only_held boolean NOT NULL, position uuid NOT NULL,
    recovered int NOT NULL, asked_at timestamptz NOT NULL, finished_at timestamptz,
    PRIMARY KEY (tenant_id, subject)
);
CREATE INDEX webhook_recoveries_due ON webhook_recoveries (stage, environment, host, tenant_id, run_at);

CREATE TABLE webhook_secrets (
    tenant_id bigint NOT NULL, secret_id uuid NOT NULL, endpoint_id uuid NOT NULL, secret bytea NOT NULL,
    created_at timestamptz NOT NULL, expires_at timestamptz,
    PRIMARY KEY (tenant_id, secret_id),
    FOREIGN KEY (tenant_id, endpoint_id) REFERENCES webhook_endpoints(tenant_id, endpoint_id)
);
CREATE UNIQUE INDEX webhook_secrets_in_use ON webhook_secrets (tenant_id, endpoint_id) WHERE (expires_at IS NULL);
CREATE INDEX webhook_secrets_of_endpoint ON webhook_secrets (tenant_id, endpoint_id);

CREATE TABLE workers (
    holder text NOT NULL, started_at timestamptz NOT NULL, seen_at timestamptz NOT NULL,
    PRIMARY KEY (holder)
);

CREATE TABLE write_probes (
    probe_id uuid NOT NULL, filler text NOT NULL,
    PRIMARY KEY (probe_id)
);

-- Functions of counterparties
--
-- begin_deliveries(p_tenants bigint[], p_subjects uuid[], p_statuses text[], p_at timestamptz) returns void
-- book_delivery_end(p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_state text, p_reason text,
--    p_answer bytea, p_status int) returns boolean
-- book_delivery_wait(p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_stage text, p_host text,
--    p_url text, p_after interval, p_counts boolean, p_error text) returns boolean
-- decide_received(p_tenant bigint, p_received uuid, p_approved boolean, p_reason text, p_submission uuid, p_at
--    timestamptz, p_environment text, p_api_key text, p_client_request text, p_body_digest bytea, p_format text,
--    p_e_ncf text, p_issuer text, p_buyer text, p_as_user text, p_as_user_id uuid, p_original bytea) returns
--    TABLE(outcome text, submission_id uuid, status text)
-- keep_approval(p_tenant bigint, p_submission uuid, p_approved boolean, p_reason text, p_signer text, p_presenter text,
--    p_document bytea, p_at timestamptz) returns boolean
-- keep_received(p_tenant bigint, p_environment text, p_digest bytea, p_reason int, p_issuer text, p_e_ncf text,
--    p_signer text, p_presenter text, p_document bytea, p_acknowledgement bytea, p_at timestamptz, p_received uuid,
--    p_type text, p_issuer_name text, p_buyer text, p_issued_on date, p_total numeric) returns bytea
-- received_event_body(p_tenant bigint, p_received uuid, p_at timestamptz) returns text
-- replay_delivery(p_tenant bigint, p_subject uuid, p_at timestamptz) returns boolean

-- Functions of mail
--
-- begin_mail(p_tenant bigint, p_subject uuid, p_epoch bigint, p_address text, p_message_id text, p_day date, p_a_day
--    int) returns TABLE(outcome text, message_id text)

-- Functions of metering
--
-- add_receipt_days(p_tenant bigint, p_ended uuid[]) returns void
-- add_usage(p_tenant bigint, p_submitted uuid[], p_answered uuid[], p_ended uuid[]) returns void
-- close_month(p_tenant bigint, p_month date, p_subject uuid, p_at timestamptz) returns numeric
-- close_usage(p_tenant bigint, p_today date) returns boolean
-- count_month(p_tenant bigint, p_month date, OUT many bigint, OUT first_at timestamptz) returns record
-- fold_usage(p_tenant bigint, p_most int) returns int
-- freeze_month(p_tenant bigint, p_month date, p_at timestamptz) returns void
-- latency_bucket(p_us bigint) returns int
-- latency_of_bucket(p_bucket int) returns bigint
-- microseconds_of(p_span interval) returns bigint
-- month_begins(p_month date) returns timestamptz
-- note_ends(p_tenants bigint[], p_subjects uuid[], p_at timestamptz) returns void
-- reconcile_month(p_tenant bigint, p_month date) returns bigint
-- restart_usage(p_tenant bigint) returns void
-- set_billing_terms(p_tenant bigint, p_at timestamptz, p_enabled boolean, p_subscription text, p_price numeric,
--    p_currency text, p_tier text) returns timestamptz
-- sketch_of(p_us bigint[]) returns bigint[]
-- sketch_p95(p_counts bigint[]) returns bigint
-- sketch_sum(p_one bigint[], p_other bigint[]) returns bigint[]
-- utc_month(p_at timestamptz) returns date

-- Functions of numbers
--
-- begin_next_range(p_tenant bigint, p_environment text, p_prefix text, p_number bigint, p_at timestamptz) returns
--    boolean
-- change_sequence(p_tenant bigint, p_environment text, p_prefix text, p_min bigint, p_max bigint, p_next bigint,
--    p_sets_expiry boolean, p_expire_at timestamptz, p_is_active boolean, p_at timestamptz) returns text
-- draw_number(p_tenant bigint, p_environment text, p_prefix text, p_at timestamptz) returns bigint
-- expiry_of_number(p_e_ncf text, p_min bigint, p_max bigint, p_expire_at timestamptz, p_former former_range[]) returns
--    timestamptz
-- first_free_number(p_tenant bigint, p_environment text, p_prefix text, p_from bigint, p_set_at timestamptz, p_at
--    timestamptz) returns bigint
-- first_number_since(p_tenant bigint, p_environment text, p_prefix text, p_min bigint, p_next bigint, p_since
--    timestamptz) returns bigint
-- former_expiry(p_number bigint, p_former former_range[]) returns timestamptz
-- hold_number_batch(p_tenants bigint[], p_environments text[], p_e_ncfs text[], p_issuers text[], p_subjects uuid[])
--    returns uuid[]
-- holders_of_batch(p_tenants bigint[], p_environments text[], p_e_ncfs text[], p_issuers text[]) returns uuid[]
-- next_number_in(p_next bigint, p_old_max bigint, p_min bigint, p_max bigint) returns bigint
-- number_is_free(p_tenant bigint, p_environment text, p_e_ncf text, p_set_at timestamptz) returns boolean
-- number_lies(p_e_ncf text, p_sequence text, p_min bigint, p_max bigint, p_former former_range[]) returns int
-- pause_sequence(p_tenant bigint, p_submission uuid) returns text
-- refuse_to_draw(p_tenant bigint, p_environment text, p_prefix text, p_at timestamptz) returns void
-- return_numbers(p_tenants bigint[], p_subjects uuid[]) returns void
-- sequence_is_over(p_expire_at timestamptz, p_at timestamptz) returns boolean
-- sequence_last_day(p_expire_at timestamptz) returns date
-- sequence_to_draw_from(p_tenant bigint, p_environment text, p_wanted text, p_as_user text, p_as_user_id uuid) returns
--    text
-- take_returned_number(p_tenant bigint, p_environment text, p_prefix text, p_min bigint, p_next bigint) returns bigint
-- void_numbers(p_tenant bigint, p_submissions uuid[], p_at timestamptz, p_voiding uuid) returns void
-- voiding_of(p_tenant bigint, p_environment text, p_e_ncf text) returns uuid
-- with_former_range(p_former former_range[], p_old_min bigint, p_old_max bigint, p_old_expire_at timestamptz, p_min
--    bigint, p_max bigint) returns former_range[]
-- without_range(p_former former_range[], p_min bigint, p_max bigint, p_expire_at timestamptz) returns former_range[]

-- Functions of operators
--
-- keep_audit_trail() returns trigger
-- needs_second_person(p_kind text, p_by text, p_rows int) returns boolean
-- note_in_audit_trail() returns trigger
-- note_pending_action() returns trigger
-- refuse_alone() returns trigger
-- require_second_person() returns trigger

-- Functions of outbox
--
-- announce_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_digests bytea[]) returns
--    void
-- book_dead_letter_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_errors text[])
--    returns uuid[]
-- book_doubt_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[],
--    p_errors text[]) returns uuid[]
-- book_failure_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_responses jsonb[],
--    p_number_fates text[]) returns uuid[]
-- book_number_taken_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_holders uuid[])
--    returns uuid[]
-- book_processing_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters
--    interval[], p_responses jsonb[]) returns uuid[]
-- book_received_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_environments
--    text[], p_track_ids text[], p_afters interval[], p_replies jsonb[], p_leases interval[]) returns text[]
-- book_resend_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[],
--    p_reasons text[]) returns uuid[]
-- book_retry_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_afters interval[],
--    p_counts boolean[], p_errors text[]) returns uuid[]
-- book_signed_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_certificates uuid[],
--    p_signed bytea[], p_sent bytea[], p_hosts text[], p_types text[], p_issuers text[], p_buyers text[],
--    p_security_codes text[], p_qr_code_urls text[], p_ncf_expirations date[], p_signed_ats timestamptz[], p_remarks
--    jsonb[], p_leases interval[]) returns text[]
-- book_verdict_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_statuses text[],
--    p_track_ids text[], p_responses jsonb[], p_number_fates text[]) returns uuid[]
-- claim_due(p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[], p_rooms
--    int[], p_left_to_others int[], p_slots int, p_at_most int, p_scope int, p_most int, p_busy bigint[], p_busy_in
--    text[], p_holder text, p_lease interval) returns claimed[]
-- claim_with_input(p_stage text, p_environments text[], p_hosts text[], p_afters bigint[], p_floors timestamptz[],
--    p_rooms int[], p_left_to_others int[], p_slots int, p_at_most int, p_scope int, p_most int, p_busy bigint[],
--    p_busy_in text[], p_holder text, p_lease interval) returns TABLE(lane int, due int, tenants bigint[], shares
--    int[], tenant_id bigint, subject uuid, attempt int, epoch bigint, deaths int, waited interval, last_error text,
--    format text, root text, ecf_type text, e_ncf text, as_user text, as_user_id uuid, issuer_rnc text, buyer_rnc text,
--    certificate_id uuid, track_id text, content bytea, is_summary boolean, maybe_adopted boolean, sequence_expires
--    timestamptz, holders uuid[], holders_issuers text[], signatory text)
-- close_intents_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_outcome text)
--    returns void
-- close_sends_batch(p_tenants bigint[], p_subjects uuid[], p_at timestamptz, p_outcome text, p_track_ids text[])
--    returns void
-- complete_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[]) returns uuid[]
-- discard_dead_letter(p_tenant bigint, p_subject uuid, p_at timestamptz, p_by text, p_reason text, p_note text) returns
--    text
-- divide_by_weight(p_weights int[], p_capacity int, p_most int[]) returns int[]
-- earliest_due_rows(p_stage text, p_environment text, p_host text, p_since timestamptz, p_rows int) returns
--    TABLE(tenant_id bigint, run_at timestamptz)
-- intend_to_send_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_leases interval[],
--    p_digests bytea[]) returns text[]
-- probe_writing(p_probe uuid) returns void
-- replay_dead_letter(p_tenant bigint, p_subject uuid, p_at timestamptz, p_by text, p_reason text) returns text
-- take_duty(p_duty text, p_holder text, p_for interval) returns boolean

-- Functions of submissions
--
-- accept_submission(p_tenant bigint, p_submission uuid, p_at timestamptz, p_environment text, p_api_key text,
--    p_client_request text, p_body_digest bytea, p_format text, p_root text, p_type text, p_e_ncf text, p_issuer text,
--    p_buyer text, p_as_user text, p_as_user_id uuid, p_original bytea, p_draw_prefix text, p_issued_on date) returns
--    TABLE(outcome text, submission_id uuid, status text, e_ncf text, body_matched boolean, numbers_skipped bigint,
--    numbers_left bigint)
-- accept_submissions(p_tenants bigint[], p_submissions uuid[], p_ats timestamptz[], p_environments text[], p_api_keys
--    text[], p_client_requests text[], p_body_digests bytea[], p_formats text[], p_roots text[], p_types text[],
--    p_e_ncfs text[], p_issuers text[], p_buyers text[], p_as_users text[], p_as_user_ids uuid[], p_originals bytea[],
--    p_draw_prefixes text[], p_holder text, p_leases interval[], p_issued_ons date[]) returns TABLE(place int, outcome
--    text, submission_id uuid, status text, e_ncf text, body_matched boolean, numbers_skipped bigint, numbers_left
--    bigint, refusal text, leased boolean)
-- ensure_month(moment timestamptz) returns void
-- event_hash(p_previous bytea, p_tenant bigint, p_submission uuid, p_seq int, p_at timestamptz, p_kind text, p_detail
--    jsonb) returns bytea
-- forty_days_before(p_id uuid) returns uuid
-- input_to_sign(p_tenants bigint[], p_subjects uuid[], p_environments text[], p_e_ncfs text[], p_owned boolean[])
--    returns TABLE(place int, tenant_id bigint, sequence_expires timestamptz, holders uuid[], holders_issuers text[],
--    signatory text)
-- keep_metadata(p_tenants bigint[], p_submissions uuid[], p_metadata jsonb[]) returns void
-- lay_out(p_parent text, p_child text) returns void
-- leave_trace() returns trigger
-- record_event(p_tenant bigint, p_submission uuid, p_at timestamptz, p_kind text, p_detail jsonb) returns void
-- record_event_batch(p_tenants bigint[], p_submissions uuid[], p_at timestamptz, p_kind text, p_details jsonb[])
--    returns void
-- release_documents(p_month date, OUT released bigint, OUT kept bigint) returns record
-- take_trace() returns trigger
-- tidy_in_small_parts(p_parent text, p_child text) returns void
-- trace_of(p_tenant bigint, p_subject uuid) returns text
-- uuid_floor(moment timestamptz) returns uuid

-- Functions of tenants
--
-- attempts_within(p_recent timestamptz[], p_after timestamptz, p_until timestamptz) returns timestamptz[]
-- change_tenant(p_tenant bigint, p_name text, p_issuer jsonb, p_consumer_summary text) returns text
-- count_attempt(p_bucket bytea, p_kind text, p_limit int, p_window interval, p_lockout interval, OUT retry_after double
--    precision, OUT began boolean) returns record
-- count_requests(p_tenant bigint, p_environment text, p_day date, p_succeeded bigint, p_failed bigint, p_bytes_in
--    bigint, p_bytes_out bigint) returns void
-- destroy_certificate(p_tenant bigint, p_certificate uuid, p_at timestamptz, p_x509 bytea, OUT outcome text, OUT
--    waiting bigint) returns record
-- destroy_key() returns trigger
-- erase_tenant(p_tenant bigint, p_protocol bytea, p_by text, p_reason text, p_most int) returns bigint
-- flush_requests(p_process uuid, p_batch bigint, p_tenants bigint[], p_environments text[], p_days date[], p_succeeded
--    bigint[], p_failed bigint[], p_bytes_in bigint[], p_bytes_out bigint[], p_key_tenants bigint[], p_keys text[],
--    p_used_at timestamptz[]) returns boolean
-- is_rnc_of_another(p_tenant bigint, p_rnc text) returns boolean
-- login_attempt(p_address bytea, p_address_limit int, p_key bytea, p_key_limit int, p_window interval, p_lockout
--    interval) returns TABLE(kind text, retry_after double precision, began boolean)
-- name_submitter(p_tenant bigint) returns bigint
-- name_tenant(p_tenant bigint) returns bigint
-- note_key_use(p_tenant bigint, p_api_key text, p_at timestamptz) returns void
-- note_tenant_rnc() returns trigger
-- refuse_disabled() returns trigger
-- remove_user(p_tenant bigint, p_user uuid, p_at timestamptz, OUT outcome text, OUT waiting bigint) returns record
-- retire_certificate(p_tenant bigint, p_certificate uuid, p_at timestamptz, OUT outcome text, OUT waiting bigint)
--    returns record
-- signatories_of(p_tenants bigint[]) returns TABLE(tenant_id bigint, signatory text)
-- span_of(p_ids uuid[], OUT first uuid, OUT last uuid) returns record
-- unsigned_work(p_tenant bigint, p_user uuid, p_email text, p_and_nobody_s boolean) returns bigint

-- Functions of webhooks
--
-- book_webhooks_batch(p_tenants bigint[], p_subjects uuid[], p_epochs bigint[], p_at timestamptz, p_stages text[],
--    p_afters interval[], p_counts boolean[], p_begun timestamptz[], p_durations int[], p_statuses int[], p_errors
--    text[], p_redirected boolean[], p_answers bytea[], p_gone boolean[], p_patience interval) returns uuid[]
-- deliver_event(p_tenant bigint, p_event uuid, p_environment text, p_kind text, p_at timestamptz, p_endpoint uuid)
--    returns void
-- end_deleted_webhooks(p_at timestamptz, p_limit int) returns int
-- end_webhook(p_tenant bigint, p_endpoint uuid, p_at timestamptz, p_limit int) returns int
-- held_in_vain() returns SETOF bigint
-- hold_calls_of_disabled() returns trigger
-- let_go_of_held(p_tenant bigint, p_limit int) returns int
-- note_endpoints(p_tenants bigint[], p_endpoints uuid[], p_at timestamptz, p_stages text[], p_begun timestamptz[],
--    p_gone boolean[], p_patience interval) returns void
-- recover_webhooks(p_tenant bigint, p_subject uuid, p_epoch bigint, p_at timestamptz, p_limit int) returns TABLE(found
--    int, is_done boolean)
-- retry_webhook(p_tenant bigint, p_subject uuid) returns boolean
-- take_trace_of_event() returns trigger
-- tell_outcomes(p_tenants bigint[], p_submissions uuid[], p_at timestamptz) returns void
-- tell_webhooks(p_tenant bigint, p_event uuid, p_environment text, p_kind text, p_about text, p_at timestamptz, p_body
--    text, p_endpoint uuid) returns void
-- tell_webhooks_once(p_tenant bigint, p_environment text, p_kind text, p_about text, p_at timestamptz, p_body text)
--    returns boolean
-- webhook_id(p_at timestamptz, p_seed text) returns uuid
-- webhook_moment(p_at timestamptz) returns text
-- webhook_wanted(p_tenant bigint, p_environment text, p_kind text) returns boolean
