"""Additions to the schema for Citus: the list of distributed tables, and Citus' own functions."""
