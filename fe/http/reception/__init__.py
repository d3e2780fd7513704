"""What suppliers, who are strangers, call, on a listener, limits and a database role of its own."""
