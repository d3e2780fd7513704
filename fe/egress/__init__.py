"""HTTP client for calls out, with a policy of allowed addresses."""
