-- Amounts of a signed receipt by tax (fe/ecf/tax_amounts.py); NULL: signed before this migration, or not signed.
ALTER TABLE submissions ADD COLUMN amounts jsonb;

-- Sums of receipts that have ended, by the day of issue that they state: what a month is made of (docs/decisions/months.md).
CREATE TABLE receipt_days (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    issued_on date NOT NULL,
    ecf_type text NOT NULL,
    status submission_status NOT NULL,
    receipts bigint NOT NULL,
    total numeric(20, 2) NOT NULL,
    itbis numeric(20, 2) NOT NULL,
    base18 numeric(20, 2) NOT NULL,
    base16 numeric(20, 2) NOT NULL,
    base0 numeric(20, 2) NOT NULL,
    exempt numeric(20, 2) NOT NULL,
    itbis18 numeric(20, 2) NOT NULL,
    itbis16 numeric(20, 2) NOT NULL,
    itbis_withheld numeric(20, 2) NOT NULL,
    isr_withheld numeric(20, 2) NOT NULL,
    -- Receipts without amounts by tax.
    without_amounts bigint NOT NULL,
    first_number text NOT NULL,
    last_number text NOT NULL,
    CONSTRAINT receipt_days_pk PRIMARY KEY (tenant_id, environment, issued_on, ecf_type, status)
);

ALTER TABLE receipt_days ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON receipt_days TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON receipt_days FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON receipt_days TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE, DELETE ON receipt_days TO fe_worker, fe_operator;
GRANT SELECT ON receipt_days TO fe_front, fe_portal, fe_readonly;

-- Amounts of received receipts, computed when a month first asks for them.
CREATE TABLE received_amounts (
    tenant_id bigint NOT NULL,
    received_id uuid NOT NULL,
    amounts jsonb NOT NULL,
    CONSTRAINT received_amounts_pk PRIMARY KEY (tenant_id, received_id),
    CONSTRAINT received_amounts_of_received FOREIGN KEY (tenant_id, received_id)
    REFERENCES received (tenant_id, received_id)
);

ALTER TABLE received_amounts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON received_amounts TO fe_operator USING (true);
CREATE POLICY every_tenant_read ON received_amounts FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON received_amounts TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT ON received_amounts TO fe_front, fe_portal, fe_operator;
GRANT SELECT ON received_amounts TO fe_readonly;
