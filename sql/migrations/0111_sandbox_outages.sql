-- Outages of the authority that a sandbox plays for one tenant (docs/api/testing.md): its sender waits, others send.
-- Ended outages stay for an hour, so that the tenant's webhook learns of their end. Production has no row.
CREATE TABLE sandbox_outages (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    began_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    CONSTRAINT sandbox_outages_pk PRIMARY KEY (tenant_id, environment, began_at),
    CONSTRAINT sandbox_outages_never_in_production CHECK (environment <> 'ecf'),
    CONSTRAINT sandbox_outages_in_order CHECK (began_at <= ends_at)
);

ALTER TABLE sandbox_outages ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant_read ON sandbox_outages FOR SELECT TO fe_worker, fe_operator, fe_readonly USING (true);
CREATE POLICY own_tenant ON sandbox_outages TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
-- Each front adds the header to the answers of every tenant that has an outage.
CREATE POLICY which_are_away ON sandbox_outages FOR SELECT TO fe_front USING (true);
GRANT SELECT, INSERT, UPDATE, DELETE ON sandbox_outages TO fe_front;
GRANT SELECT ON sandbox_outages TO fe_worker, fe_portal, fe_operator, fe_readonly;
