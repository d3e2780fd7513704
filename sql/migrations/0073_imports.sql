-- Receipts that a tenant imports from a workbook (docs/decisions/imports.md).

-- Imports and their state. This table names tenants and nothing of them, so that a front finds the work of all.
CREATE TABLE imports (
    tenant_id bigint NOT NULL,
    import_id uuid NOT NULL,
    environment environment NOT NULL,
    state text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    -- A front works on it until then; nothing but double work depends on it.
    held_until timestamptz NOT NULL DEFAULT '-infinity',
    CONSTRAINT imports_pk PRIMARY KEY (tenant_id, import_id),
    CONSTRAINT imports_state_known CHECK (state IN ('validating', 'validated', 'issuing', 'issued'))
);

CREATE INDEX imports_at_work ON imports (created_at) WHERE state IN ('validating', 'issuing');

CREATE TABLE import_files (
    tenant_id bigint NOT NULL,
    import_id uuid NOT NULL,
    environment environment NOT NULL,
    created_at timestamptz NOT NULL,
    -- The key that sent it, or the portal's; and the person.
    api_key_id text NOT NULL,
    person_id uuid,
    name text NOT NULL,
    digest bytea NOT NULL,
    content bytea NOT NULL,
    notes jsonb NOT NULL,
    CONSTRAINT import_files_pk PRIMARY KEY (tenant_id, import_id),
    CONSTRAINT import_files_once UNIQUE (tenant_id, environment, digest),
    CONSTRAINT import_files_digest_length CHECK (octet_length(digest) = 32),
    CONSTRAINT import_files_bounded CHECK (octet_length(content) <= 8388608)
);

CREATE TABLE import_receipts (
    tenant_id bigint NOT NULL,
    import_id uuid NOT NULL,
    place int NOT NULL,
    key text NOT NULL,
    is_own_key boolean NOT NULL,
    file_rows int [] NOT NULL,
    prefix text,
    payload bytea NOT NULL,
    -- NULL: not validated yet.
    outcome text COLLATE "C",
    -- Faults of reading, and all of them.
    misread jsonb NOT NULL,
    faults jsonb NOT NULL,
    submission_id uuid,
    e_ncf text,
    CONSTRAINT import_receipts_pk PRIMARY KEY (tenant_id, import_id, place),
    CONSTRAINT import_receipts_outcome_known
    CHECK (outcome IN ('valid', 'faulty', 'issued', 'issued before', 'failed'))
) WITH (fillfactor = 70);

CREATE INDEX import_receipts_open ON import_receipts (tenant_id, import_id, place)
WHERE outcome IS NULL OR outcome = 'valid';

ALTER TABLE imports ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON imports TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON imports FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON imports TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
CREATE POLICY at_work ON imports FOR SELECT TO fe_front USING (state IN ('validating', 'issuing'));
GRANT SELECT, INSERT, UPDATE (state, held_until), DELETE ON imports TO fe_front, fe_portal;
GRANT SELECT, DELETE ON imports TO fe_worker;
GRANT SELECT ON imports TO fe_operator, fe_readonly;

ALTER TABLE import_files ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON import_files TO fe_worker USING (true);
CREATE POLICY own_tenant ON import_files TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, DELETE ON import_files TO fe_front, fe_portal;
GRANT SELECT (tenant_id, import_id, created_at), DELETE ON import_files TO fe_worker;

ALTER TABLE import_receipts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON import_receipts TO fe_worker USING (true);
CREATE POLICY own_tenant ON import_receipts TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE (outcome, faults, submission_id, e_ncf), DELETE ON import_receipts TO fe_front, fe_portal;
GRANT SELECT (tenant_id, import_id, place), DELETE ON import_receipts TO fe_worker;
