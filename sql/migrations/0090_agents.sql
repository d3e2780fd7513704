-- Tills that sign while their line is down (docs/decisions/agents.md).

-- XML that keeps the signature it came with.
ALTER DOMAIN submission_format DROP CONSTRAINT submission_format_known;
ALTER DOMAIN submission_format ADD CONSTRAINT submission_format_known
CHECK (value IN ('xml', 'structured', 'signed')) NOT VALID;

-- The agent that alone gives the numbers of a sequence: the service draws none of them.
ALTER TABLE sequences ADD COLUMN agent_id uuid;
ALTER TABLE sequences ADD CONSTRAINT sequences_of_agents_rest CHECK (agent_id IS NULL OR NOT is_active);

CREATE TABLE agents (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    agent_id uuid NOT NULL,
    -- Raised by each lease: a copy of the agent's folder presents an older one.
    epoch bigint NOT NULL,
    -- Of the last request for a lease, so that it can be repeated when its answer was lost.
    nonce uuid NOT NULL,
    -- SHA-256 of the certificates that it signs with, in hexadecimal, the newest first.
    certificates text [] NOT NULL DEFAULT '{}',
    leased_at timestamptz NOT NULL,
    CONSTRAINT agents_pk PRIMARY KEY (tenant_id, environment, agent_id)
);

ALTER TABLE agents ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON agents TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
CREATE POLICY every_tenant_read ON agents FOR SELECT TO fe_operator, fe_readonly USING (true);
GRANT SELECT, INSERT, UPDATE ON agents TO fe_front;
GRANT SELECT ON agents TO fe_operator, fe_readonly;
