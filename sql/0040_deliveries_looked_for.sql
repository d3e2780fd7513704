-- What people look for among deliveries, where most of them are not meant: what was not delivered, what tells of one receipt,
-- and events of any kind but the one that a tenant has most of (fe/store/webhooks/deliveries.py).

CREATE INDEX webhook_deliveries_not_delivered ON webhook_deliveries (tenant_id, stage, subject)
WHERE stage IN ('failed', 'held');

CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (tenant_id, event_id);

CREATE INDEX webhook_events_about ON webhook_events (tenant_id, about);

CREATE INDEX webhook_events_of_a_kind ON webhook_events (tenant_id, kind, event_id) WHERE kind <> 'submission.accepted';
