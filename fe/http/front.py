"""The HTTP front as a process runs it: built from the settings, and served until the process stops."""

import socket
from collections.abc import Sequence

import trio

from fe.clock import Clock, ClockFault, no_fault
from fe.config import Settings
from fe.http.app import HttpDeps, create_app
from fe.http.server.listener import serve_http
from fe.monitoring.tracing import Tracing
from fe.queue.direct_intake import DirectIntake
from fe.queue.supervisor import Supervisor
from fe.store.postgres.db import Database
from fe.store.queue.outbox import Work
from fe.store.queue.wakeups import Wakeups
from fe.store.records.verdict_notices import VerdictNotices


async def run_front(
    settings: Settings,
    db: Database,
    wakeups: Wakeups,
    verdicts: VerdictNotices,
    clock: Clock,
    supervisor: Supervisor,
    tracing: Tracing,
    listeners: Sequence[socket.socket],
    intake: DirectIntake[Work] | None = None,
    clock_fault: ClockFault = no_fault,
    *,
    task_status: trio.TaskStatus[list[socket.socket]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Answer on `listeners` until `supervisor.stopping`, and then for as long as the grace. Raises ConfigError.

    What it takes in goes through `entrance` to the signers of this process, if there are any. `started` says that
    requests are answered.
    """
    deps = HttpDeps.from_settings(
        settings,
        db=db,
        wakeups=wakeups,
        verdicts=verdicts,
        clock=clock,
        metrics=supervisor.metrics,
        tracing=tracing,
        intake=intake,
        clock_fault=clock_fault,
    )
    app = create_app(deps)
    await serve_http(app, listeners, settings=settings, shutdown=supervisor.stopping, task_status=task_status)
