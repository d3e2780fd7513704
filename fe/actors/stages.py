"""The stages of the outbox and their handlers."""

import random
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import trio

from fe.actors.credentials import SigningCredentials
from fe.actors.loop_batcher import LoopBatcher
from fe.actors.outcomes import Decided
from fe.actors.reconciler import Reconciler
from fe.actors.sender import ASK_AFTER, Sender
from fe.actors.signer import SignerPool
from fe.actors.tracker import Tracker
from fe.authority.client import Authority
from fe.config import Settings
from fe.ecf.catalogue import Environment, Host
from fe.issuing.rates import KnownRates
from fe.issuing.sign import QrHosts, sign_all
from fe.lifecycle import Stage
from fe.monitoring.metrics import Metrics
from fe.monitoring.tracing import Tracing
from fe.offload.pool import Apart
from fe.queue.backoff import poll_gap, retry_gap, scaled
from fe.queue.batcher import Batcher
from fe.queue.circuit_breaker import Circuits, Probe
from fe.queue.deadlines import DISBELIEVED_FOR, DOUBT_FOR, FOLLOW_FOR
from fe.queue.lease_guard import LeaseGuard
from fe.queue.outcome import Outcome
from fe.queue.result_writer import ResultWriter
from fe.queue.service_context import ServiceContext
from fe.queue.stage import StageConfig, StageContext
from fe.store.postgres.db import Database
from fe.store.queue import steps
from fe.store.queue.inputs import AcceptedInput, ParallelInput
from fe.store.queue.outbox import OutboxLane, Work

Handle = Callable[[Work], Awaitable[Outcome]]

#: A try must end this long before its lease: a cancelled query over a dead link takes 2 s to return, with the
#: trio-asyncio driver 10.5 s.
_SLACK = timedelta(seconds=15)


def parallel_input_reader(
    db: Database, results: ResultWriter[Work]
) -> Batcher[tuple[Work, AcceptedInput], ParallelInput]:
    """Return a batcher that reads signing inputs of rows from direct intake."""

    async def read(works: Sequence[tuple[Work, AcceptedInput]]) -> Sequence[ParallelInput]:
        return await db.run(steps.beside, works)

    async def read_what_answers(works: Sequence[tuple[Work, AcceptedInput]]) -> Sequence[ParallelInput | Exception]:
        return await db.run_together(works, lambda taken: taken[0].tenant_id, read)

    return Batcher(read_what_answers, gather=results.gather_seconds)


def budget_of(settings: Settings) -> float:
    """Return for how many seconds a try may last."""
    return max((settings.lease - _SLACK).total_seconds(), settings.lease_seconds / 2)


def authority_circuits(db: Database, metrics: Metrics, *, scale: float = 1.0) -> Circuits:
    """Return circuits for the authority's document hosts; the status service has none."""
    return Circuits(db, metrics, hosts=(Host.ECF, Host.FC), scale=scale)


def probe_of(authority: Authority) -> Probe:
    """Return a probe of the authority's hosts."""

    async def probe(environment: str, host: str) -> str | None:
        return await authority.probe(Environment(environment), Host(host))

    return probe


#: Slots of the sign stage per signing thread (short documents use none): a batch costs little more than one document.
_QUEUED = 32

#: Rows from direct intake held per signing thread; more wait in the outbox, for other processes too. They are signed
#: well within the four seconds for which the delay queue holds a due row.
_TAKEN_IN = 64

#: Received documents held per tracker slot until the first question: asking takes some 20 ms, first after 500 ms. More
#: wait in the outbox.
_HELD = 16

#: In the order of service: production first.
_ORDER = (Environment.ECF, Environment.CERTECF, Environment.TESTECF)


def lanes(*hosts: str) -> list[OutboxLane]:
    """Return the lanes of a stage for these hosts of the authority, in the order of service."""
    return [OutboxLane(environment, host) for environment in _ORDER for host in hosts]


def traced(tracing: Tracing, handle: Handle) -> Handle:
    """Wrap a handler so that each try of a traced row is a span."""
    if not tracing.is_on:
        return handle

    async def handle_in_span(work: Work) -> Outcome:
        with tracing.step(work.stage, work.trace, work) as span:
            outcome = await handle(work)
            span.annotate(environment=work.environment, outcome=outcome.name)
            if isinstance(outcome, Decided):
                span.annotate(verdict=outcome.status)
            return outcome

    return handle_in_span


def stages(
    context: ServiceContext,
    tools: StageContext,
    *,
    authority: Authority,
    credentials: SigningCredentials,
    lease_guard: LeaseGuard,
    results: ResultWriter[Work],
    apart: Apart,
    inputs: Batcher[tuple[Work, AcceptedInput], ParallelInput],
) -> list[StageConfig[Work]]:
    """Build the stages of this process. Keys are opened in their own threads: signing never waits for one."""
    settings, tracing, db = context.settings, context.tracing, tools.db
    scale, spread = settings.time_scale, random.Random()  # noqa: S311  (jitter)
    retry, poll = scaled(retry_gap, scale), scaled(poll_gap, scale)
    reconciler = Reconciler(db, authority, credentials, spread, retry, DISBELIEVED_FOR * scale)
    sender = Sender(
        db=db,
        authority=authority,
        credentials=credentials,
        reconciler=reconciler,
        anecf_service=settings.anecf_service,
        lease=settings.lease,
        lease_guard=lease_guard,
        intend=results.put,
        ask_after=ASK_AFTER * scale,
        simulated=settings.authority_simulated,
    )
    signer = SignerPool(
        db=db,
        credentials=credentials,
        loop=LoopBatcher(sign_all),
        threads=trio.CapacityLimiter(settings.sign_slots),
        apart=apart,
        hosts=QrHosts(settings.authority_ecf_url, settings.authority_fc_url),
        clock=tools.clock,
        metrics=tools.metrics,
        rates=KnownRates(db),
        lease=settings.lease,
        claim_to_send=sender.claim_to_send,
        read_input=inputs.put,
        clock_fault=context.clock_fault,
    )
    tracker = Tracker(db, authority, credentials, reconciler, spread, poll, FOLLOW_FOR * scale)
    budget = budget_of(settings)
    kind = results.kind
    either = lanes(Host.ECF, Host.FC)
    return [
        StageConfig(
            Stage.SIGN,
            kind,
            traced(tracing, signer.sign),
            settings.sign_slots * _QUEUED,
            lanes(""),
            budget,
            retry,
            held=settings.sign_slots * _TAKEN_IN,
            into=Stage.SEND,
        ),
        StageConfig(
            Stage.SEND,
            kind,
            traced(tracing, sender.send),
            settings.send_slots,
            either,
            budget,
            retry,
            doubts_go_to=Stage.RECONCILE,
        ),
        StageConfig(
            Stage.TRACK,
            kind,
            traced(tracing, tracker.track),
            settings.track_slots,
            lanes(Host.ECF),
            budget,
            gap=poll,
            max_attempts=None,
            patience=FOLLOW_FOR * scale,
            held=settings.track_slots * _HELD,
        ),
        StageConfig(
            Stage.RECONCILE,
            kind,
            traced(tracing, reconciler.reconcile),
            settings.track_slots,
            either,
            budget,
            gap=poll,
            max_attempts=None,
            patience=DOUBT_FOR * scale,
        ),
    ]
