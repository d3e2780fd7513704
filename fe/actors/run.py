"""What the actors of a process need is built here, and they are run: the stages, and what keeps watch beside them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
import trio

from fe.actors.charges import run_charges
from fe.actors.counterparty import CounterpartyHandlers, handing_kind, handing_stages
from fe.actors.credentials import SigningCredentials
from fe.actors.maintenance import honour_maintenance
from fe.actors.stages import authority_circuits, budget_of, parallel_input_reader, probe_of, stages
from fe.actors.webhooks import run_webhooks
from fe.actors.writers import submission_kind
from fe.authority.client import Authority, Timeouts
from fe.authority.gateway import OUTCOMES
from fe.authority.hosts import Host, Hosts, Operation, host_of
from fe.clock import Clock, ClockFault, no_fault
from fe.config import Settings
from fe.config.start_checks import holds_receipts, read_certifiers
from fe.counterparty.directory import Directory
from fe.counterparty.wire import Counterparties
from fe.ecf.catalogue import Environment
from fe.egress.configured import egress_from_settings
from fe.identifiers import TenantId
from fe.lifecycle import Stage
from fe.metering.aggregator import Aggregator
from fe.metering.billing import Biller
from fe.monitoring.collectors import Collectors
from fe.monitoring.initial_series import initialize_actor_series
from fe.monitoring.log import task_context
from fe.monitoring.submission_log import SubmissionLog
from fe.monitoring.tracing import OFF, Tracing
from fe.offload.pool import Apart, share_interpreter
from fe.queue.direct_intake import DirectIntake
from fe.queue.executor import run_stage
from fe.queue.lease_guard import LeaseGuard
from fe.queue.rescuer import run_rescuer
from fe.queue.result_writer import ResultWriter
from fe.queue.stage import StageContext, no_gate
from fe.queue.supervisor import Supervisor
from fe.secrets.vault import Vault
from fe.store.postgres.db import Database
from fe.store.queue.node_local_claims import NodeLocalClaims
from fe.store.queue.outbox import OUTBOX, Work
from fe.store.queue.tables import AnyTable
from fe.store.queue.wakeups import Wakeups
from fe.store.queue.webhooks import DELIVERIES, RECOVERIES
from fe.store.queue.workers import new_holder
from fe.store.records import charges
from fe.store.records.charges import CHARGES
from fe.store.records.counterparty import COUNTERPARTY_OUTBOX
from fe.store.records.verdict_notices import VerdictNotices
from fe.webhooks.secrets import webhook_vault

_log = structlog.get_logger(__name__)

#: So many keys are opened at once: each takes 45 ms of CPU the first time, and some 3 once a minute.
_OPENING = 2

#: Every queue table of this release: what silent workers held is freed in each. A new kind of work adds its own here
#: (docs/reference/queue-table.md).
QUEUE_TABLES: Sequence[AnyTable] = (OUTBOX, COUNTERPARTY_OUTBOX, DELIVERIES, RECOVERIES, CHARGES)


#: To the host of summaries: what its session depends on, which another host gives.
_SESSION = "session"


def tenant_at_work() -> TenantId | None:
    """Return whose row the current task tries."""
    done = task_context.get()
    return None if done is None else done[1].tenant_id


async def run_actors(
    settings: Settings,
    db: Database,
    vault: Vault,
    wakeups: Wakeups,
    verdicts: VerdictNotices,
    clock: Clock,
    supervisor: Supervisor,
    tracing: Tracing = OFF,
    intake: DirectIntake[Work] | None = None,
    node: Database | None = None,
    clock_fault: ClockFault = no_fault,
) -> None:
    """Run every stage's actor side by side, each supervised, until they have finished the work in flight.

    Nothing is signed while there is a `clock_fault`. What this process takes in comes through `entrance`, where there
    is one, straight to its signers. With a `node` of a cluster it claims the submissions that lie there, and no others.
    """
    share_interpreter()
    metrics, scale = supervisor.metrics, settings.time_scale
    initialize_actor_series(metrics, [(operation, host_of(operation)) for operation in Operation], OUTCOMES)
    holder = new_holder()
    circuits = authority_circuits(db, metrics, scale=scale)

    def observe(operation: Operation, environment: str, host: Host, outcome: str, seconds: float) -> None:
        metrics.observe_authority(operation, environment, host, outcome, seconds)
        tracing.exchange(f"authority {operation}", seconds, environment=environment, host=host, outcome=outcome)
        if operation is Operation.DIRECTORY:  # no receipt of ours waits for that
            return
        tenant_id = tenant_at_work()
        circuits.note(environment, host, outcome, service=operation, seconds=seconds, tenant_id=tenant_id)
        if operation is Operation.VALIDATE_SEED and outcome == "ok":
            circuits.note(environment, Host.FC, outcome, service=_SESSION, tenant_id=tenant_id)

    def without_session(environment: Environment, host: Host) -> None:
        """Of the host that gives sessions every exchange is noted above; another is not called without one."""
        if host is not host_of(Operation.SEED):
            circuits.note(environment, host, "unavailable", service=_SESSION, tenant_id=tenant_at_work())

    authority = Authority(
        Hosts(settings.authority_ecf_url, settings.authority_fc_url, settings.authority_status_url),
        clock=clock,
        timeouts=Timeouts(answer=settings.authority_timeout),
        observe=observe,
        without_session=without_session,
    )
    tools = StageContext(
        db,
        wakeups,
        clock,
        metrics,
        lease=settings.lease,
        poll_seconds=settings.poll_seconds,
        holder=holder,
        gate=circuits.gate,
    )
    # The circuits are the authority's: whom else we call has nothing to do with them.
    webhook_tools = replace(tools, gate=no_gate)
    credentials = SigningCredentials(db, vault, trio.CapacityLimiter(_OPENING), metrics, clock=clock)
    lease_guard = LeaseGuard(lease=settings.lease, scale=scale)
    try:
        async with trio.open_nursery() as watch:
            supervisor.start(watch, "circuits", circuits.run, probe_of(authority))
            supervisor.start(watch, "keys", credentials.forget_in_time)
            guarded = QUEUE_TABLES, wakeups, metrics, holder, lease_guard, scale, settings.lease
            supervisor.start(watch, "rescuer", run_rescuer, db, *guarded)
            supervisor.start(watch, "stock watch", Collectors(db, metrics).run)
            aggregator = Aggregator(db, clock, metrics, holder)
            supervisor.start(watch, "metering", aggregator.run, Biller(db, clock).round)
            if settings.authority_status_key is not None:
                key = settings.authority_status_key.get_secret_value()
                supervisor.start(watch, "maintenance", honour_maintenance, db, authority, key, clock)
            kind = submission_kind(
                metrics, verdicts.notify, SubmissionLog(settings.submission_log), traced=tracing.is_on
            )
            if node is not None:
                kind = replace(kind, together=NodeLocalClaims(node, clock, traced=tracing.is_on).claim)
            results = ResultWriter(kind, db, clock)
            handlers = _counterparty_handlers(settings, db, authority, credentials, clock)
            handing = ResultWriter(handing_kind(metrics, handlers.kinds), db, clock)
            apart = Apart(settings.large_processes, metrics)
            beside = parallel_input_reader(db, results)
            intake = intake or DirectIntake()
            async with (
                results.running(),
                apart.running(),
                handing.running(),
                beside.running(),
                intake.open(results, Stage.SIGN, holder=holder, lease=settings.lease),
                trio.open_nursery() as actors,
            ):
                hooks = webhook_vault(settings)
                if hooks is None:
                    _log.warning("webhooks are not configured, nobody is called: set FE_WEBHOOK_KEYS")
                else:
                    actors.start_soon(
                        run_webhooks, settings, webhook_tools, budget_of(settings), hooks, clock, supervisor, tracing
                    )
                shared = authority, credentials, lease_guard, results, apart, beside, tracing, clock_fault
                for stage in stages(settings, tools, *shared):
                    own = tools
                    if stage.name is Stage.SIGN:
                        own = replace(tools, gate=partial(_open_while_right, clock_fault, circuits.gate))
                    supervisor.start(actors, stage.name, run_stage, stage, own, supervisor.stopping, results)
                for passing in handing_stages(handlers, handing.kind, budget=budget_of(settings), scale=scale):
                    supervisor.start(actors, passing.name, run_stage, passing, tools, supervisor.stopping, handing)
                if settings.stripe_key is not None:
                    processor = settings.stripe_url, settings.stripe_key
                    supervisor.start(actors, charges.STAGE, run_charges, *processor, tools, supervisor.stopping)
            watch.cancel_scope.cancel()
    finally:
        authority.close()


def _open_while_right(clock_fault: ClockFault, gate: Callable[[Any, int], int], lane: Any, slots: int) -> int:
    """Let no row through while the clock is wrong: other processes claim them."""
    return gate(lane, slots) if clock_fault() is None else 0


def _counterparty_handlers(
    settings: Settings, db: Database, authority: Authority, credentials: SigningCredentials, clock: Clock
) -> CounterpartyHandlers:
    """What hands documents on. It may call this installation, too: two tenants of it may be each other's customers."""
    egress = egress_from_settings(settings)
    egress = replace(egress, policy=replace(egress.policy, own_hosts=(), own_addresses=(), own_ports=()))
    holds = holds_receipts(settings)
    if holds:
        _log.warning("nothing is sent to receivers, no acknowledgement could be believed: set FE_RECEPTION_ROOTS")
    return CounterpartyHandlers(
        db,
        credentials,
        Directory(authority, scale=settings.time_scale),
        Counterparties(egress, clock, credentials.threads),
        None if settings.reception_roots is None else read_certifiers(settings),
        clock,
        trio.CapacityLimiter(2),
        {},
        holds_receipts=holds,
    )
