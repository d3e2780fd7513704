"""The room for strangers: what suppliers call, on a listener, limits and a database role of its own."""
