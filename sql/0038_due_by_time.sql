-- What is due of many hosts is found by its time: who waits for a later try costs the others nothing
-- (fe/store/queue/host_lanes.py).

CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (stage, run_at);

CREATE INDEX counterparty_outbox_by_time ON counterparty_outbox (stage, run_at);
