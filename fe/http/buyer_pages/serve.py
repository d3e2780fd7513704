"""The buyers' page as a process runs it: built from the settings, and served until the process stops."""

import socket
from collections.abc import Sequence

import trio

from fe.accounts.certifiers import read_certifiers
from fe.config import read_networks
from fe.http.buyer_pages.app import ShareDeps, create_share
from fe.http.server.listener import serve_http
from fe.queue.service_context import ServiceContext
from fe.store.postgres.db import Database


async def run_share(
    context: ServiceContext,
    db: Database,
    listeners: Sequence[socket.socket],
    *,
    task_status: trio.TaskStatus[list[socket.socket]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Answer buyers on `listeners` until the service stops, then for the grace period. Raises ConfigError."""
    settings = context.settings
    deps = ShareDeps(
        db=db,
        metrics=context.metrics,
        roots=read_certifiers(settings.certifiers_file),
        trusted_proxies=read_networks(settings.trusted_proxies),
    )
    stopping = context.supervisor.stopping
    await serve_http(create_share(deps), listeners, settings=settings, shutdown=stopping, task_status=task_status)
