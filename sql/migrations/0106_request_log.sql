-- Failed requests (4xx, 5xx) of API keys, for integrators. A worker deletes rows after 30 days
-- (docs/decisions/retention.md). The fronts add rows in batches and bound them per key (fe/http/request_log.py).
CREATE TABLE request_log (
    tenant_id bigint NOT NULL,
    environment environment NOT NULL,
    -- A version-7 UUID of the moment of the answer.
    entry_id uuid NOT NULL,
    api_key_id text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    method text COLLATE "C" NOT NULL,
    route text COLLATE "C" NOT NULL,
    path text NOT NULL,
    status smallint NOT NULL,
    duration_ms int NOT NULL,
    message text,
    message_es text,
    -- The beginning of the body, secrets left out.
    body text,
    CONSTRAINT request_log_pk PRIMARY KEY (tenant_id, environment, entry_id),
    CONSTRAINT request_log_failed CHECK (status BETWEEN 400 AND 599),
    CONSTRAINT request_log_size CHECK (octet_length(body) <= 8192)
);

CREATE INDEX request_log_by_request ON request_log (tenant_id, request_id);
CREATE INDEX request_log_by_age ON request_log (entry_id);

ALTER TABLE request_log ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY every_tenant_read ON request_log FOR SELECT TO fe_worker, fe_operator, fe_readonly USING (true);
CREATE POLICY every_tenant_delete ON request_log FOR DELETE TO fe_worker USING (true);
CREATE POLICY own_tenant ON request_log TO fe_front, fe_portal
USING (tenant_id = nullif(current_setting('fe.tenant', true), '')::bigint);
GRANT SELECT, INSERT ON request_log TO fe_front;
GRANT SELECT, DELETE ON request_log TO fe_worker;
GRANT SELECT ON request_log TO fe_portal, fe_operator, fe_readonly;
