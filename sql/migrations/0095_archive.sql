-- Archive packages of each tenant, and the evidence in them (docs/archive.md).

-- How far each chain of packages is planned, and what its last check found.
CREATE TABLE archive_chains (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    -- Everything before it is in a package. Within a day that is being planned, verdicts before `issued_until` are.
    planned_until timestamptz NOT NULL,
    issued_until timestamptz NOT NULL,
    checked_at timestamptz,
    -- Receipts that should be in a stored package and are not.
    missing bigint NOT NULL DEFAULT 0,
    -- Objects that are absent or differ, and breaks of the chain.
    faults text [] NOT NULL DEFAULT '{}',
    CONSTRAINT archive_chains_pk PRIMARY KEY (tenant_id, environment)
);

-- A package is planned, then made (bytes and digests are known), then stored (read back and equal).
CREATE TABLE archive_packages (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    number bigint NOT NULL,
    previous_number bigint GENERATED ALWAYS AS (nullif(number - 1, 0)) STORED,
    -- Digest of the manifest before.
    previous bytea,
    -- The day of Santo Domingo until whose end it reaches.
    day date NOT NULL,
    planned_at timestamptz NOT NULL,
    receipts int NOT NULL,
    additions int NOT NULL,
    manifest bytea,
    digest bytea,
    bytes bigint,
    location text,
    made_at timestamptz,
    stored_at timestamptz,
    -- Why the last try failed.
    fault text,
    CONSTRAINT archive_packages_pk PRIMARY KEY (tenant_id, environment, number),
    CONSTRAINT archive_packages_manifest UNIQUE (tenant_id, environment, number, manifest),
    CONSTRAINT archive_packages_chain FOREIGN KEY (tenant_id, environment, previous_number, previous)
    REFERENCES archive_packages (tenant_id, environment, number, manifest),
    CONSTRAINT archive_packages_first CHECK (number >= 1 AND (number = 1) = (previous IS NULL)),
    CONSTRAINT archive_packages_made CHECK (
        num_nulls(manifest, digest, bytes, location, made_at) IN (0, 5)
    ),
    CONSTRAINT archive_packages_stored CHECK (stored_at IS NULL OR (made_at IS NOT NULL AND fault IS NULL)),
    CONSTRAINT archive_packages_digests CHECK (octet_length(manifest) = 32 AND octet_length(digest) = 32)
);

-- One package of a chain is at work at a time.
CREATE UNIQUE INDEX archive_packages_open ON archive_packages (tenant_id, environment) WHERE stored_at IS NULL;

-- Evidence and its package. `issued` and `received` are whole receipts; the other two belong to an issued one and may
-- arrive later. The key keeps evidence from being archived twice.
CREATE TABLE archive_items (
    tenant_id bigint NOT NULL,
    evidence_id uuid NOT NULL,
    part text COLLATE "C" NOT NULL,
    environment environment NOT NULL,
    number bigint,
    -- Last event of the timeline that the package has, so that a repeat makes the same bytes.
    events int NOT NULL DEFAULT 0,
    -- Why the format has no place for it; such evidence is in no package.
    refused text,
    CONSTRAINT archive_items_pk PRIMARY KEY (tenant_id, evidence_id, part),
    CONSTRAINT archive_items_package FOREIGN KEY (tenant_id, environment, number)
    REFERENCES archive_packages (tenant_id, environment, number),
    CONSTRAINT archive_items_part_known CHECK (part IN ('issued', 'received', 'acknowledgement', 'approval')),
    CONSTRAINT archive_items_packed_or_refused CHECK ((number IS NULL) = (refused IS NOT NULL))
);

CREATE INDEX archive_items_of_package ON archive_items (tenant_id, environment, number, evidence_id);
CREATE INDEX archive_items_refused ON archive_items (tenant_id) WHERE refused IS NOT NULL;

-- Acknowledgements and approvals that arrived since a time.
CREATE INDEX counterparty_deliveries_acknowledged ON counterparty_deliveries (tenant_id, environment, changed_at)
WHERE kind = 'receipt' AND answer IS NOT NULL;
CREATE INDEX received_approvals_by_time ON received_approvals (tenant_id, received_at);

ALTER TABLE archive_chains ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE archive_packages ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE archive_items ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON archive_chains TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant ON archive_packages TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant ON archive_items TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON archive_chains FOR SELECT TO fe_readonly USING (true);
CREATE POLICY every_tenant_read ON archive_packages FOR SELECT TO fe_readonly USING (true);
CREATE POLICY every_tenant_read ON archive_items FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON archive_chains TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
CREATE POLICY own_tenant ON archive_packages TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
CREATE POLICY own_tenant ON archive_items TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);

GRANT SELECT, INSERT, UPDATE ON archive_chains, archive_packages TO fe_worker, fe_operator;
GRANT SELECT, INSERT, UPDATE ON archive_items TO fe_worker;
GRANT SELECT ON archive_items TO fe_operator;
GRANT SELECT ON archive_packages, archive_items TO fe_front, fe_portal;
GRANT SELECT ON archive_chains, archive_packages, archive_items TO fe_readonly;
GRANT SELECT ON received_approvals TO fe_worker;
