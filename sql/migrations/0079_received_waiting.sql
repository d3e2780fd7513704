-- Received receipts that wait for the tenant's answer, so that a page of them is read without the answered ones
-- (fe/store/records/waiting.py). A row goes when the authority accepts an answer.
CREATE TABLE received_waiting (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    received_id uuid NOT NULL,
    CONSTRAINT received_waiting_pk PRIMARY KEY (tenant_id, environment, received_id),
    CONSTRAINT received_waiting_of_received FOREIGN KEY (tenant_id, received_id)
    REFERENCES received (tenant_id, received_id)
);

-- Receipts that were received before. Readers remove those that were answered through POST /invoices.
ALTER TABLE received NO FORCE ROW LEVEL SECURITY;
ALTER TABLE approvals NO FORCE ROW LEVEL SECURITY;
INSERT INTO received_waiting (tenant_id, environment, received_id)
SELECT
    r.tenant_id,
    r.environment,
    r.received_id
FROM received AS r
LEFT JOIN approvals AS a ON r.tenant_id = a.tenant_id AND r.received_id = a.received_id
WHERE a.received_id IS NULL;
ALTER TABLE received FORCE ROW LEVEL SECURITY;
ALTER TABLE approvals FORCE ROW LEVEL SECURITY;

ALTER TABLE received_waiting ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON received_waiting TO fe_worker USING (true);
CREATE POLICY every_tenant_read ON received_waiting FOR SELECT TO fe_operator, fe_readonly USING (true);
CREATE POLICY own_tenant ON received_waiting TO fe_front, fe_portal, fe_reception
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, DELETE ON received_waiting TO fe_worker, fe_portal;
GRANT SELECT, INSERT ON received_waiting TO fe_reception;
GRANT SELECT ON received_waiting TO fe_front, fe_operator, fe_readonly;

-- Computed again, with security code and signing time.
TRUNCATE received_amounts;
