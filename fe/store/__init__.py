"""Postgres: how we speak to it, the queue's tables, and beside them one module for each kind of record."""
