-- Billing of a tenant. Without a row the API is not enabled as far as billing goes.
CREATE TABLE billing_accounts (
    tenant_id bigint NOT NULL,
    enabled boolean NOT NULL DEFAULT false,
    subscription_id text,
    unit_price numeric(12, 4),
    currency text NOT NULL DEFAULT 'USD',
    pricing_tier text NOT NULL DEFAULT 'standard',
    CONSTRAINT billing_accounts_pk PRIMARY KEY (tenant_id),
    CONSTRAINT billing_accounts_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT billing_accounts_currency_form CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT billing_accounts_tier_known CHECK (pricing_tier IN ('standard', 'volume', 'enterprise')),
    CONSTRAINT billing_accounts_price_positive CHECK (unit_price >= 0)
);

-- Usage by UTC day, kept current instead of counted at each call (docs/decisions/counted-once.md).
--
-- A submission that ends leaves a note in the same transaction. Notes are folded into the days and deleted in one
-- transaction: each end is counted once, however late it is committed, and a day plus the notes is exact at any moment.
-- Work in flight when a day is closed is carried: counted as far as known, and remembered, so that its end adds the
-- rest.

-- Notes of ends that are not folded into the days yet.
CREATE TABLE usage_ends (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    noted_at timestamptz NOT NULL,
    -- Month in which the end is billed; NULL: it is not.
    billed_in date,
    CONSTRAINT usage_ends_pk PRIMARY KEY (tenant_id, submission_id)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

-- In flight when its day was closed: counted as submitted and, where `answered`, in a latency.
CREATE TABLE usage_carried (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    answered boolean NOT NULL,
    CONSTRAINT usage_carried_pk PRIMARY KEY (tenant_id, submission_id)
);

-- `settled` are those of the day's submitted that ended on the same day. Latencies are of those first answered on the day.
CREATE TABLE usage_days (
    tenant_id bigint NOT NULL,
    utc_day date NOT NULL,
    environment environment NOT NULL,
    submitted bigint NOT NULL,
    settled bigint NOT NULL,
    accepted bigint NOT NULL,
    conditional bigint NOT NULL,
    rejected bigint NOT NULL,
    answered bigint NOT NULL,
    latency_us bigint NOT NULL,
    p95_us bigint,
    CONSTRAINT usage_days_pk PRIMARY KEY (tenant_id, utc_day, environment)
) WITH (fillfactor = 50);

-- How many latencies of a day fell in which bucket (latency_bucket). Apart, because only who adds to it reads it.
CREATE TABLE usage_latency (
    tenant_id bigint NOT NULL,
    utc_day date NOT NULL,
    environment environment NOT NULL,
    counts bigint [] NOT NULL,
    CONSTRAINT usage_latency_pk PRIMARY KEY (tenant_id, utc_day, environment)
) WITH (fillfactor = 50);

-- Tenants whose days are kept, and the day before which they are closed: complete but for notes. NULL: the days are
-- incomplete. The lock on this row serialises changes of a tenant's days.
CREATE TABLE usage_marks (
    tenant_id bigint NOT NULL,
    closed_until date,
    CONSTRAINT usage_marks_pk PRIMARY KEY (tenant_id),
    CONSTRAINT usage_marks_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id)
) WITH (fillfactor = 50);

-- Terms, months, and charges that go to the payment processor (docs/decisions/counted-once.md).
--
-- An emission counts in the transaction of its accepting verdict, in the month of that verdict, where the terms then in
-- force bill the tenant; the first one freezes the month's price. reconcile_month recounts from the submissions, and
-- close_month charges a month that is over.

-- Under what a tenant was billed from a moment on, until the next one. The newest is in billing_accounts, too.
CREATE TABLE billing_terms (
    tenant_id bigint NOT NULL,
    since timestamptz NOT NULL,
    enabled boolean NOT NULL,
    subscription_id text,
    unit_price numeric(12, 4),
    currency text NOT NULL,
    pricing_tier text NOT NULL,
    CONSTRAINT billing_terms_pk PRIMARY KEY (tenant_id, since),
    CONSTRAINT billing_terms_tenant_fk FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT billing_terms_complete CHECK (NOT enabled OR (subscription_id IS NOT NULL AND unit_price IS NOT NULL)),
    CONSTRAINT billing_terms_price_positive CHECK (unit_price >= 0),
    CONSTRAINT billing_terms_currency_form CHECK (currency ~ '^[A-Z]{3}$'),
    CONSTRAINT billing_terms_tier_known CHECK (pricing_tier IN ('standard', 'volume', 'enterprise'))
);

-- A month of a tenant in which something was emitted while it was billed. `counted` lacks what is still in usage_ends.
CREATE TABLE billing_months (
    tenant_id bigint NOT NULL,
    month date NOT NULL,
    unit_price numeric(12, 4) NOT NULL,
    currency text NOT NULL,
    pricing_tier text NOT NULL,
    subscription_id text NOT NULL,
    frozen_at timestamptz NOT NULL,
    counted bigint NOT NULL DEFAULT 0,
    -- When it was last counted again, and by how many it was wrong.
    checked_at timestamptz,
    drift bigint NOT NULL DEFAULT 0,
    closed_at timestamptz,
    -- How many emissions there are charges for.
    charged bigint NOT NULL DEFAULT 0,
    CONSTRAINT billing_months_pk PRIMARY KEY (tenant_id, month),
    CONSTRAINT billing_months_begin CHECK (month = date_trunc('month', month::timestamp)::date)
) WITH (fillfactor = 70);

-- Charges, open and done: a queue table (docs/reference/queue-table.md) whose rows stay. `part` is 0, and higher for
-- emissions found after the month was closed. Open ones are in `charge`; 'charged' and 'failed' are ends.
CREATE TABLE billing_charges (
    tenant_id bigint NOT NULL,
    subject uuid NOT NULL,
    stage text COLLATE "C" NOT NULL,
    environment environment NOT NULL,
    host text COLLATE "C" NOT NULL DEFAULT '',
    run_at timestamptz NOT NULL,
    attempt int NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,
    holder text,
    deaths int NOT NULL DEFAULT 0,
    entered_at timestamptz NOT NULL DEFAULT now(),
    last_error text,
    month date NOT NULL,
    part int NOT NULL,
    emissions bigint NOT NULL,
    unit_price numeric(12, 4) NOT NULL,
    amount numeric(16, 2) NOT NULL,
    currency text NOT NULL,
    subscription_id text NOT NULL,
    -- Which idempotency key it goes under: a new one only after a refusal, which charged nothing for certain.
    generation int NOT NULL DEFAULT 0,
    -- When it was first about to be sent: from then on the processor is asked before it is sent again.
    tried_at timestamptz,
    item_id text,
    settled_at timestamptz,
    CONSTRAINT billing_charges_pk PRIMARY KEY (tenant_id, subject),
    CONSTRAINT billing_charges_once UNIQUE (tenant_id, month, part),
    CONSTRAINT billing_charges_stage_known CHECK (stage IN ('charge', 'charged', 'failed')),
    CONSTRAINT billing_charges_something CHECK (amount > 0 AND emissions >= 0 AND part >= 0),
    CONSTRAINT billing_charges_item CHECK ((stage = 'charged') = (item_id IS NOT NULL))
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX billing_charges_due ON billing_charges (stage, environment, host, tenant_id, run_at);

-- When all open months were last counted again; one row.
CREATE TABLE billing_rounds (
    round text NOT NULL,
    ended_at timestamptz NOT NULL,
    CONSTRAINT billing_rounds_pk PRIMARY KEY (round)
);
