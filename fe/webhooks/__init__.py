"""Webhooks: what is sent to a tenant's own system, signed, and when it is tried again (interface.md#events)."""
