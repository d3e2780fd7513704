"""The traces of what a statement puts into the outbox: see sql/functions/submissions/take_trace.sql."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import psycopg

from fe.store.postgres.engine import Calling

_NAME_TRACES = "SELECT set_config('fe.traces', %s, true)"


async def execute_traced(
    cursor: psycopg.AsyncCursor[Any], calling: Calling, params: Mapping[str, Any], traces: Mapping[UUID, str]
) -> None:
    """Run a statement outside a transaction; rows that it puts into the outbox take their traces along, by subject.

    One round trip and one commit either way: both travel before the Sync that ends a pipeline, and are one transaction.
    """
    if not traces:
        await calling.run(cursor, params)
        return
    lines = "".join(f"\n{subject} {trace}" for subject, trace in traces.items())
    async with cursor.connection.pipeline():
        await cursor.connection.execute(_NAME_TRACES, (lines,))
        await cursor.execute(calling.statement, params)
