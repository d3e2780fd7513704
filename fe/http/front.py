"""The HTTP front as a process runs it: built from the settings, and served until the process stops."""

import socket
from collections.abc import Sequence

import trio

from fe.http.app import HttpDeps, create_app
from fe.http.server.listener import serve_http
from fe.queue.service_context import ServiceContext
from fe.store.postgres.db import Database


async def run_front(
    context: ServiceContext,
    db: Database,
    listeners: Sequence[socket.socket],
    *,
    task_status: trio.TaskStatus[list[socket.socket]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Answer on `listeners` until the service stops, then for the grace period. Raises ConfigError."""
    deps = HttpDeps.from_settings(
        context.settings,
        db=db,
        wakeups=context.wakeups,
        verdicts=context.verdicts,
        clock=context.clock,
        metrics=context.metrics,
        tracing=context.tracing,
        intake=context.intake,
        clock_fault=context.clock_fault,
    )
    app = create_app(deps)
    stopping = context.supervisor.stopping
    await serve_http(app, listeners, settings=context.settings, shutdown=stopping, task_status=task_status)
