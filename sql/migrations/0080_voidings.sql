-- Voiding of number ranges at the authority (docs/decisions/voidings.md).

-- A queue table (docs/reference/queue-table.md): a voiding waits in stage `void` and rests in the others. The subject is
-- the voiding. Rows at rest are due at infinity, so the index of due rows leaves them out.
CREATE TABLE voidings (
    tenant_id bigint NOT NULL,
    subject uuid NOT NULL,
    stage text COLLATE "C" NOT NULL,
    environment environment NOT NULL,
    host text COLLATE "C" NOT NULL DEFAULT 'ecf',
    run_at timestamptz NOT NULL,
    attempt int NOT NULL DEFAULT 0,
    epoch bigint NOT NULL DEFAULT 0,
    holder text,
    deaths int NOT NULL DEFAULT 0,
    entered_at timestamptz NOT NULL DEFAULT now(),
    last_error text,
    client_request_id text,
    requested_at timestamptz NOT NULL,
    requested_by text NOT NULL,
    issuer_rnc text NOT NULL,
    reason smallint NOT NULL,
    -- [{"prefix", "first", "last"}], in order.
    ranges jsonb NOT NULL,
    numbers bigint NOT NULL,
    -- The signed ANECF: every send has these bytes.
    document bytea,
    certificate_id uuid,
    signed_at timestamptz,
    -- Sends whose answer is not known.
    unanswered int NOT NULL DEFAULT 0,
    answer jsonb,
    finished_at timestamptz,
    CONSTRAINT voidings_pk PRIMARY KEY (tenant_id, subject),
    CONSTRAINT voidings_once UNIQUE (tenant_id, environment, client_request_id),
    CONSTRAINT voidings_stage_known
    CHECK (stage IN ('void', 'voided', 'partly voided', 'rejected', 'refused', 'in doubt')),
    CONSTRAINT voidings_reason_known CHECK (reason BETWEEN 1 AND 8),
    CONSTRAINT voidings_issuer_form CHECK (issuer_rnc ~ '^([0-9]{9}|[0-9]{11})$')
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 500,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX voidings_due ON voidings (stage, environment, host, tenant_id, run_at) WHERE run_at < 'infinity';
CREATE INDEX voidings_in_doubt ON voidings (finished_at) WHERE stage = 'in doubt';

-- Numbers that are never drawn, held or voided again: asked to be voided, void, or used elsewhere by the authority's word.
CREATE TABLE voided_ranges (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    prefix text COLLATE "C" NOT NULL,
    first_number bigint NOT NULL,
    last_number bigint NOT NULL,
    voiding_id uuid NOT NULL,
    fate text COLLATE "C" NOT NULL,
    reason smallint NOT NULL,
    voided_on date,
    CONSTRAINT voided_ranges_pk PRIMARY KEY (tenant_id, environment, prefix, first_number),
    CONSTRAINT voided_ranges_in_order
    CHECK (first_number >= 1 AND first_number <= last_number AND last_number <= 9999999999),
    CONSTRAINT voided_ranges_fate_known CHECK (fate IN ('asked', 'void', 'used elsewhere')),
    CONSTRAINT voided_ranges_day_of_void CHECK ((fate = 'void') = (voided_on IS NOT NULL))
);

ALTER TABLE voidings ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON voidings TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON voidings FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON voidings TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT ON voidings TO fe_front, fe_portal;
GRANT SELECT, UPDATE, DELETE ON voidings TO fe_worker;
GRANT SELECT, INSERT, UPDATE ON voidings TO fe_operator;
GRANT SELECT ON voidings TO fe_readonly;

ALTER TABLE voided_ranges ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON voided_ranges TO fe_worker, fe_operator USING (true);
CREATE POLICY every_tenant_read ON voided_ranges FOR SELECT TO fe_readonly USING (true);
CREATE POLICY own_tenant ON voided_ranges TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT ON voided_ranges TO fe_front, fe_portal;
GRANT SELECT, INSERT, UPDATE, DELETE ON voided_ranges TO fe_worker, fe_operator;
GRANT SELECT ON voided_ranges TO fe_readonly;

GRANT DELETE ON returned_numbers TO fe_operator;
GRANT UPDATE (current_number, updated_at) ON sequences TO fe_worker;
