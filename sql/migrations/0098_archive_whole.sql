-- The archive: voidings in packages, time stamps beside them, sums for people, and handovers of a whole archive.

ALTER TABLE archive_items
DROP CONSTRAINT archive_items_part_known,
ADD CONSTRAINT archive_items_part_known
CHECK (part IN ('issued', 'received', 'voided', 'acknowledgement', 'approval'));

ALTER TABLE archive_packages
-- `totals` of the manifest.
ADD COLUMN totals jsonb,
-- The time that the token beside the package states.
ADD COLUMN stamped_at timestamptz,
ADD CONSTRAINT archive_packages_stamped CHECK (stamped_at IS NULL OR stored_at IS NOT NULL);

-- Voidings that ended, by the time of their end.
CREATE INDEX voidings_ended ON voidings (tenant_id, environment, finished_at)
WHERE stage IN ('voided', 'partly voided', 'rejected');

-- Each time that a tenant took its whole archive home, with what was in it.
CREATE TABLE archive_handovers (
    tenant_id bigint NOT NULL,
    at timestamptz NOT NULL,
    by_whom text NOT NULL,
    -- SHA-256 of the protocol, which the tenant has.
    protocol bytea NOT NULL,
    -- {environment: {"number", "manifest"}}: the last package of each chain in it.
    heads jsonb NOT NULL,
    packages bigint NOT NULL,
    receipts bigint NOT NULL,
    CONSTRAINT archive_handovers_pk PRIMARY KEY (tenant_id, at, protocol),
    CONSTRAINT archive_handovers_digest CHECK (octet_length(protocol) = 32)
);

ALTER TABLE archive_handovers ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON archive_handovers TO fe_operator USING (true);
CREATE POLICY every_tenant_read ON archive_handovers FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON archive_handovers TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);

GRANT SELECT, INSERT ON archive_handovers TO fe_operator, fe_portal;
GRANT SELECT ON archive_handovers TO fe_readonly;
GRANT SELECT ON archive_chains TO fe_portal;
