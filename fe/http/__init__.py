"""The public HTTP interface: who is calling, bytes to values and back, and the server around it."""
