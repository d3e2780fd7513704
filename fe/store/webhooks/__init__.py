"""Records of webhooks: endpoints and secrets, events, deliveries and tries, recoveries (sql/0021_webhooks.sql)."""
