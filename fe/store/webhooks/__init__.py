"""Records of webhooks: endpoints and secrets, events, deliveries and tries, recoveries (sql/functions/webhooks)."""
