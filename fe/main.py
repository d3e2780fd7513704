"""The composition root: builds, starts and stops every part of a process. Read it top to bottom.

A process comes here from fe/cli/start.py, which checks settings and database first.
The HTTP front is put together in fe/http/front.py, the actors in fe/actors/run.py, the portal in
fe/portal/serve.py, the buyers' page in fe/http/buyer_pages/serve.py, and reception below.
"""

import math
import os
import socket
from collections.abc import Mapping, Sequence
from datetime import datetime

import structlog
import trio

from fe import __version__
from fe.actors.credentials import CannotOpen, SigningCredentials
from fe.actors.partition_maintenance import maintain_partitions
from fe.actors.run import run_actors
from fe.clock import ClockCheck, clock_ahead
from fe.config import Settings, read_networks
from fe.config.start_checks import read_certifiers
from fe.ecf.signature import Signer
from fe.http.buyer_pages.serve import run_share
from fe.http.front import run_front
from fe.http.reception.app import ReceptionDeps, create_reception
from fe.http.server.listener import serve_http
from fe.identifiers import CertificateId, TenantId
from fe.issuing.certification_runs import Dispatch
from fe.monitoring.initial_series import initialize_series
from fe.monitoring.metrics import Metrics, serve_metrics
from fe.monitoring.observers import heartbeat, watch_database, watch_outbox, watch_writing
from fe.monitoring.service_status import StatusRecorder
from fe.monitoring.tracing_setup import open_tracing
from fe.portal.serve import run_portal
from fe.process.workers import Listeners, stop_on_signal
from fe.queue.direct_intake import DirectIntake
from fe.queue.service_context import ServiceContext
from fe.queue.supervisor import Supervisor
from fe.receiving.assess import Trust
from fe.receiving.receive import CannotAcknowledge
from fe.receiving.seeds_and_tokens import SESSIONS, derive_keys
from fe.secrets.vault import Vault
from fe.store.engines import engine_named
from fe.store.postgres.clocks import compare_clocks_first
from fe.store.postgres.db import Database
from fe.store.postgres.engine import POSTGRES
from fe.store.postgres.pools import open_near, open_pools
from fe.store.postgres.roles import FRONT, PORTAL, RECEPTION, SHARE, WORKER, database_roles
from fe.store.queue.wakeups import Wakeups
from fe.store.records.verdict_notices import VerdictNotices

_log = structlog.get_logger(__name__)


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
