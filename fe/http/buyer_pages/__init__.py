"""The buyer's page of a shared receipt, with a listener, limits and a database role of its own."""
