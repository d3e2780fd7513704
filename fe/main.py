"""The composition root: everything is built here, started here, and stopped here. Read it top to bottom.

The HTTP front is put together in fe/http/front.py, the actors in fe/actors/run.py, the portal in
fe/portal/serve.py, and reception below.
"""

import json
import math
import os
import socket
from collections.abc import Sequence

import structlog
import trio

from fe import __version__
from fe.actors.credentials import CannotOpen, SigningCredentials
from fe.actors.run import run_actors
from fe.clock import Clock, ClockCheck, ClockFault, clock_ahead, no_fault
from fe.config import Settings, read_networks, without_env_files
from fe.config.start_checks import read_certifiers, require_front, require_portal, require_startable, require_trust
from fe.ecf import libxml, schema
from fe.ecf.signature import Signer
from fe.http.front import run_front
from fe.http.reception.app import ReceptionDeps, create_reception
from fe.http.server.listener import serve_http
from fe.identifiers import CertificateId, TenantId
from fe.monitoring.initial_series import initialize_series
from fe.monitoring.log import configure_logging
from fe.monitoring.metrics import Metrics, serve_metrics
from fe.monitoring.observers import heartbeat, maintain_partitions, watch_database, watch_outbox, watch_writing
from fe.monitoring.tracing import open_tracing, require_tracing
from fe.portal.serve import run_portal
from fe.process import failpoints
from fe.process.hardening import close_memory, keep_from_children
from fe.process.open_files import open_as_many_as_allowed
from fe.process.parent_watch import obey
from fe.process.supervise import ProcessFiles
from fe.process.workers import Listeners, become_parent, collect_rarely, stop_on_signal
from fe.queue.direct_intake import DirectIntake
from fe.queue.supervisor import Supervisor
from fe.receiving.assess import Trust
from fe.receiving.receive import CannotAcknowledge
from fe.receiving.sessions import SESSIONS, derive_keys
from fe.secrets.hsm import open_vault, require_usable
from fe.secrets.vault import Vault
from fe.store.citus.nodes import require_node
from fe.store.postgres.clocks import require_clock
from fe.store.postgres.db import Database
from fe.store.postgres.embedded import start_embedded, started_here
from fe.store.postgres.engine import POSTGRES, engine_named
from fe.store.postgres.migrate import verify, verify_node
from fe.store.postgres.pools import ASKING, CLAIMING, LISTENING, open_near, open_pools
from fe.store.postgres.roles import FRONT, PORTAL, RECEPTION, WORKER, database_roles
from fe.store.queue.outbox import Work
from fe.store.queue.wakeups import Wakeups
from fe.store.records.verdict_notices import VerdictNotices

_log = structlog.get_logger(__name__)


def run_service(settings: Settings, *, role: str, processes: int | None = None, worker: str | None = None) -> int:
    """Run the service until SIGTERM or SIGINT; return the exit code.

    With `processes` this process checks everything, then becomes the parent of that many workers
    (fe/process/supervise.py); `worker` is what that parent passes to each. Raises LibxmlMismatch, ConfigError,
    ClockWrong, or an error of `verify`, before anything is started.
    """
    given = None if worker is None else ProcessFiles(**json.loads(worker))
    environ = without_env_files(os.environ)
    libxml.require_one_libxml2()
    require_startable(settings)
    open_as_many_as_allowed()
    if not settings.dumpable:
        close_memory()
    if role == "http":
        settings = settings.without_key_encryption_key()
    configure_logging(settings.log_level)
    keep_from_children()
    failpoints.arm(settings.failpoint)
    require_tracing(settings)
    require_front(settings, role)
    require_trust(settings, role)
    require_portal(settings, role)
    roles = database_roles(settings, role)
    dsn = settings.database_url or start_embedded(settings.data_dir.resolve() / "postgres")
    no_others = not (settings.development or settings.database_shared_login)
    engine = engine_named(settings.database_engine)
    asking = ASKING if engine.distributed else 0
    siblings = 1 if processes is None or given is not None else processes
    connections = siblings * (len(roles) * (settings.database_connections + asking) + LISTENING)
    verify(dsn, *roles, connections=connections, no_others=no_others, engine=engine)
    require_clock(dsn, clock_ahead(settings.clock_offset))
    near = settings.database_near if WORKER in roles else None
    if near is not None:
        require_node(dsn, near)
        verify_node(near, WORKER, connections=siblings * (CLAIMING + asking), no_others=no_others, engine=engine)
    vault = None if role == "http" else open_vault(settings)
    listeners = Listeners.open(settings, role, siblings) if given is None else Listeners.inherited(given)
    if processes is not None and given is None:
        return become_parent(listeners, settings, environ, started_here())
    schema.prepare()
    if given is not None:
        obey(given.parent)  # a thread: not before all schemas are compiled
    if vault is not None:
        require_usable(vault)
    collect_rarely()
    trio.run(serve, settings, dsn, role, vault, listeners, None if given is None else given.ready)
    return 0


async def serve(
    settings: Settings, dsn: str, role: str, vault: Vault | None, listeners: Listeners, ready: int | None = None
) -> None:
    """Run one process of the service: the HTTP front and the actors side by side in our own nursery.

    A byte is written to the file `ready` when it serves. Returns after a clean stop.
    What cannot be borne comes out as an exception group and ends the process.
    """
    stopping, clock, metrics = trio.Event(), clock_ahead(settings.clock_offset), Metrics()
    check = ClockCheck(clock)
    initialize_series(metrics)
    metrics.up.labels(role, __version__).set(1)
    supervisor = Supervisor(metrics, stopping)
    with serve_metrics(metrics, listeners.metrics[0]):
        async with (
            open_pools(dsn, database_roles(settings, role), settings, observe_wait=metrics.pool_wait.observe) as pools,
            open_near(settings, database_roles(settings, role)) as node,
            open_tracing(settings, role, metrics) as tracing,
            trio.open_nursery() as watch,
        ):
            # For what each may do.
            db = next(pools[each] for each in (WORKER, FRONT, PORTAL, RECEPTION) if each in pools)
            wakeups, verdicts = Wakeups(db), VerdictNotices(db)
            metrics.notifications_heard.set_function(lambda: math.nan if wakeups.heard is None else wakeups.heard)
            await watch.start(stop_on_signal, stopping, settings.grace_seconds)
            supervisor.start(watch, "heartbeat", heartbeat, metrics)
            supervisor.start(watch, "database watch", watch_database, db, check, metrics)
            if role != "receive":
                supervisor.start(watch, "wakeups", wakeups.run)
                supervisor.start(watch, "verdicts", verdicts.run)
            if FRONT in pools or WORKER in pools:
                supervisor.start(watch, "outbox watch", watch_outbox, db, metrics, WORKER in pools)
            if FRONT in pools:
                supervisor.start(watch, "write watch", watch_writing, pools[FRONT], metrics)
            if WORKER in pools:
                supervisor.start(watch, "housekeeping", maintain_partitions, pools[WORKER], clock)
            # From what is taken in here to the signers, where they are here, too.
            intake = DirectIntake[Work]() if engine_named(settings.database_engine) is POSTGRES else None
            async with trio.open_nursery() as work:
                shared = wakeups, verdicts, clock, supervisor, tracing
                fault = check.fault
                if WORKER in pools and vault is not None:
                    work.start_soon(run_actors, settings, pools[WORKER], vault, *shared, intake, node, fault)
                if listeners.http:
                    await work.start(run_front, settings, pools[FRONT], *shared, listeners.http, intake, fault)
                if RECEPTION in pools and vault is not None:
                    await work.start(
                        run_reception, settings, pools[RECEPTION], vault, clock, supervisor, listeners.reception, fault
                    )
                if PORTAL in pools and vault is not None:
                    await work.start(run_portal, settings, pools, vault, *shared, listeners.portal, fault)
                _log.info("serving", role=role, pid=os.getpid(), **listeners.addresses())
                if ready is not None:
                    os.write(ready, b"1")
                    os.close(ready)
                await stopping.wait()
                _log.info("stopping", grace=settings.grace_seconds)
                work.cancel_scope.deadline = trio.current_time() + settings.grace_seconds
            watch.cancel_scope.cancel()
    _log.info("stopped", role=role)


class Acknowledgers:
    """What acknowledgements are signed with: the actors' cache of opened certificates, with reception's own rights."""

    def __init__(self, credentials: SigningCredentials) -> None:
        self.credentials = credentials

    async def __call__(self, tenant_id: TenantId, certificate_id: CertificateId) -> Signer:
        """Give what signs with a certificate. Raises CannotAcknowledge, DatabaseUnavailable, or a VaultError."""
        try:
            return (await self.credentials.get(tenant_id, certificate_id)).signer
        except CannotOpen as cannot:
            raise CannotAcknowledge(f"tenant {tenant_id}: {cannot}") from cannot


async def run_reception(
    settings: Settings,
    db: Database,
    vault: Vault,
    clock: Clock,
    supervisor: Supervisor,
    listeners: Sequence[socket.socket],
    clock_fault: ClockFault = no_fault,
    *,
    task_status: trio.TaskStatus[list[socket.socket]] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Answer suppliers on `listeners` until `supervisor.stopping`, and then for as long as the grace.

    Nothing is acknowledged while there is a `clock_fault`. `started` says that they are answered. Raises ConfigError.
    """
    credentials = SigningCredentials(db, vault, trio.CapacityLimiter(1))
    app = create_reception(
        ReceptionDeps(
            db=db,
            signers=Acknowledgers(credentials),
            trust=Trust(read_certifiers(settings)),
            keys=derive_keys(vault.roots(SESSIONS)),
            clock=clock,
            metrics=supervisor.metrics,
            in_flight=settings.reception_in_flight,
            threads=settings.reception_threads,
            calls_per_second=settings.reception_calls_per_second,
            trusted_proxies=read_networks(settings.trusted_proxies),
            clock_fault=clock_fault,
        )
    )
    async with trio.open_nursery() as beside:
        supervisor.start(beside, "reception keys", credentials.forget_in_time)
        await serve_http(app, listeners, settings=settings, shutdown=supervisor.stopping, task_status=task_status)
        beside.cancel_scope.cancel()
