"""The composition root: everything is built here, started here, and stopped here. Read it top to bottom."""

import math
import os
import random
import secrets
import signal
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import structlog
import trio

from fe import __version__, failpoints
from fe.actors.credentials import SigningCredentials
from fe.actors.maintenance import honour_maintenance
from fe.actors.stages import authority_circuits, stages
from fe.authority.client import Authority, Timeouts
from fe.authority.hosts import Host, Hosts, Operation
from fe.clock import Clock, clock_ahead
from fe.config import Settings
from fe.ecf import libxml, schema
from fe.http.app import HttpDeps, create_app
from fe.http.server.listener import serve_http
from fe.monitoring.collectors import Collectors
from fe.monitoring.log import configure_logging
from fe.monitoring.metrics import Metrics, serve_metrics
from fe.monitoring.observers import heartbeat, keep_house, watch_outbox
from fe.processes import Listeners, run_processes
from fe.queue.executor import run_stage
from fe.queue.leases import watch_over
from fe.queue.pulse import Pulse
from fe.queue.stage import Tools
from fe.queue.supervisor import keep_running
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.embedded import start_embedded
from fe.store.postgres.migrate import OLDEST_SCHEMA, verify
from fe.store.postgres.roles import FRONT, WORKER
from fe.store.queue.wakeups import Wakeups
from fe.store.verdict_notices import VerdictNotices
from fe.vault import Vault

_log = structlog.get_logger(__name__)

ROLES = ("all", "http", "actors")

#: After the grace is over, cancelled work may take this long to book itself; then the process ends hard.
_LAST_SECONDS = 12.0

#: Ctrl-C reaches a process of several twice: from the terminal, and from its parent, which passes it on.
_ONE_CTRL_C = 1.0


def database_dsn(settings: Settings) -> str:
    """Where the database is; without FE_DATABASE_URL, the embedded one is started."""
    return settings.database_url or start_embedded(settings.data_dir.resolve() / "postgres")


def database_roles(role: str) -> tuple[str, ...]:
    """Tell what a process of this role takes in the database: one for its front, one for its actors."""
    return {"http": (FRONT,), "actors": (WORKER,), "all": (FRONT, WORKER)}[role]


def connections_of_process(settings: Settings, role: str) -> int:
    """Tell how many connections one process takes at most: its pools, and the three it listens on."""
    return len(database_roles(role)) * settings.database_connections + 3


def run_service(settings: Settings, *, role: str, processes: int) -> int:
    """Run the service until SIGTERM or SIGINT; return the exit code.

    Raises LibxmlMismatch, ConfigError, or what `verify` raises, before anything is started.
    """
    libxml.require_one_libxml2()
    configure_logging(settings.log_level)
    failpoints.arm(settings.failpoint)
    dsn = database_dsn(settings)
    connections = processes * connections_of_process(settings, role)
    if missing := verify(dsn, *database_roles(role), oldest=OLDEST_SCHEMA, connections=connections):
        _log.warning("the schema is that of the release before: `fe migrate` is still to be run", missing=missing)
    vault = None if role == "http" else Vault(settings.keks())
    listeners = Listeners.open(settings, role, processes)
    schema.prepare()

    def start(index: int) -> None:
        trio.run(serve, settings, dsn, role, vault, listeners.of_process(index))

    if processes > 1:
        return run_processes(processes, start, grace=settings.grace_seconds)
    start(0)
    return 0


async def serve(settings: Settings, dsn: str, role: str, vault: Vault | None, listeners: Listeners) -> None:
    """Run one process of the service: the HTTP front and the actors side by side in our own nursery.

    Returns after a clean stop. What cannot be borne comes out as an exception group and ends the process.
    """
    stopping = trio.Event()
    clock = clock_ahead(settings.clock_offset)
    metrics = Metrics()
    metrics.up.labels(role, __version__).set(1)
    with serve_metrics(metrics, listeners.metrics):
        async with open_pools(settings, dsn, role, metrics) as pools, trio.open_nursery() as watch:
            db = pools.get(WORKER) or pools[FRONT]  # for what either may do
            wakeups, verdicts = Wakeups(db), VerdictNotices(db)
            metrics.notifications_heard.set_function(lambda: math.nan if wakeups.heard is None else wakeups.heard)
            await watch.start(stop_on_signal, stopping, settings.grace_seconds + _LAST_SECONDS)
            for name, background in (
                ("wakeups", wakeups.run),
                ("verdicts", verdicts.run),
                ("heartbeat", partial(heartbeat, metrics)),
                ("outbox watch", partial(watch_outbox, db, metrics)),
            ):
                watch.start_soon(partial(_supervised, name, background, metrics, stopping))
            if WORKER in pools:
                chores = partial(keep_house, pools[WORKER], clock)
                watch.start_soon(partial(_supervised, "housekeeping", chores, metrics, stopping))
            async with trio.open_nursery() as work:
                if vault is not None:
                    work.start_soon(
                        run_actors, settings, pools[WORKER], wakeups, verdicts, clock, metrics, vault, stopping
                    )
                if listeners.http:
                    deps = HttpDeps.from_settings(
                        settings, db=pools[FRONT], wakeups=wakeups, verdicts=verdicts, clock=clock, metrics=metrics
                    )
                    front = create_app(deps)
                    work.start_soon(partial(serve_http, front, listeners.http, settings=settings, shutdown=stopping))
                _log.info("serving", role=role, pid=os.getpid())
                await stopping.wait()
                _log.info("stopping", grace=settings.grace_seconds)
                work.cancel_scope.deadline = trio.current_time() + settings.grace_seconds
            watch.cancel_scope.cancel()
    _log.info("stopped", role=role)


@asynccontextmanager
async def open_pools(settings: Settings, dsn: str, role: str, metrics: Metrics) -> AsyncIterator[dict[str, Database]]:
    """Open one pool for each role that the process takes in the database: front and actors share no connection."""
    async with AsyncExitStack() as pools:
        yield {
            taken: await pools.enter_async_context(
                open_database(
                    dsn,
                    max_size=settings.database_connections,
                    driver=settings.database_driver,
                    role=taken,
                    observe_wait=metrics.pool_wait.observe,
                )
            )
            for taken in database_roles(role)
        }


async def run_actors(
    settings: Settings,
    db: Database,
    wakeups: Wakeups,
    verdicts: VerdictNotices,
    clock: Clock,
    metrics: Metrics,
    vault: Vault,
    stopping: trio.Event,
) -> None:
    """Run every stage's actor side by side, each supervised, until they have finished what is in hand."""
    holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"

    def observe(operation: Operation, environment: str, host: Host, outcome: str, seconds: float) -> None:
        metrics.observe_authority(operation, environment, host, outcome, seconds)
        circuits.note(environment, host, outcome)

    authority = Authority(
        Hosts(settings.authority_ecf_url, settings.authority_fc_url, settings.authority_status_url),
        clock=clock,
        timeouts=Timeouts(answer=settings.authority_timeout),
        observe=observe,
    )
    circuits = authority_circuits(db, authority, metrics, scale=settings.time_scale)
    tools = Tools(
        db,
        wakeups,
        clock,
        metrics,
        lease=settings.lease,
        poll_seconds=settings.poll_seconds,
        holder=holder,
        spread=_jitter(),
        gate=circuits.gate,
    )
    credentials = SigningCredentials(db, vault, trio.CapacityLimiter(settings.sign_slots))
    pulse = Pulse(lease=settings.lease, scale=settings.time_scale)
    try:
        async with trio.open_nursery() as watch:
            watch.start_soon(_supervised, "circuits", circuits.run, metrics, stopping)
            watch.start_soon(_supervised, "keys", credentials.forget_in_time, metrics, stopping)
            rescue = partial(watch_over, db, wakeups, metrics, holder, pulse, scale=settings.time_scale)
            watch.start_soon(_supervised, "rescuer", rescue, metrics, stopping)
            watch.start_soon(_supervised, "stock watch", Collectors(db, clock, metrics).run, metrics, stopping)
            if settings.authority_status_key is not None:
                key = settings.authority_status_key.get_secret_value()
                honour = partial(honour_maintenance, db, authority, key, clock)
                watch.start_soon(_supervised, "maintenance", honour, metrics, stopping)
            async with trio.open_nursery() as actors:
                for stage in stages(settings, tools, authority, credentials, pulse, verdicts.notify):
                    run = partial(run_stage, stage, tools, stopping)
                    actors.start_soon(_supervised, stage.name, run, metrics, stopping)
            watch.cancel_scope.cancel()
    finally:
        authority.close()


async def _supervised(name: str, run: Callable[[], Awaitable[None]], metrics: Metrics, stopping: trio.Event) -> None:
    await keep_running(name, run, metrics=metrics, spread=_jitter(), stopping=stopping)


async def stop_on_signal(
    stopping: trio.Event, hard_after: float, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Set `stopping` at the first SIGTERM or SIGINT; end hard at the second, or `hard_after` seconds later.

    Ending hard is safe at every moment: what was in hand falls due again when its lease ends. The timer is a thread,
    because a client that does not read its answer can hold the event loop's own shutdown for ever.
    """
    stopped_at = -_ONE_CTRL_C
    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
        task_status.started()
        async for _ in signals:
            if trio.current_time() - stopped_at < _ONE_CTRL_C:
                continue
            if stopping.is_set():
                _log.warning("second signal: ending hard")
                os._exit(1)
            stopping.set()
            stopped_at = trio.current_time()
            last_resort = threading.Timer(hard_after, os._exit, (1,))
            last_resort.daemon = True
            last_resort.start()


def _jitter() -> random.Random:
    return random.Random()  # noqa: S311  (spreads waits; nothing secret hangs on it)
