"""What Citus needs beside the schema: which tables are spread over the nodes, and functions of its own."""
