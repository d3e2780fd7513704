-- Classifications of purchases for the 606, of a supplier and of one receipt (fe/month/purchases.py).
CREATE TABLE supplier_expenses (
    tenant_id bigint NOT NULL,
    supplier text NOT NULL,
    kind text NOT NULL,
    isr_type text,
    payment text,
    paid_after int,
    itbis text NOT NULL,
    changed_at timestamptz NOT NULL,
    CONSTRAINT supplier_expenses_pk PRIMARY KEY (tenant_id, supplier),
    CONSTRAINT supplier_expenses_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT supplier_expenses_supplier_form CHECK (supplier ~ '^([0-9]{9}|[0-9]{11})$'),
    CONSTRAINT supplier_expenses_kind_known CHECK (kind ~ '^(0[1-9]|1[01])$'),
    CONSTRAINT supplier_expenses_isr_type_known CHECK (isr_type ~ '^0[1-9]$'),
    CONSTRAINT supplier_expenses_payment_known CHECK (payment ~ '^0[1-7]$'),
    CONSTRAINT supplier_expenses_paid_after_bounded CHECK (paid_after BETWEEN 0 AND 365),
    CONSTRAINT supplier_expenses_itbis_known CHECK (itbis IN ('advance', 'cost', 'proportional'))
);

CREATE TABLE receipt_expenses (
    tenant_id bigint NOT NULL,
    supplier text NOT NULL,
    e_ncf text NOT NULL,
    kind text NOT NULL,
    isr_type text,
    payment text,
    paid_on date,
    itbis text NOT NULL,
    changed_at timestamptz NOT NULL,
    CONSTRAINT receipt_expenses_pk PRIMARY KEY (tenant_id, supplier, e_ncf),
    CONSTRAINT receipt_expenses_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenants (tenant_id),
    CONSTRAINT receipt_expenses_supplier_form CHECK (supplier ~ '^([0-9]{9}|[0-9]{11})$'),
    CONSTRAINT receipt_expenses_number_form CHECK (e_ncf ~ '^E[0-9]{12}$'),
    CONSTRAINT receipt_expenses_kind_known CHECK (kind ~ '^(0[1-9]|1[01])$'),
    CONSTRAINT receipt_expenses_isr_type_known CHECK (isr_type ~ '^0[1-9]$'),
    CONSTRAINT receipt_expenses_payment_known CHECK (payment ~ '^0[1-7]$'),
    CONSTRAINT receipt_expenses_itbis_known CHECK (itbis IN ('advance', 'cost', 'proportional'))
);

ALTER TABLE supplier_expenses ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant_read ON supplier_expenses FOR SELECT TO fe_operator, fe_readonly USING (true);
CREATE POLICY own_tenant ON supplier_expenses TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE ON supplier_expenses TO fe_front, fe_portal;
GRANT SELECT ON supplier_expenses TO fe_operator, fe_readonly;
ALTER TABLE receipt_expenses ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant_read ON receipt_expenses FOR SELECT TO fe_operator, fe_readonly USING (true);
CREATE POLICY own_tenant ON receipt_expenses TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE ON receipt_expenses TO fe_front, fe_portal;
GRANT SELECT ON receipt_expenses TO fe_operator, fe_readonly;
