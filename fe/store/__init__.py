"""Postgres: one module per aggregate, each SQL statement beside the typed function that runs it."""

# Before psycopg is imported anywhere: trio_asyncio replaces asyncio's way to find the running loop, and a psycopg that
# was imported earlier keeps the old one and fails with "no running event loop".
import trio_asyncio as _trio_asyncio  # noqa: F401  (imported for what importing it does)
