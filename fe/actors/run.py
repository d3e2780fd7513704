"""Build and run the actors of a process: the stages of the outbox, and what runs beside them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import structlog
import trio

from fe.actors.announced_maintenance import honour_maintenance
from fe.actors.archiver import Archiver
from fe.actors.authority_health import HealthMeter
from fe.actors.certifier import Certifier, Rehearse
from fe.actors.charges import run_charges
from fe.actors.counterparty import CounterpartyHandlers, handing_kind, handing_stages
from fe.actors.credentials import SigningCredentials
from fe.actors.mailer import printer_of, run_mail
from fe.actors.stages import authority_circuits, budget_of, parallel_input_reader, probe_of, stages
from fe.actors.voider import Voider, voiding_kind, voiding_stage
from fe.actors.webhooks import run_webhooks
from fe.actors.writers import submission_kind
from fe.archiving.configured import archive_from_settings, stamper_from_settings
from fe.authority.client import Authority, Timeouts
from fe.authority.gateway import OUTCOMES
from fe.authority.hosts import Host, Hosts, Operation, host_of
from fe.clock import Clock, ClockFault
from fe.config import Settings
from fe.config.start_checks import holds_receipts, read_certifiers
from fe.counterparty.directory import Directory
from fe.counterparty.wire import Counterparties
from fe.ecf.catalogue import Environment
from fe.egress.client import Egress
from fe.egress.configured import egress_from_settings
from fe.identifiers import TenantId
from fe.issuing.sharing import Sharing
from fe.lifecycle import Stage
from fe.mail.configured import relay_from_settings
from fe.metering.aggregator import Aggregator
from fe.metering.closing import Biller
from fe.monitoring.collectors import Collectors
from fe.monitoring.initial_series import initialize_actor_series
from fe.monitoring.log import task_context
from fe.monitoring.submission_log import SubmissionLog
from fe.offload.pool import Apart, share_interpreter
from fe.queue.circuit_breaker import Circuits
from fe.queue.direct_intake import DirectIntake
from fe.queue.executor import run_stage
from fe.queue.lease_guard import LeaseGuard
from fe.queue.rescuer import run_rescuer
from fe.queue.result_writer import ResultWriter
from fe.queue.service_context import ServiceContext
from fe.queue.stage import StageContext, no_gate
from fe.secrets.vault import Vault
from fe.store.postgres.db import Database
from fe.store.queue.outbox import OUTBOX
from fe.store.queue.tables import AnyTable
from fe.store.queue.webhooks import DELIVERIES, RECOVERIES
from fe.store.queue.workers import new_holder
from fe.store.records import charges
from fe.store.records.charges import CHARGES
from fe.store.records.counterparty import COUNTERPARTY_OUTBOX
from fe.store.records.mail import MAIL, MAILS
from fe.store.records.voiding_queue import VOIDINGS
from fe.webhooks.secrets import webhook_vault

_log = structlog.get_logger(__name__)

#: Keys opened at the same time: each takes 45 ms of CPU the first time, then some 3 ms once a minute.
_OPENING = 2

#: Every queue table of this release: the rescuer frees rows of silent workers in each. A new kind of work adds its own
#: table here (docs/reference/queue-table.md).
QUEUE_TABLES: Sequence[AnyTable] = (OUTBOX, COUNTERPARTY_OUTBOX, DELIVERIES, RECOVERIES, CHARGES, MAILS, VOIDINGS)

#: The share of a processor for packing the archive: all of it, at low priority. The processes that run on idle
#: processors alone would get nothing on a busy machine.
_PACKING_SHARE = 1.0

#: Seconds between two polls for voidings, which are rare.
_VOIDING_POLL_SECONDS = 10.0

#: The circuit's name of the session that the host of summaries needs and another host gives.
_SESSION = "session"


async def run_actors(
    context: ServiceContext, db: Database, vault: Vault, rehearse: Rehearse, node: Database | None = None
) -> None:
    """Run the actors of every stage, each supervised, until they have finished the work in flight.

    `rehearse` sends a simulation of the certification to a simulated authority. Signs nothing while there is a clock
    fault. With a `node` of a cluster, claims only submissions stored there.
    """
    share_interpreter()
    settings, supervisor, clock, tracing = context.settings, context.supervisor, context.clock, context.tracing
    metrics, scale = context.metrics, settings.time_scale
    initialize_actor_series(metrics, [(operation, host_of(operation)) for operation in Operation], OUTCOMES)
    holder = new_holder()
    circuits = authority_circuits(db, metrics, scale=scale)
    health = HealthMeter(db, clock)
    authority = _authority(context, circuits, health)
    tools = StageContext(
        db,
        context.wakeups,
        clock,
        metrics,
        lease=settings.lease,
        poll_seconds=settings.poll_seconds,
        holder=holder,
        gate=circuits.gate,
    )
    credentials = SigningCredentials(db, vault, trio.CapacityLimiter(_OPENING), metrics, clock=clock)
    lease_guard = LeaseGuard(lease=settings.lease, scale=scale)
    try:
        async with trio.open_nursery() as watch:
            supervisor.start(watch, "circuits", circuits.run, probe_of(authority))
            supervisor.start(watch, "authority health", health.run)
            supervisor.start(watch, "keys", credentials.forget_in_time)
            supervisor.start(watch, "rescuer", run_rescuer, tools, QUEUE_TABLES, lease_guard, scale)
            supervisor.start(watch, "gauges", Collectors(db, metrics).run)
            supervisor.start(watch, "metering", Aggregator(db, clock, metrics, holder).run, Biller(db, clock).round)
            if settings.authority_status_key is not None:
                key = settings.authority_status_key.get_secret_value()
                supervisor.start(watch, "maintenance", honour_maintenance, db, authority, key, clock)

            log = SubmissionLog(settings.submission_log)
            kind = submission_kind(metrics, context.verdicts.notify, log, traced=tracing.is_on)
            if node is not None:
                from fe.store.citus.node_local_claims import NodeLocalClaims

                kind = replace(kind, together=NodeLocalClaims(node, clock, traced=tracing.is_on).claim)
            results = ResultWriter(kind, db, clock)
            handlers = _counterparty_handlers(settings, db, authority, credentials, clock)
            forwarded = ResultWriter(handing_kind(metrics, handlers.kinds), db, clock)
            voided = ResultWriter(voiding_kind(metrics), db, clock)
            apart, packers = Apart(settings.large_processes, metrics), Apart(1, metrics, share=_PACKING_SHARE)
            inputs = parallel_input_reader(db, results)
            intake = context.intake or DirectIntake()
            async with (
                results.running(),
                apart.running(),
                packers.running(),
                forwarded.running(),
                voided.running(),
                inputs.running(),
                intake.open(results, Stage.SIGN, holder=holder, lease=settings.lease),
                trio.open_nursery() as actors,
            ):
                hooks = webhook_vault(settings)
                if hooks is None:
                    _log.warning("webhooks are not configured, nobody is called: set FE_WEBHOOK_KEYS")
                else:  # circuits are the authority's: they do not stop webhooks
                    own = replace(tools, gate=no_gate)
                    actors.start_soon(run_webhooks, context, own, budget_of(settings), hooks)
                own_stages = stages(
                    context,
                    tools,
                    authority=authority,
                    credentials=credentials,
                    lease_guard=lease_guard,
                    results=results,
                    apart=apart,
                    inputs=inputs,
                )
                for stage in own_stages:
                    own = tools
                    if stage.name is Stage.SIGN:
                        own = replace(tools, gate=partial(_open_while_right, context.clock_fault, circuits.gate))
                    supervisor.start(actors, stage.name, run_stage, stage, own, supervisor.stopping, results)
                for forward in handing_stages(handlers, forwarded.kind, budget=budget_of(settings), scale=scale):
                    supervisor.start(actors, forward.name, run_stage, forward, tools, supervisor.stopping, forwarded)
                voider = Voider(db, authority, credentials, clock)
                void = voiding_stage(voider, voided.kind, budget=budget_of(settings), scale=scale)
                gated = replace(
                    tools,
                    gate=partial(_open_while_right, context.clock_fault, circuits.gate),
                    poll_seconds=max(_VOIDING_POLL_SECONDS * scale, tools.poll_seconds),
                )
                supervisor.start(actors, void.name, run_stage, void, gated, supervisor.stopping, voided)
                certifier = Certifier(
                    db,
                    credentials,
                    apart,
                    clock,
                    context.wakeups,
                    rehearse=rehearse,
                    egress=_egress_to_receivers(settings),
                    roots=None if settings.reception_roots is None else read_certifiers(settings),
                    scale=scale,
                    stopping=supervisor.stopping,
                )
                supervisor.start(actors, "certifier", certifier.run)
                if (archiving := archive_from_settings(settings, db, clock, packers)) is not None:
                    archiver = Archiver(
                        db,
                        *archiving,
                        clock,
                        metrics,
                        holder,
                        stamper=stamper_from_settings(settings, db, archiving[1]),
                        scale=scale,
                        stopping=supervisor.stopping,
                    )
                    supervisor.start(actors, "archiver", archiver.run)
                relay = relay_from_settings(settings)
                if relay is None:
                    _log.warning("mail is not configured, mails to buyers wait: set FE_MAIL_RELAY")
                else:
                    post = partial(
                        run_mail,
                        budget=budget_of(settings),
                        scale=scale,
                        stopping=supervisor.stopping,
                        sharing=Sharing.from_settings(settings),
                    )
                    supervisor.start(actors, MAIL, post, relay, tools, printer_of(apart))
                if settings.stripe_key is not None:
                    processor = settings.stripe_url, settings.stripe_key
                    supervisor.start(actors, charges.STAGE, run_charges, *processor, tools, supervisor.stopping)
            watch.cancel_scope.cancel()
    finally:
        authority.close()


def _authority(context: ServiceContext, circuits: Circuits, health: HealthMeter) -> Authority:
    """Build the authority's client; each exchange is counted, traced, measured, and noted by its host's circuit."""
    settings, metrics = context.settings, context.metrics

    def observe(operation: Operation, environment: str, host: Host, outcome: str, seconds: float) -> None:
        metrics.observe_authority(operation, environment, host, outcome, seconds)
        health.note(environment, operation, outcome, seconds)
        context.tracing.exchange(f"authority {operation}", seconds, environment=environment, host=host, outcome=outcome)
        if operation is Operation.DIRECTORY:  # no receipt waits for the directory
            return
        tenant_id = _tenant_at_work()
        circuits.note(environment, host, outcome, service=operation, seconds=seconds, tenant_id=tenant_id)
        if operation is Operation.VALIDATE_SEED and outcome == "ok":
            circuits.note(environment, Host.FC, outcome, service=_SESSION, tenant_id=tenant_id)

    def without_session(environment: Environment, host: Host) -> None:
        """Count a missing session as a failure of a host that gives none itself: `observe` sees the other one."""
        if host is not host_of(Operation.SEED):
            circuits.note(environment, host, "unavailable", service=_SESSION, tenant_id=_tenant_at_work())

    return Authority(
        Hosts(settings.authority_ecf_url, settings.authority_fc_url, settings.authority_status_url),
        clock=context.clock,
        timeouts=Timeouts(answer=settings.authority_timeout),
        observe=observe,
        without_session=without_session,
    )


def _tenant_at_work() -> TenantId | None:
    """Return the tenant of the row that the current task tries."""
    done = task_context.get()
    return None if done is None else done[1].tenant_id


def _open_while_right(clock_fault: ClockFault, gate: Callable[[Any, int], int], lane: Any, slots: int) -> int:
    """Let no row through while the clock is wrong: other processes claim them."""
    return gate(lane, slots) if clock_fault() is None else 0


def _counterparty_handlers(
    settings: Settings, db: Database, authority: Authority, credentials: SigningCredentials, clock: Clock
) -> CounterpartyHandlers:
    """Build the handlers that forward documents."""
    egress = _egress_to_receivers(settings)
    holds = holds_receipts(settings)
    if holds:
        _log.warning("nothing is sent to receivers, no acknowledgement could be believed: set FE_RECEPTION_ROOTS")
    return CounterpartyHandlers(
        db=db,
        credentials=credentials,
        directory=Directory(authority, scale=settings.time_scale),
        counterparties=Counterparties(egress, clock, credentials.threads),
        roots=None if settings.reception_roots is None else read_certifiers(settings),
        clock=clock,
        threads=trio.CapacityLimiter(2),
        kinds={},
        holds_receipts=holds,
    )


def _egress_to_receivers(settings: Settings) -> Egress:
    """Build the client for receivers. It may call this installation, whose tenants trade, too."""
    egress = egress_from_settings(settings)
    return replace(egress, policy=replace(egress.policy, own_hosts=(), own_addresses=(), own_ports=()))
