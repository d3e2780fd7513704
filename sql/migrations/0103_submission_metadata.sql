-- A client's own labels of a submission (`metadata` of POST /invoices). Apart from `submissions`: most have none, and a
-- submission without them is accepted without a look here.
CREATE TABLE submission_metadata (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    metadata jsonb NOT NULL,
    CONSTRAINT submission_metadata_pk PRIMARY KEY (tenant_id, submission_id),
    CONSTRAINT submission_metadata_an_object CHECK (jsonb_typeof(metadata) = 'object' AND metadata <> '{}'),
    CONSTRAINT submission_metadata_size CHECK (octet_length(metadata::text) <= 8192)
);

ALTER TABLE submission_metadata ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant_read ON submission_metadata FOR SELECT TO fe_worker, fe_operator, fe_readonly USING (true);
CREATE POLICY own_tenant ON submission_metadata TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT ON submission_metadata TO fe_front, fe_portal;
GRANT SELECT ON submission_metadata TO fe_worker, fe_operator, fe_readonly;
