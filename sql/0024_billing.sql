-- What emissions cost: terms, months, and the charges that go to the payment processor (docs/decisions/counted-once.md).
--
-- An emission counts in the transaction of the verdict that accepts it, in the month of that verdict, where the terms in
-- force at that moment say that the tenant is billed; with the first one the month's price is frozen. Whoever doubts the
-- counts counts again from the submissions (reconcile_month), and a month that is over is charged from there (close_month).

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

-- What is to be charged, and what was: a queue table (docs/reference/queue-table.md) whose rows stay. `part` is 0, and
-- more for what turned up after its month was closed. What is waited for is `charge`; 'charged' and 'failed' are ends.
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

-- The month in which an end is billed; NULL: it is not.
ALTER TABLE usage_ends ADD COLUMN billed_in date;

-- What operators do to what is billed goes into their book, too.
ALTER TABLE operator_actions DROP CONSTRAINT operator_actions_known;

ALTER TABLE operator_actions ADD CONSTRAINT operator_actions_known CHECK (
    action IN (
        'replay', 'discard', 'pause', 'resume', 'plan', 'billing enable', 'billing disable', 'billing price',
        'billing retry'
    )
);

-- When all open months were last counted again; one row.
CREATE TABLE billing_rounds (
    round text NOT NULL,
    ended_at timestamptz NOT NULL,
    CONSTRAINT billing_rounds_pk PRIMARY KEY (round)
);

-- Who was billed before there were terms has been since ever. (The owner is within the tenant scope itself; it steps out
-- for the one statement.)
ALTER TABLE billing_accounts NO FORCE ROW LEVEL SECURITY;

INSERT INTO billing_terms (tenant_id, since, enabled, subscription_id, unit_price, currency, pricing_tier)
SELECT
    b.tenant_id,
    '1970-01-01Z'::timestamptz AS since,
    b.enabled AND b.subscription_id IS NOT NULL AND b.unit_price IS NOT NULL AS enabled,
    b.subscription_id,
    b.unit_price,
    b.currency,
    b.pricing_tier
FROM billing_accounts AS b;

ALTER TABLE billing_accounts FORCE ROW LEVEL SECURITY;

-- The month of a moment, as its first day.
CREATE FUNCTION utc_month(p_at timestamptz) RETURNS date
LANGUAGE sql IMMUTABLE STRICT
RETURN date_trunc('month', p_at AT TIME ZONE 'UTC')::date;

-- The moment at which a month begins.
CREATE FUNCTION month_begins(p_month date) RETURNS timestamptz
LANGUAGE sql IMMUTABLE STRICT
RETURN p_month::timestamp AT TIME ZONE 'UTC';

-- Bill a tenant differently from p_at on (NULL: from now on); never before the newest terms there are. NULL leaves what
-- there is. Gives the moment from which it counts.
CREATE FUNCTION set_billing_terms(
    p_tenant bigint, p_at timestamptz, p_enabled boolean, p_subscription text, p_price numeric, p_currency text,
    p_tier text
) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
    newest timestamptz;
    moment timestamptz;
BEGIN
    INSERT INTO billing_accounts AS b (tenant_id, enabled, subscription_id, unit_price, currency, pricing_tier)
    VALUES (p_tenant, coalesce(p_enabled, false), p_subscription, p_price, coalesce(p_currency, 'USD'),
            coalesce(p_tier, 'standard'))
    ON CONFLICT (tenant_id) DO UPDATE
       SET enabled = coalesce(p_enabled, b.enabled), subscription_id = coalesce(p_subscription, b.subscription_id),
           unit_price = coalesce(p_price, b.unit_price), currency = coalesce(p_currency, b.currency),
           pricing_tier = coalesce(p_tier, b.pricing_tier);
    SELECT max(t.since) INTO newest FROM billing_terms AS t WHERE t.tenant_id = p_tenant;
    moment := greatest(coalesce(p_at, clock_timestamp()), newest + interval '1 microsecond');
    INSERT INTO billing_terms (tenant_id, since, enabled, subscription_id, unit_price, currency, pricing_tier)
    SELECT p_tenant, moment, b.enabled, b.subscription_id, b.unit_price, b.currency, b.pricing_tier
      FROM billing_accounts AS b
     WHERE b.tenant_id = p_tenant;
    RETURN moment;
END
$$;

-- Freeze a month's price, unless it is: by the terms in force at p_at, under which something was emitted.
CREATE FUNCTION freeze_month(p_tenant bigint, p_month date, p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO billing_months (tenant_id, month, unit_price, currency, pricing_tier, subscription_id, frozen_at)
    SELECT p_tenant, p_month, t.unit_price, t.currency, t.pricing_tier, t.subscription_id, p_at
      FROM billing_terms AS t
     WHERE t.tenant_id = p_tenant AND t.since <= p_at AND t.enabled
     ORDER BY t.since DESC
     LIMIT 1
    ON CONFLICT DO NOTHING;
END
$$;

-- As in 0023, and whether each is billed; with the first of a month its price is frozen. p_at is when they ended.
CREATE OR REPLACE FUNCTION note_ends(p_tenants bigint[], p_subjects uuid[], p_at timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    this_month date := utc_month(p_at);
    billed bigint[];
    one bigint;
BEGIN
    WITH noted AS (
        INSERT INTO usage_ends (tenant_id, submission_id, noted_at, billed_in)
        SELECT b.tenant_id, b.subject, clock_timestamp(),
               CASE WHEN s.environment = 'ecf' AND s.status IN ('Aceptado', 'Aceptado Condicional')
                         AND (SELECT t.enabled
                                FROM billing_terms AS t
                               WHERE t.tenant_id = b.tenant_id AND t.since <= p_at
                               ORDER BY t.since DESC
                               LIMIT 1) THEN this_month END
          FROM unnest(p_tenants, p_subjects) AS b (tenant_id, subject)
          JOIN submissions AS s ON s.tenant_id = b.tenant_id AND s.submission_id = b.subject
        ON CONFLICT DO NOTHING
        RETURNING tenant_id, billed_in
    )
    SELECT array_agg(DISTINCT noted.tenant_id ORDER BY noted.tenant_id) INTO billed
      FROM noted
     WHERE noted.billed_in IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM billing_months AS m
                        WHERE m.tenant_id = noted.tenant_id AND m.month = this_month);
    IF billed IS NOT NULL THEN
        FOREACH one IN ARRAY billed LOOP
            PERFORM freeze_month(one, this_month, p_at);
        END LOOP;
    END IF;
END
$$;

-- As in 0023, and what is billed goes from the notes into its month, in the same transaction.
CREATE OR REPLACE FUNCTION fold_usage(p_tenant bigint, p_most int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    ended uuid[];
BEGIN
    PERFORM 1 FROM usage_marks AS m WHERE m.tenant_id = p_tenant FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    ended := ARRAY(SELECT e.submission_id
                     FROM usage_ends AS e
                    WHERE e.tenant_id = p_tenant
                    ORDER BY e.submission_id
                    LIMIT p_most);
    IF ended = '{}' THEN
        RETURN 0;
    END IF;
    PERFORM add_usage(
        p_tenant,
        ARRAY(SELECT x.id
                FROM unnest(ended) AS x (id)
               WHERE NOT EXISTS (SELECT 1 FROM usage_carried AS c
                                  WHERE c.tenant_id = p_tenant AND c.submission_id = x.id)),
        ARRAY(SELECT s.submission_id
                FROM submissions AS s
               WHERE s.tenant_id = p_tenant AND s.submission_id = ANY (ended) AND s.first_answer_at IS NOT NULL
                 AND NOT EXISTS (SELECT 1 FROM usage_carried AS c
                                  WHERE c.tenant_id = p_tenant AND c.submission_id = s.submission_id AND c.answered)),
        ended);
    UPDATE billing_months AS m
       SET counted = m.counted + x.many
      FROM (SELECT e.billed_in, count(*) AS many
              FROM usage_ends AS e
             WHERE e.tenant_id = p_tenant AND e.submission_id = ANY (ended) AND e.billed_in IS NOT NULL
             GROUP BY e.billed_in) AS x
     WHERE m.tenant_id = p_tenant AND m.month = x.billed_in;
    DELETE FROM usage_carried AS c WHERE c.tenant_id = p_tenant AND c.submission_id = ANY (ended);
    DELETE FROM usage_ends AS e WHERE e.tenant_id = p_tenant AND e.submission_id = ANY (ended);
    RETURN cardinality(ended);
END
$$;

-- How many emissions of a month are billed, and when the first was, by the submissions themselves.
CREATE FUNCTION count_month(p_tenant bigint, p_month date, OUT many bigint, OUT first_at timestamptz)
LANGUAGE plpgsql STABLE AS $$
BEGIN
    SELECT coalesce(sum(x.many), 0), min(x.first_at) INTO many, first_at
      FROM (SELECT t.since, lead(t.since) OVER (ORDER BY t.since) AS until, t.enabled
              FROM billing_terms AS t
             WHERE t.tenant_id = p_tenant) AS term
     CROSS JOIN LATERAL (
           SELECT count(*) AS many, min(s.verdict_at) AS first_at
             FROM submissions AS s
            WHERE s.tenant_id = p_tenant AND s.environment = 'ecf'
              AND s.verdict_at >= greatest(term.since, month_begins(p_month))
              AND s.verdict_at < least(term.until, month_begins((p_month + interval '1 month')::date))
              AND s.status IN ('Aceptado', 'Aceptado Condicional')) AS x
     WHERE term.enabled;
END
$$;

-- Count a month again from the submissions, and put right what was counted: by how many it was wrong (more than there
-- are: above 0), or NULL when nothing of it is billed.
CREATE FUNCTION reconcile_month(p_tenant bigint, p_month date) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
    found record;
    wrong bigint;
BEGIN
    PERFORM 1 FROM usage_marks AS m WHERE m.tenant_id = p_tenant FOR UPDATE;
    -- One statement, so one moment: what is counted, what is noted, and what there is.
    SELECT c.many, c.first_at, m.month IS NOT NULL AS is_frozen, coalesce(m.counted, 0) AS counted,
           (SELECT count(*) FROM usage_ends AS e WHERE e.tenant_id = p_tenant AND e.billed_in = p_month) AS noted
      INTO found
      FROM count_month(p_tenant, p_month) AS c
      LEFT JOIN billing_months AS m ON m.tenant_id = p_tenant AND m.month = p_month;
    IF found.many = 0 AND NOT found.is_frozen THEN
        RETURN NULL;
    END IF;
    PERFORM freeze_month(p_tenant, p_month, found.first_at);
    wrong := found.counted + found.noted - found.many;
    UPDATE billing_months AS m
       SET counted = found.many - found.noted, checked_at = clock_timestamp(), drift = wrong
     WHERE m.tenant_id = p_tenant AND m.month = p_month;
    RETURN wrong;
END
$$;

-- Close a month that is over by the server's clock too: count it again, and charge what there are no charges for yet, as
-- the charge p_subject. Gives the amount of the new charge, 0 when there is nothing (more) to charge, NULL when it is not
-- over. What turns up later is charged when it is closed again. All charges of a month come to its emissions at its price,
-- rounded once.
CREATE FUNCTION close_month(p_tenant bigint, p_month date, p_subject uuid, p_at timestamptz) RETURNS numeric
LANGUAGE plpgsql AS $$
DECLARE
    mine record;
    total bigint;
    before numeric;
    due numeric;
    parts int;
BEGIN
    IF clock_timestamp() < month_begins((p_month + interval '1 month')::date) THEN
        RETURN NULL;
    END IF;
    PERFORM reconcile_month(p_tenant, p_month);
    SELECT m.unit_price, m.currency, m.subscription_id, m.charged,
           m.counted + (SELECT count(*) FROM usage_ends AS e
                         WHERE e.tenant_id = p_tenant AND e.billed_in = p_month) AS emissions
      INTO mine
      FROM billing_months AS m
     WHERE m.tenant_id = p_tenant AND m.month = p_month
       FOR UPDATE;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    total := greatest(mine.emissions, mine.charged);
    SELECT coalesce(sum(c.amount), 0), count(*) INTO before, parts
      FROM billing_charges AS c
     WHERE c.tenant_id = p_tenant AND c.month = p_month;
    due := round(total * mine.unit_price, 2) - before;
    UPDATE billing_months AS m
       SET closed_at = coalesce(m.closed_at, p_at), charged = total
     WHERE m.tenant_id = p_tenant AND m.month = p_month;
    IF due <= 0 THEN
        RETURN 0;
    END IF;
    INSERT INTO billing_charges (tenant_id, subject, stage, environment, run_at, entered_at, month, part, emissions,
                                 unit_price, amount, currency, subscription_id)
    VALUES (p_tenant, p_subject, 'charge', 'ecf', clock_timestamp(), clock_timestamp(), p_month, parts,
            total - mine.charged, mine.unit_price, due, mine.currency, mine.subscription_id);
    RETURN due;
END
$$;

CREATE TRIGGER billing_accounts_audited AFTER INSERT OR UPDATE OR DELETE ON billing_accounts
FOR EACH ROW EXECUTE FUNCTION note_in_audit_trail();

DO $$
DECLARE
    walled text;
BEGIN
    FOREACH walled IN ARRAY ARRAY['billing_terms', 'billing_months', 'billing_charges'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', walled);
        EXECUTE format('CREATE POLICY every_tenant ON %I TO fe_worker, fe_operator USING (true)', walled);
        EXECUTE format('CREATE POLICY every_tenant_read ON %I FOR SELECT TO fe_readonly USING (true)', walled);
        EXECUTE format('CREATE POLICY own_tenant ON %I TO fe_front
                        USING (tenant_id = nullif(current_setting(''fe.tenant'', true), '''')::bigint)', walled);
    END LOOP;
END
$$;

GRANT SELECT ON billing_months TO fe_front;

GRANT SELECT ON billing_terms, billing_months, billing_charges TO fe_readonly;

GRANT SELECT ON billing_terms, billing_accounts TO fe_worker;

GRANT SELECT, INSERT, UPDATE ON billing_months, billing_charges, billing_rounds TO fe_worker, fe_operator;

GRANT SELECT, INSERT ON billing_terms TO fe_operator;

GRANT EXECUTE ON FUNCTION utc_month, month_begins TO fe_worker, fe_operator;

GRANT EXECUTE ON FUNCTION freeze_month, count_month, reconcile_month, close_month TO fe_worker, fe_operator;

GRANT EXECUTE ON FUNCTION set_billing_terms TO fe_operator;
