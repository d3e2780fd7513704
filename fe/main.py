"""The composition root: builds, starts and stops every part of a process. Read it top to bottom.

The HTTP front is put together in fe/http/front.py, the actors in fe/actors/run.py, the portal in
fe/portal/serve.py, the buyers' page in fe/http/buyer_pages/serve.py, and reception below.
"""

import json
import math
import os
import socket
from collections.abc import Mapping, Sequence
from datetime import datetime

import structlog
import trio

from fe import __version__
from fe.actors.credentials import CannotOpen, SigningCredentials
from fe.actors.run import run_actors
from fe.clock import ClockCheck, clock_ahead
from fe.config import Settings, read_networks, without_env_files
from fe.config.start_checks import (
    read_certifiers,
    require_front,
    require_portal,
    require_share,
    require_startable,
    require_trust,
)
from fe.ecf import libxml, schema
from fe.ecf.signature import Signer
from fe.http.buyer_pages.serve import run_share
from fe.http.front import run_front
from fe.http.reception.app import ReceptionDeps, create_reception
from fe.http.server.listener import serve_http
from fe.identifiers import CertificateId, TenantId
from fe.issuing.certification_runs import Dispatch
from fe.monitoring.initial_series import initialize_series
from fe.monitoring.log import configure_logging
from fe.monitoring.metrics import Metrics, serve_metrics
from fe.monitoring.observers import (
    heartbeat,
    maintain_partitions,
    watch_database,
    watch_outbox,
    watch_writing,
)
from fe.monitoring.service_status import StatusRecorder
from fe.monitoring.tracing_setup import open_tracing, require_tracing
from fe.portal.serve import run_portal
from fe.process import failpoints
from fe.process.hardening import close_memory, keep_from_children
from fe.process.open_files import open_as_many_as_allowed
from fe.process.parent_watch import obey
from fe.process.supervise import ProcessFiles
from fe.process.workers import Listeners, become_parent, collect_rarely, stop_on_signal
from fe.queue.direct_intake import DirectIntake
from fe.queue.service_context import ServiceContext
from fe.queue.supervisor import Supervisor
from fe.receiving.assess import Trust
from fe.receiving.receive import CannotAcknowledge
from fe.receiving.sessions import SESSIONS, derive_keys
from fe.secrets.hsm import open_vault, require_usable
from fe.secrets.vault import Vault
from fe.store.engines import engine_named
from fe.store.postgres.clocks import compare_clocks_first, require_clock
from fe.store.postgres.db import Database
from fe.store.postgres.embedded import start_embedded, started_here
from fe.store.postgres.engine import POSTGRES
from fe.store.postgres.migrate import verify, verify_node
from fe.store.postgres.pools import ASKING, CLAIMING, LISTENING, open_near, open_pools
from fe.store.postgres.roles import FRONT, PORTAL, RECEPTION, SHARE, WORKER, database_roles
from fe.store.queue.wakeups import Wakeups
from fe.store.records.verdict_notices import VerdictNotices

_log = structlog.get_logger(__name__)

#: Roles that open no certificate.
_WITHOUT_KEYS = ("http", "share")


def run_service(settings: Settings, *, role: str, processes: int | None = None, worker: str | None = None) -> int:
    """Run the service until SIGTERM or SIGINT; return the exit code.

    With `processes` this process checks everything, then becomes the parent of that many workers
    (fe/process/supervise.py); `worker` is what that parent passes to each. Raises LibxmlMismatch, ConfigError,
    ClockWrong, or an error of `verify`, before anything is started.
    """
    given = None if worker is None else ProcessFiles(**json.loads(worker))
    is_parent = processes is not None and given is None
    siblings = processes if processes is not None and given is None else 1
    environ = without_env_files(os.environ)

    settings = _prepare_process(settings, role)
    _require_settings(settings, role)
    dsn = settings.database_url or start_embedded(settings.data_dir.resolve() / "postgres")
    _require_databases(settings, role, dsn, siblings)
    vault = None if role in _WITHOUT_KEYS else open_vault(settings)
    listeners = Listeners.open(settings, role, siblings) if given is None else Listeners.inherited(given)
    if is_parent:
        return become_parent(listeners, settings, environ, started_here())

    schema.prepare()
    if given is not None:
        obey(given.parent)  # a thread: not before all schemas are compiled
    if vault is not None:
        require_usable(vault)
    collect_rarely()
    trio.run(serve, settings, dsn, role, vault, listeners, None if given is None else given.ready)
    return 0


def _prepare_process(settings: Settings, role: str) -> Settings:
    """Harden this process and set up its log; return its settings without keys that its role does not need."""
    libxml.require_one_libxml2()
    require_startable(settings)
    open_as_many_as_allowed()
    if not settings.dumpable:
        close_memory()
    configure_logging(settings.log_level)
    keep_from_children()
    failpoints.arm(settings.failpoint)
    return settings.without_key_encryption_key() if role in _WITHOUT_KEYS else settings


def _require_settings(settings: Settings, role: str) -> None:
    """Check the settings of a role. Raises ConfigError."""
    require_tracing(settings)
    require_front(settings, role)
    require_trust(settings, role)
    require_portal(settings, role)
    require_share(settings, role)


def _require_databases(settings: Settings, role: str, dsn: str, siblings: int) -> None:
    """Check schema, roles, number of connections and clock of the database, and of the node to claim from."""
    roles = database_roles(settings, role)
    engine = engine_named(settings.database_engine)
    no_others = not (settings.development or settings.database_shared_login)
    asking = ASKING if engine.nodes else 0
    connections = siblings * (len(roles) * (settings.database_connections + asking) + LISTENING)
    verify(dsn, *roles, connections=connections, no_others=no_others, engine=engine)
    require_clock(dsn, clock_ahead(settings.clock_offset))
    if settings.database_near is not None and WORKER in roles:
        from fe.store.citus.nodes import require_node

        require_node(dsn, settings.database_near)
        connections = siblings * (CLAIMING + asking)
        verify_node(settings.database_near, WORKER, connections=connections, no_others=no_others, engine=engine)


async def serve(
    settings: Settings, dsn: str, role: str, vault: Vault | None, listeners: Listeners, ready: int | None = None
) -> None:
    """Run one process of the service: HTTP front, actors, portal, reception and buyers' page, as its role says.

    Writes a byte to the file descriptor `ready` once it serves. Returns after a clean stop. A failure that no
    supervisor handles ends the process as an exception group.
    """
    stopping, clock, metrics = trio.Event(), clock_ahead(settings.clock_offset), Metrics()
    initialize_series(metrics)
    metrics.up.labels(role, __version__).set(1)
    check, supervisor = ClockCheck(clock), Supervisor(metrics, stopping)
    roles, engine = database_roles(settings, role), engine_named(settings.database_engine)
    with serve_metrics(metrics, listeners.metrics[0]):
        async with (
            open_pools(dsn, roles, settings, engine, observe_wait=metrics.pool_wait.observe) as pools,
            open_near(settings, roles, engine) as node,
            open_tracing(settings, role, metrics) as tracing,
            trio.open_nursery() as watch,
        ):
            db = next(pools[each] for each in (WORKER, FRONT, PORTAL, RECEPTION, SHARE) if each in pools)
            context = ServiceContext(
                settings=settings,
                clock=clock,
                supervisor=supervisor,
                wakeups=Wakeups(db),
                verdicts=VerdictNotices(db),
                tracing=tracing,
                clock_fault=check.fault,
                intake=DirectIntake() if engine is POSTGRES else None,
            )
            await watch.start(stop_on_signal, stopping, settings.grace_seconds)
            await compare_clocks_first(db, check)
            _start_watches(watch, context, role, db, pools, check)
            async with trio.open_nursery() as work:
                if WORKER in pools and vault is not None:
                    work.start_soon(run_actors, context, pools[WORKER], vault, _rehearse, node)
                if listeners.http:
                    await work.start(run_front, context, pools[FRONT], listeners.http)
                if RECEPTION in pools and vault is not None:
                    await work.start(run_reception, context, pools[RECEPTION], vault, listeners.reception)
                if PORTAL in pools and vault is not None:
                    await work.start(run_portal, context, pools, vault, listeners.portal)
                if SHARE in pools:
                    await work.start(run_share, context, pools[SHARE], listeners.share)
                _log.info("serving", role=role, pid=os.getpid(), **listeners.addresses())
                if ready is not None:
                    os.write(ready, b"1")
                    os.close(ready)
                await stopping.wait()
                _log.info("stopping", grace=settings.grace_seconds)
                work.cancel_scope.deadline = trio.current_time() + settings.grace_seconds
            watch.cancel_scope.cancel()
    _log.info("stopped", role=role)


async def _rehearse(documents: Sequence[Dispatch], now: datetime, taxpayer: str) -> Sequence[str | None]:
    """Send a simulation of the certification to a simulated authority in this process."""
    from fe.simulator.certification import rehearse_run  # late: the service starts without the simulator

    return (await rehearse_run(documents, now, taxpayer=taxpayer)).objections


def _start_watches(
    watch: trio.Nursery,
    context: ServiceContext,
    role: str,
    db: Database,
    pools: Mapping[str, Database],
    check: ClockCheck,
) -> None:
    """Start what a process runs beside its work: heartbeat, notifications, gauges, status, partition maintenance."""
    supervisor, metrics, wakeups = context.supervisor, context.metrics, context.wakeups
    metrics.notifications_heard.set_function(lambda: math.nan if wakeups.heard is None else wakeups.heard)
    supervisor.start(watch, "heartbeat", heartbeat, metrics)
    supervisor.start(watch, "database watch", watch_database, db, check, metrics)
    if role not in ("receive", "share"):
        supervisor.start(watch, "wakeups", wakeups.run)
        supervisor.start(watch, "verdicts", context.verdicts.run)
    if FRONT in pools or WORKER in pools:
        supervisor.start(watch, "outbox watch", watch_outbox, db, metrics, WORKER in pools)
    if FRONT in pools:
        supervisor.start(watch, "write watch", watch_writing, pools[FRONT], metrics)
    if FRONT in pools or WORKER in pools or RECEPTION in pools:
        recorder = StatusRecorder(
            db,
            context.clock,
            metrics,
            check.fault,
            front=pools.get(FRONT),
            reception=pools.get(RECEPTION),
            is_worker=WORKER in pools,
        )
        supervisor.start(watch, "status", recorder.run)
    if WORKER in pools:
        supervisor.start(watch, "housekeeping", maintain_partitions, pools[WORKER], context.clock)


class Acknowledgers:
    """Signers of acknowledgements: the actors' cache of opened certificates, with reception's own database rights."""

    def __init__(self, credentials: SigningCredentials) -> None:
        self.credentials = credentials

    async def __call__(self, tenant_id: TenantId, certificate_id: CertificateId) -> Signer:
        """Return the signer of a certificate. Raises CannotAcknowledge, DatabaseUnavailable, or a VaultError."""
        try:
            return (await self.credentials.get(tenant_id, certificate_id)).signer
        except CannotOpen as cannot:
            raise CannotAcknowledge(f"tenant {tenant_id}: {cannot}") from cannot


async def run_reception(
    context: ServiceContext,
    db: Database,
    vault: Vault,
    listeners: Sequence[socket.socket],
    *,
    task_status: trio.TaskStatus[list[socket.socket]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Answer suppliers on `listeners` until the service stops, then for the grace period. Raises ConfigError.

    Acknowledges nothing while there is a clock fault.
    """
    settings, supervisor = context.settings, context.supervisor
    credentials = SigningCredentials(db, vault, trio.CapacityLimiter(1))
    app = create_reception(
        ReceptionDeps(
            db=db,
            signers=Acknowledgers(credentials),
            trust=Trust(read_certifiers(settings)),
            keys=derive_keys(vault.roots(SESSIONS)),
            clock=context.clock,
            metrics=context.metrics,
            trusted_proxies=read_networks(settings.trusted_proxies),
            clock_fault=context.clock_fault,
        )
    )
    async with trio.open_nursery() as beside:
        supervisor.start(beside, "reception keys", credentials.forget_in_time)
        await serve_http(app, listeners, settings=settings, shutdown=supervisor.stopping, task_status=task_status)
        beside.cancel_scope.cancel()
