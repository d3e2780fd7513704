-- Receipts that a tenant issues again each month (docs/decisions/recurring.md).

-- When a front is to look at which of them. This table names tenants and nothing of them, so that a front finds the work
-- of all.
CREATE TABLE recurring_due (
    tenant_id bigint NOT NULL,
    recurring_id uuid NOT NULL,
    -- infinity: nothing is to be done.
    run_at timestamptz NOT NULL,
    -- A front works on it until then; nothing but double work depends on it.
    held_until timestamptz NOT NULL DEFAULT '-infinity',
    CONSTRAINT recurring_due_pk PRIMARY KEY (tenant_id, recurring_id)
) WITH (fillfactor = 70);

CREATE INDEX recurring_due_in_order ON recurring_due (run_at);

CREATE TABLE recurring_receipts (
    tenant_id bigint NOT NULL,
    recurring_id uuid NOT NULL,
    environment environment NOT NULL,
    -- The client's key of it.
    id text COLLATE "C" NOT NULL,
    name text NOT NULL,
    state text COLLATE "C" NOT NULL,
    -- Day of the month (the last one where the month is shorter), and every how many months.
    day int NOT NULL,
    every int NOT NULL,
    starts_on date,
    ends_on date,
    -- The next due day, and the month of the last turn.
    next_on date,
    last_month date,
    -- The customer of the catalogue whose data is put in at each turn.
    customer text COLLATE "C",
    -- Days until it is to be paid, for FechaLimitePago.
    payment_days int,
    payload bytea NOT NULL,
    as_user text,
    as_user_id uuid,
    notify text,
    -- The name of the sequence that gives the numbers; NULL: that of the user, or the one without a name.
    sequence text,
    -- The key that sent it, or the portal's.
    api_key_id text NOT NULL,
    version int NOT NULL,
    created_at timestamptz NOT NULL,
    changed_at timestamptz NOT NULL,
    changed_by text NOT NULL,
    -- Preview of the next turn, made the day before, and its day.
    preview jsonb,
    previewed_for date,
    CONSTRAINT recurring_receipts_pk PRIMARY KEY (tenant_id, recurring_id),
    CONSTRAINT recurring_receipts_of_client UNIQUE (tenant_id, environment, id),
    CONSTRAINT recurring_receipts_state_known CHECK (state IN ('active', 'paused', 'ended')),
    CONSTRAINT recurring_receipts_day CHECK (day BETWEEN 1 AND 31),
    CONSTRAINT recurring_receipts_every CHECK (every BETWEEN 1 AND 12),
    CONSTRAINT recurring_receipts_bounded CHECK (octet_length(payload) <= 262144)
);

-- Those of tomorrow, for the notices of the portal.
CREATE INDEX recurring_receipts_previewed ON recurring_receipts (tenant_id) WHERE previewed_for IS NOT NULL;

CREATE TABLE recurring_turns (
    tenant_id bigint NOT NULL,
    recurring_id uuid NOT NULL,
    -- The first day of its month: there is one turn a month.
    month date NOT NULL,
    due_on date NOT NULL,
    state text COLLATE "C" NOT NULL,
    -- Why it is held, or was missed; and the texts, English and Spanish.
    reason text COLLATE "C",
    said jsonb,
    tried_at timestamptz,
    -- When it is tried again; NULL: when a person says so.
    try_at timestamptz,
    submission_id uuid,
    e_ncf text,
    CONSTRAINT recurring_turns_pk PRIMARY KEY (tenant_id, recurring_id, month),
    CONSTRAINT recurring_turns_state_known CHECK (state IN ('waiting', 'issued', 'held', 'skipped', 'missed'))
);

CREATE INDEX recurring_turns_held ON recurring_turns (tenant_id) WHERE state = 'held';

ALTER TABLE recurring_due ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant_read ON recurring_due FOR SELECT TO fe_operator, fe_readonly USING (true);
CREATE POLICY what_is_due ON recurring_due FOR SELECT TO fe_front USING (true);
CREATE POLICY own_tenant ON recurring_due TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE (run_at, held_until), DELETE ON recurring_due TO fe_front, fe_portal;
GRANT SELECT ON recurring_due TO fe_operator, fe_readonly;

ALTER TABLE recurring_receipts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON recurring_receipts TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE, DELETE ON recurring_receipts TO fe_front, fe_portal;
GRANT SELECT ON recurring_receipts, recurring_turns TO fe_operator, fe_readonly;
CREATE POLICY every_tenant_read ON recurring_receipts FOR SELECT TO fe_operator, fe_readonly USING (true);

ALTER TABLE recurring_turns ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON recurring_turns TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
CREATE POLICY every_tenant_read ON recurring_turns FOR SELECT TO fe_operator, fe_readonly USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON recurring_turns TO fe_front, fe_portal;

-- Two more events that an endpoint can select. The release before selects neither.
ALTER TABLE webhook_endpoints DROP CONSTRAINT webhook_endpoints_events_known;
ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_events_known CHECK (
    cardinality(events) > 0 AND events <@ ARRAY[
    'received_ecf', 'submission.accepted', 'submission.conditional', 'submission.rejected', 'submission.error',
    'sequence.low', 'sequence.expiring', 'certificate.expiring', 'recurring.preview', 'recurring.held'
    ]
    );
