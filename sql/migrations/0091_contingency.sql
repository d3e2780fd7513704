-- Modes of a tenant, outages of the authority, and its measured health (docs/contingency.md).

-- Periods in which a tenant issued in another mode than the normal one. The current one has no end.
CREATE TABLE mode_periods (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    period_id uuid NOT NULL,
    mode text COLLATE "C" NOT NULL,
    -- The number of the declaration or of the authorisation, and the last day of the latter.
    number text,
    valid_until date,
    began_at timestamptz NOT NULL,
    begun_by text NOT NULL,
    reason text NOT NULL,
    ended_at timestamptz,
    ended_by text,
    end_reason text,
    CONSTRAINT mode_periods_pk PRIMARY KEY (tenant_id, period_id),
    CONSTRAINT mode_periods_mode_known CHECK (mode IN ('offline', 'contingency', 'deferred')),
    CONSTRAINT mode_periods_numbered CHECK (mode = 'offline' OR number IS NOT NULL),
    CONSTRAINT mode_periods_in_order CHECK (ended_at >= began_at),
    CONSTRAINT mode_periods_ended_by_someone CHECK ((ended_at IS NULL) = (ended_by IS NULL))
);

CREATE UNIQUE INDEX mode_periods_one_at_a_time ON mode_periods (tenant_id, environment) WHERE ended_at IS NULL;

ALTER TABLE mode_periods ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant ON mode_periods TO fe_operator USING (true);
CREATE POLICY every_tenant_read ON mode_periods FOR SELECT TO fe_worker, fe_readonly USING (true);
CREATE POLICY own_tenant ON mode_periods TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT, UPDATE ON mode_periods TO fe_front, fe_portal, fe_operator;
GRANT SELECT ON mode_periods TO fe_worker, fe_readonly;

-- The times in which a circuit was open. They belong to no tenant.
CREATE TABLE authority_outages (
    environment environment NOT NULL,
    host host NOT NULL,
    began_at timestamptz NOT NULL,
    ended_at timestamptz,
    reason text NOT NULL,
    CONSTRAINT authority_outages_pk PRIMARY KEY (environment, host, began_at)
);

INSERT INTO authority_outages (environment, host, began_at, reason)
SELECT
    c.environment,
    c.host,
    c.since,
    c.reason
  FROM circuits AS c
 WHERE c.is_open;

-- Our exchanges with each service of the authority, by five minutes, over all processes. They belong to no tenant.
CREATE TABLE authority_health (
    environment environment NOT NULL,
    service text COLLATE "C" NOT NULL,
    began_at timestamptz NOT NULL,
    answered bigint NOT NULL,
    failed bigint NOT NULL,
    -- Of those that were answered.
    milliseconds bigint NOT NULL,
    slowest_milliseconds bigint NOT NULL,
    CONSTRAINT authority_health_pk PRIMARY KEY (environment, service, began_at)
) WITH (fillfactor = 70);

GRANT SELECT, INSERT, UPDATE, DELETE ON authority_health TO fe_worker;
GRANT SELECT, INSERT, UPDATE ON authority_outages TO fe_worker;
GRANT SELECT ON authority_health, authority_outages TO fe_front, fe_portal, fe_operator, fe_readonly;

-- Two more events that an endpoint can select. The release before selects neither.
ALTER TABLE webhook_endpoints DROP CONSTRAINT webhook_endpoints_events_known;
ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_events_known CHECK (
    cardinality(events) > 0 AND events <@ ARRAY[
    'received_ecf', 'submission.accepted', 'submission.conditional', 'submission.rejected', 'submission.error',
    'sequence.low', 'sequence.expiring', 'certificate.expiring', 'recurring.preview', 'recurring.held',
    'authority.down', 'authority.up'
    ]
);
