-- Where the archive has the documents of a receipt: bytes of a package, with their digest. Written while every package of
-- a month is read back, before its documents leave the database (docs/decisions/months-that-left.md).
CREATE TABLE archive_places (
    tenant_id bigint NOT NULL,
    submission_id uuid NOT NULL,
    environment environment NOT NULL,
    number bigint NOT NULL,
    -- First byte and length in the package, and the SHA-256 of these bytes.
    start bigint NOT NULL,
    length int NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT archive_places_pk PRIMARY KEY (tenant_id, submission_id),
    CONSTRAINT archive_places_package FOREIGN KEY (tenant_id, environment, number)
    REFERENCES archive_packages (tenant_id, environment, number),
    CONSTRAINT archive_places_range CHECK (start >= 0 AND length > 0),
    CONSTRAINT archive_places_digest CHECK (octet_length(digest) = 32)
);

ALTER TABLE archive_places ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON archive_places TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON archive_places FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON archive_places TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
-- release_documents runs as the owner, whom policies bind, too. No other role may truncate.
CREATE POLICY every_tenant_of_owner ON archive_places FOR SELECT
USING (has_table_privilege('archive_places', 'TRUNCATE'));

GRANT SELECT, INSERT ON archive_places TO fe_operator;
GRANT SELECT ON archive_places TO fe_worker, fe_front, fe_portal, fe_readonly;
-- `fe archive restore` brings documents back.
GRANT INSERT ON submission_documents TO fe_operator;
