-- What is old is forgotten by key: the ids of events and deliveries begin with their moment (fe/store/queue/webhooks.py).
-- These two were made for housekeeping that looked at times; nothing reads them, and each event and each end wrote them.

DROP INDEX webhook_deliveries_finished;

DROP INDEX webhook_events_by_age;
