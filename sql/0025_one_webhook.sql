-- A tenant is called at one address for each environment, and at one for all: what PUT /webhooks changes needs no other
-- name (the interface knows one target). Two that are made at once are one.

CREATE UNIQUE INDEX webhook_endpoints_of_environment
ON webhook_endpoints (tenant_id, environment) NULLS NOT DISTINCT
WHERE removed_at IS NULL;

-- What housekeeping looks for: deliveries that came to their end, the longest ended first; events by their age.
CREATE INDEX webhook_deliveries_finished ON webhook_deliveries (finished_at) WHERE finished_at IS NOT NULL;

CREATE INDEX webhook_events_by_age ON webhook_events (created_at);
