-- Mail of accepted receipts to their buyers (docs/decisions/mail.md).

-- NULL: this tenant sends no mail. Else language, replyTo and aDay, as fe/store/records/mail.py writes them.
ALTER TABLE tenants ADD COLUMN mail jsonb;

GRANT UPDATE (mail) ON tenants TO fe_portal, fe_operator;

-- Addresses that came with a submission (`notify`), kept in the transaction that accepts it.
CREATE TABLE mail_recipients (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    address text NOT NULL,
    CONSTRAINT mail_recipients_pk PRIMARY KEY (tenant_id, submission_id),
    CONSTRAINT mail_recipients_address_length CHECK (length(address) BETWEEN 3 AND 254)
);

-- A queue table (docs/reference/queue-table.md): a mail waits in stage `mail` and rests in the others. The subject is
-- the submission. Rows at rest are due at infinity, so the index of due rows leaves them out.
CREATE TABLE mails (
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
    -- Set by the first try and kept by the later ones.
    address text,
    message_id text,
    -- Day on which it was counted against the tenant's cap.
    counted_on date,
    -- The relay's last reply code.
    code int,
    finished_at timestamptz,
    CONSTRAINT mails_pk PRIMARY KEY (tenant_id, subject),
    CONSTRAINT mails_stage_known CHECK (stage IN ('mail', 'sent', 'refused', 'suppressed', 'failed'))
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX mails_due ON mails (stage, environment, host, tenant_id, run_at) WHERE run_at < 'infinity';

-- Mails per tenant and day of the country.
CREATE TABLE mail_days (
    tenant_id bigint NOT NULL,
    day date NOT NULL,
    mails int NOT NULL,
    CONSTRAINT mail_days_pk PRIMARY KEY (tenant_id, day)
);

-- Addresses, in small letters, that get no mail of this tenant.
CREATE TABLE mail_suppressions (
    tenant_id bigint NOT NULL,
    address text NOT NULL,
    reason text NOT NULL,
    since timestamptz NOT NULL,
    CONSTRAINT mail_suppressions_pk PRIMARY KEY (tenant_id, address),
    CONSTRAINT mail_suppressions_reason_known CHECK (reason IN ('refused', 'unsubscribed', 'operator'))
);

ALTER TABLE mail_recipients ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON mail_recipients TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON mail_recipients FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON mail_recipients TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT INSERT ON mail_recipients TO fe_front, fe_portal;
GRANT SELECT ON mail_recipients TO fe_worker, fe_operator, fe_readonly;

ALTER TABLE mails ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON mails TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON mails FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON mails TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE, DELETE ON mails TO fe_worker;
GRANT SELECT ON mails TO fe_front, fe_portal, fe_operator, fe_readonly;
GRANT UPDATE (stage, run_at, attempt, deaths, entered_at, finished_at) ON mails TO fe_operator;

ALTER TABLE mail_days ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON mail_days TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON mail_days FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON mail_days TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE ON mail_days TO fe_worker;
GRANT SELECT ON mail_days TO fe_operator, fe_readonly;

ALTER TABLE mail_suppressions ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON mail_suppressions TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON mail_suppressions FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON mail_suppressions TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT ON mail_suppressions TO fe_worker;
GRANT SELECT, INSERT, DELETE ON mail_suppressions TO fe_portal, fe_operator;
GRANT SELECT ON mail_suppressions TO fe_readonly;
