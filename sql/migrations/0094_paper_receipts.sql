-- Receipts of series B that a tenant issues on paper in a declared contingency, and the e-CF that replace them
-- (docs/contingency.md).

CREATE TABLE paper_ranges (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    range_id uuid NOT NULL,
    -- B and two digits: B01, B02.
    prefix text COLLATE "C" NOT NULL,
    first_number int NOT NULL,
    last_number int NOT NULL,
    -- The number that the service issues next.
    next_number int NOT NULL,
    expires_on date NOT NULL,
    recorded_at timestamptz NOT NULL,
    recorded_by text NOT NULL,
    CONSTRAINT paper_ranges_pk PRIMARY KEY (tenant_id, range_id),
    CONSTRAINT paper_ranges_prefix_known
    CHECK (prefix IN ('B01', 'B02', 'B03', 'B04', 'B11', 'B13', 'B14', 'B15', 'B16', 'B17')),
    CONSTRAINT paper_ranges_in_order
    CHECK (first_number >= 1 AND first_number <= last_number AND last_number <= 99999999),
    CONSTRAINT paper_ranges_next CHECK (next_number BETWEEN first_number AND last_number + 1),
    -- No number lies in two ranges. Each column is a range, because an index of ranges needs no extension.
    CONSTRAINT paper_ranges_apart EXCLUDE USING gist (
        int8range(tenant_id, tenant_id, '[]') WITH =,
        int4range(
            substr(prefix, 2, 2)::int * 10 + (environment = 'certecf')::int + (environment = 'testecf')::int * 2,
            substr(prefix, 2, 2)::int * 10 + (environment = 'certecf')::int + (environment = 'testecf')::int * 2,
            '[]') WITH =,
        int8range(first_number, last_number, '[]') WITH &&)
);

CREATE TABLE paper_receipts (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    ncf text COLLATE "C" NOT NULL,
    range_id uuid NOT NULL,
    period_id uuid NOT NULL,
    issued_on date NOT NULL,
    -- The client's key, where the service chose the number.
    client_request_id text COLLATE "C",
    -- Content of the replacing e-CF, without number, dates and reference.
    payload bytea NOT NULL,
    buyer_rnc text,
    buyer_name text,
    total numeric(18, 2) NOT NULL,
    itbis numeric(18, 2) NOT NULL,
    entered_at timestamptz NOT NULL,
    entered_by text NOT NULL,
    -- Its e-CF, from the verdict on.
    replaced_at timestamptz,
    replaced_by uuid,
    e_ncf text COLLATE "C",
    CONSTRAINT paper_receipts_pk PRIMARY KEY (tenant_id, environment, ncf),
    CONSTRAINT paper_receipts_of_client UNIQUE (tenant_id, environment, client_request_id),
    CONSTRAINT paper_receipts_one_ecf UNIQUE (tenant_id, replaced_by),
    CONSTRAINT paper_receipts_range_fk FOREIGN KEY (tenant_id, range_id) REFERENCES paper_ranges (tenant_id, range_id),
    CONSTRAINT paper_receipts_period_fk
    FOREIGN KEY (tenant_id, period_id) REFERENCES mode_periods (tenant_id, period_id),
    CONSTRAINT paper_receipts_ncf_form CHECK (ncf ~ '^B[0-9]{10}$'),
    CONSTRAINT paper_receipts_bounded CHECK (octet_length(payload) <= 262144),
    CONSTRAINT paper_receipts_linked
    CHECK ((replaced_at IS NULL) = (replaced_by IS NULL) AND (replaced_at IS NULL) = (e_ncf IS NULL))
);

CREATE INDEX paper_receipts_open ON paper_receipts (tenant_id, environment, ncf) WHERE replaced_at IS NULL;
CREATE INDEX paper_receipts_by_day ON paper_receipts (tenant_id, environment, issued_on);

-- Each try to replace a paper receipt. Its clientRequestId is made of the number and the try, so that whatever is
-- repeated issues it once; the next try begins when the submission of this one has ended without acceptance.
CREATE TABLE paper_replacements (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    ncf text COLLATE "C" NOT NULL,
    attempt int NOT NULL,
    client_request_id text COLLATE "C" NOT NULL,
    begun_at timestamptz NOT NULL,
    begun_by text NOT NULL,
    freed_at timestamptz,
    CONSTRAINT paper_replacements_pk PRIMARY KEY (tenant_id, environment, ncf, attempt),
    CONSTRAINT paper_replacements_one_request UNIQUE (tenant_id, environment, client_request_id),
    CONSTRAINT paper_replacements_receipt_fk
    FOREIGN KEY (tenant_id, environment, ncf) REFERENCES paper_receipts (tenant_id, environment, ncf)
);

CREATE UNIQUE INDEX paper_replacements_one_live ON paper_replacements (tenant_id, environment, ncf)
 WHERE freed_at IS NULL;

ALTER TABLE paper_ranges ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant_read ON paper_ranges FOR SELECT TO fe_operator, fe_readonly USING (true);
CREATE POLICY own_tenant ON paper_ranges TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE (next_number), DELETE ON paper_ranges TO fe_front, fe_portal;
GRANT SELECT ON paper_ranges TO fe_operator, fe_readonly;

ALTER TABLE paper_receipts ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON paper_receipts TO fe_worker USING (true);
CREATE POLICY every_tenant_read ON paper_receipts FOR SELECT TO fe_operator, fe_readonly USING (true);
CREATE POLICY own_tenant ON paper_receipts TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE ON paper_receipts TO fe_front, fe_portal;
GRANT SELECT, UPDATE (replaced_at, replaced_by, e_ncf) ON paper_receipts TO fe_worker;
GRANT SELECT ON paper_receipts TO fe_operator, fe_readonly;

ALTER TABLE paper_replacements ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant_read ON paper_replacements FOR SELECT TO fe_worker, fe_operator, fe_readonly USING (true);
CREATE POLICY own_tenant ON paper_replacements TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE ON paper_replacements TO fe_front, fe_portal;
GRANT SELECT ON paper_replacements TO fe_worker, fe_operator, fe_readonly;
