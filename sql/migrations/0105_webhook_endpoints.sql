-- Several endpoints of an environment, told apart by their names. PUT /webhooks sets the one that is named default.
ALTER TABLE webhook_endpoints ADD COLUMN name text COLLATE "C" NOT NULL DEFAULT 'default';
ALTER TABLE webhook_endpoints ADD CONSTRAINT webhook_endpoints_name_form CHECK (name ~ '^[a-z0-9][a-z0-9-]{0,39}$');
DROP INDEX webhook_endpoints_of_environment;
CREATE UNIQUE INDEX webhook_endpoints_of_environment
ON webhook_endpoints (tenant_id, environment, name) NULLS NOT DISTINCT
WHERE removed_at IS NULL;
GRANT SELECT (name) ON webhook_endpoints TO fe_readonly;

-- Deliveries that a deleted endpoint did not get end as failed, and say why; the endpoint is forgotten after them.
GRANT UPDATE (last_error) ON webhook_deliveries TO fe_front, fe_portal, fe_operator;
GRANT DELETE ON webhook_endpoints TO fe_worker;
