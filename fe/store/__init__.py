"""Postgres: one module per aggregate, each SQL statement beside the typed function that runs it."""

import sys

# trio_asyncio replaces asyncio's way to find the running loop, and a psycopg that was imported before it keeps the old
# one and fails at every connection with "no running event loop".
if "psycopg" in sys.modules and "trio_asyncio" not in sys.modules:
    raise ImportError("import fe.store before psycopg: psycopg must find trio_asyncio's event loop")

import trio_asyncio as _trio_asyncio  # noqa: F401  (after the check, and for what importing it does)
