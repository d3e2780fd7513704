"""The composition root: everything is built here, started here, and stopped here. Read it top to bottom.

The HTTP front is put together in fe/http/app.py, the actors in fe/actors/run.py, reception in fe/reception.py.
"""

import math
import os
from functools import partial

import structlog
import trio

from fe import __version__, failpoints
from fe.actors.credentials import SigningCredentials
from fe.actors.run import run_actors
from fe.clock import clock_ahead
from fe.config import Settings
from fe.ecf import libxml, schema
from fe.hardening import close_memory, keep_from_children
from fe.hsm import open_vault, require_usable
from fe.http.app import HttpDeps, create_app
from fe.http.server.listener import serve_http
from fe.monitoring.log import configure_logging
from fe.monitoring.metrics import Metrics, serve_metrics
from fe.monitoring.observers import heartbeat, keep_house, watch_outbox
from fe.processes import Listeners, collect_rarely, run_processes, stop_on_signal
from fe.queue.supervisor import Supervisor
from fe.reception import Acknowledgers, read_roots, reception_from_settings, require_receivable
from fe.start_checks import require_startable
from fe.store.postgres.embedded import start_embedded
from fe.store.postgres.migrate import verify
from fe.store.postgres.pools import LISTENING, open_pools
from fe.store.postgres.roles import FRONT, RECEPTION, WORKER
from fe.store.queue.wakeups import Wakeups
from fe.store.verdict_notices import VerdictNotices
from fe.vault import Vault

_log = structlog.get_logger(__name__)

#: What a process may do, and the roles it takes in the database for it.
ROLES = {"http": (FRONT,), "actors": (WORKER,), "receive": (RECEPTION,), "all": (FRONT, WORKER)}


def run_service(settings: Settings, *, role: str, processes: int) -> int:
    """Run the service until SIGTERM or SIGINT; return the exit code.

    Raises LibxmlMismatch, ConfigError, or what `verify` raises, before anything is started.
    """
    libxml.require_one_libxml2()
    require_startable(settings)
    if not settings.dumpable:
        close_memory()
    if role == "http":
        settings = settings.without_key_encryption_key()
    configure_logging(settings.log_level)
    keep_from_children()
    failpoints.arm(settings.failpoint)
    if role in ("receive", "all"):
        require_receivable(settings, must=role == "receive")
    if role in ("actors", "all") and settings.reception_roots is not None:
        read_roots(settings)  # whose acknowledgements are believed
    roles = database_roles(settings, role)
    dsn = settings.database_url or start_embedded(settings.data_dir.resolve() / "postgres")
    connections = processes * (len(roles) * settings.database_connections + LISTENING)
    no_others = not (settings.development or settings.database_shared_login)
    verify(dsn, *roles, connections=connections, no_others=no_others)
    vault = None if role == "http" else open_vault(settings)
    listeners = Listeners.open(settings, role, processes)
    schema.prepare()

    def start(index: int) -> None:
        if vault is not None:
            require_usable(vault)  # here: a token is opened by each process for itself
        collect_rarely()
        trio.run(serve, settings, dsn, role, vault, listeners.of_process(index))

    if processes > 1:
        return run_processes(processes, start, grace=settings.grace_seconds)
    start(0)
    return 0


def database_roles(settings: Settings, role: str) -> tuple[str, ...]:
    """Tell which roles a process takes in the database; the one of reception only where suppliers are received."""
    return (*ROLES[role], RECEPTION) if role == "all" and settings.reception_bind else ROLES[role]


async def serve(settings: Settings, dsn: str, role: str, vault: Vault | None, listeners: Listeners) -> None:
    """Run one process of the service: the HTTP front and the actors side by side in our own nursery.

    Returns after a clean stop. What cannot be borne comes out as an exception group and ends the process.
    """
    stopping, clock, metrics = trio.Event(), clock_ahead(settings.clock_offset), Metrics()
    metrics.up.labels(role, __version__).set(1)
    supervisor = Supervisor(metrics, stopping)
    with serve_metrics(metrics, listeners.metrics) as metrics_port:
        async with (
            open_pools(
                dsn,
                database_roles(settings, role),
                max_size=settings.database_connections,
                driver=settings.database_driver,
                observe_wait=metrics.pool_wait.observe,
            ) as pools,
            trio.open_nursery() as watch,
        ):
            db = pools.get(WORKER) or pools.get(FRONT) or pools[RECEPTION]  # for what each may do
            wakeups, verdicts = Wakeups(db), VerdictNotices(db)
            metrics.notifications_heard.set_function(lambda: math.nan if wakeups.heard is None else wakeups.heard)
            await watch.start(stop_on_signal, stopping, settings.grace_seconds)
            supervisor.start(watch, "heartbeat", heartbeat, metrics)
            if role != "receive":
                supervisor.start(watch, "wakeups", wakeups.run)
                supervisor.start(watch, "verdicts", verdicts.run)
                supervisor.start(watch, "outbox watch", watch_outbox, db, metrics)
            if WORKER in pools:
                supervisor.start(watch, "housekeeping", keep_house, pools[WORKER], clock)
            async with trio.open_nursery() as work:
                if WORKER in pools and vault is not None:
                    work.start_soon(run_actors, settings, pools[WORKER], vault, wakeups, verdicts, clock, supervisor)
                if listeners.http:
                    deps = HttpDeps.from_settings(
                        settings, db=pools[FRONT], wakeups=wakeups, verdicts=verdicts, clock=clock, metrics=metrics
                    )
                    front = create_app(deps)
                    work.start_soon(partial(serve_http, front, listeners.http, settings=settings, shutdown=stopping))
                if RECEPTION in pools and vault is not None:
                    signers = Acknowledgers(SigningCredentials(pools[RECEPTION], vault, trio.CapacityLimiter(1)))
                    supervisor.start(watch, "reception keys", signers.credentials.forget_in_time)
                    reception = reception_from_settings(settings, pools[RECEPTION], vault, signers, clock, metrics)
                    work.start_soon(
                        partial(serve_http, reception, listeners.reception, settings=settings, shutdown=stopping)
                    )
                _log.info("serving", role=role, pid=os.getpid(), **listeners.addresses(metrics_port))
                await stopping.wait()
                _log.info("stopping", grace=settings.grace_seconds)
                work.cancel_scope.deadline = trio.current_time() + settings.grace_seconds
            watch.cancel_scope.cancel()
    _log.info("stopped", role=role)
