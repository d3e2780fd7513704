"""A process of the service: the real loops and actors. It can be killed, stopped, frozen, and be wrong about time."""

import hashlib
import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar, cast
from uuid import UUID

import psycopg
import trio

from fe.actors.credentials import Opened, SigningCredentials
from fe.actors.outcomes import Failed, Signed, failure_response
from fe.actors.reconciler import Reconciler
from fe.actors.sender import Sender
from fe.actors.stages import authority_circuits, lanes, probe_of
from fe.actors.tracker import Tracker
from fe.actors.writers import submission_kind
from fe.authority.client import Authority
from fe.ecf.catalogue import Host, Root, Service
from fe.ecf.texts import Text
from fe.identifiers import CertificateId, SubmissionId, TenantId
from fe.issuing.accept import Acceptance
from fe.lifecycle import NumberFate, Stage
from fe.monitoring.metrics import Metrics
from fe.queue.circuit_breaker import Circuits
from fe.queue.deadlines import DOUBT_FOR, FOLLOW_FOR
from fe.queue.direct_intake import DirectIntake
from fe.queue.executor import run_stage
from fe.queue.lease_guard import LeaseGuard
from fe.queue.outcome import Outcome
from fe.queue.rescuer import run_rescuer
from fe.queue.result_writer import ResultWriter
from fe.queue.retry import poll_gap
from fe.queue.stage import StageConfig, StageContext
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.queue.inputs import OutgoingDocument
from fe.store.queue.outbox import OUTBOX, Work
from fe.store.queue.steps import SignedDocument
from fe.store.queue.wakeups import Wakeups
from fe.store.records.submissions import NewSubmission
from tests.simulation.authority import Office, Wire
from tests.simulation.connection import Connection
from tests.simulation.statements import Answer, Statements
from tests.simulation.steps import Values

T = TypeVar("T")

LEASE = timedelta(seconds=60)
_BUDGET = 45.0
_POLL_SECONDS = 20.0
#: Factor by which circuits are read and probed more rarely; else they would be a third of all steps.
_CIRCUITS_SCALE = 4.0
_SLOTS = 3

CERTIFICATE = CertificateId(UUID(int=7))


class Killed(BaseException):
    """The process is dead: nothing of it runs any more, not even its last words."""


@dataclass
class Paper:
    """Properties of a submission that the service does not know: how signing it goes."""

    summary: bool = False
    poison: bool = False
    unfit: bool = False
    times_signed: int = 0


@dataclass
class Ground:
    """Shared state of all processes: the database, the authority, the papers."""

    statements: Statements
    state: Office
    network: trio.Nursery
    papers: dict[SubmissionId, Paper]
    clock: Callable[[], datetime]
    note: Callable[[str], None]
    metrics: Metrics
    #: Told of what must not be.
    wrong: Callable[[str], None]
    reconciler: type[Reconciler] = Reconciler
    pulse: type[LeaseGuard] = LeaseGuard
    bells: list["Bells"] = field(default_factory=list)
    database_down_until: float = 0.0
    #: The chance that a unit of work is cut from the database, half of the time before it took effect.
    cut: float = 0.0


class Bells:
    """Wake-ups without a database: rings are heard at once by the own process, and perhaps by the others."""

    def __init__(self, timers: trio.Nursery, ground: Ground, spread: random.Random) -> None:
        self._timers, self._ground, self._spread = timers, ground, spread
        self._events = {stage: trio.Event() for stage in Stage}
        ground.bells.append(self)

    def event(self, stage: Stage) -> trio.Event:
        return self._events[stage]

    def notify(self, *stages: Stage) -> None:
        for bells in self._ground.bells:
            if bells is self or self._spread.random() < 0.5:
                bells.wake(*stages)

    def wake(self, *stages: Stage) -> None:
        for stage in stages:
            event, self._events[stage] = self._events[stage], trio.Event()
            event.set()

    def notify_in(self, delay: timedelta, *stages: Stage) -> None:
        if delay <= timedelta(0):
            self.notify(*stages)
        else:
            self._timers.start_soon(self._ring_later, delay.total_seconds(), stages)

    async def _ring_later(self, seconds: float, stages: tuple[Stage, ...]) -> None:
        await trio.sleep(seconds)
        self.wake(*stages)


class _Signed(Statements):
    """The database, to which every statement of a process is told with its name."""

    def __init__(self, inner: Statements, process: "Process") -> None:
        self._inner = inner
        self._process = process

    def answer(self, statement: str, values: Values) -> Answer:
        answer = self._inner.told(self._process.name, statement, values)
        about = ("subject", "subjects", "submission", "submissions")
        if any(name in values for name in about) or ("scope" in values and answer.rows):
            said = answer.rows[0][0] if answer.columns and answer.rows else ""
            each = said if isinstance(said, list) else [said]
            told = " ".join(f"{answer.columns[0]} {one}" for one in each) if answer.rows else ""
            self._process.has_come_to_a_step(told)
        return answer


@dataclass
class _Ambush:
    """A blow that waits for its moment."""

    steps: int
    blow: Callable[[], None]
    of: str


class Process:
    """One process. `run` ends when it was stopped or killed."""

    def __init__(self, name: str, ground: Ground, spread: random.Random, skew: timedelta) -> None:
        self.name = name
        self.skew = skew
        self._ground = ground
        self._spread = spread
        self._frozen_until = 0.0
        self._dead = False
        self._stopping = trio.Event()
        self._scope = trio.CancelScope()
        self._circuits: Circuits | None = None
        self._ambushes: list[_Ambush] = []
        self._pulse = ground.pulse(lease=LEASE, clock=trio.current_time)
        self._entrance = DirectIntake[Work]()
        self._acceptance: Acceptance | None = None

    # --- What is done to it -------------------------------------------------------------------------------------------

    def kill(self) -> None:
        """SIGKILL: not one more statement, not one more byte."""
        self._ground.note(f"{self.name} killed")
        self._dead = True
        self._scope.cancel()

    def stop(self, grace: float) -> None:
        """SIGTERM: what is in hand may finish; after the grace it is given up and booked as such."""
        self._ground.note(f"{self.name} stopping")
        self._stopping.set()
        self._scope.deadline = trio.current_time() + grace

    def freeze(self, seconds: float) -> None:
        """SIGSTOP, and SIGCONT later."""
        self._ground.note(f"{self.name} frozen")
        self._frozen_until = trio.current_time() + seconds

    def ambush(self, steps: int, blow: Callable[[], None], of: str = "") -> None:
        """Let a blow fall just after the statement of that number from now on that is about a submission.

        With `of`, only calls of a function with that answer are counted.
        """
        self._ambushes.append(_Ambush(steps, blow, of))

    def has_come_to_a_step(self, told: str) -> None:
        """A statement about a submission has taken effect, and we do not know it yet."""
        for ambush in list(self._ambushes):
            ambush.steps -= ambush.of in told
            if ambush.steps == 0:
                self._ambushes.remove(ambush)
                ambush.blow()

    def clock(self) -> datetime:
        """Its clock, which may be wrong."""
        return self._ground.clock() + self.skew

    async def take_in(self, new: NewSubmission, at: datetime) -> bool:
        """Accept a document as the front of this process does; tell whether that is certain."""
        if self._acceptance is None:
            return False
        try:
            await self._acceptance.accept(new, at)
        except (Killed, DatabaseUnavailable):
            return False
        return True

    # --- What it does -------------------------------------------------------------------------------------------------

    async def spend(self, seconds: float) -> None:
        """Let time pass; more of it if we are frozen, and none at all if we are dead."""
        try:
            await trio.sleep(seconds)
        finally:
            await self.resumed()

    async def resumed(self) -> None:
        """Wait until we are not frozen, whatever else has happened to us. Raises Killed."""
        with trio.CancelScope(shield=True):
            while True:
                if self._dead or trio.current_time() >= self._frozen_until:
                    break
                await trio.sleep_until(self._frozen_until)
        if self._dead:
            raise Killed

    def lets_go(self, about: str) -> None:
        """Check the first byte of a document: its announcement must be the last one, and not yet in doubt."""
        tables = self._ground.statements.tables
        sends = [send for send in tables.sends.values() if str(send.submission_id) == about]
        newest = max(sends, key=lambda send: send.epoch, default=None)
        if newest is None or newest.outcome != "intended":
            said = "nobody had announced" if newest is None else f"epoch {newest.epoch} was {newest.outcome} already"
            self._ground.wrong(f"{about}: bytes left {self.name} when {said}")

    def observe(self, environment: str, host: str, outcome: str) -> None:
        """Tell the circuits of an exchange."""
        if self._circuits is not None:
            self._circuits.note(environment, host, outcome)

    async def borrow(self, work: Callable[[Conn], Awaitable[T]]) -> T:
        """Lend a connection: the driver that fe.store.postgres.db.Database is made with."""
        ground = self._ground
        await self.spend(self._spread.uniform(0.001, 0.02))
        cut = self._spread.random() if ground.cut else 1.0
        if trio.current_time() < ground.database_down_until or cut < ground.cut / 2:
            raise psycopg.OperationalError("the connection was cut before")
        statements = _Signed(ground.statements, self)
        result = await work(Connection(statements, self._between).as_conn())
        if self._spread.random() < 0.3:
            await self.spend(self._spread.uniform(0.001, 0.02))
        if cut < ground.cut:
            raise psycopg.OperationalError("the connection was cut after")
        return result

    async def apart(self, work: Callable[[Conn], Awaitable[T]]) -> T:
        """A driver's other way to lend one, which is for listening."""
        raise AssertionError("nobody listens here")

    async def _between(self) -> None:
        if self._spread.random() < 0.2:
            await self.spend(self._spread.uniform(0.0, 0.01))

    async def run(self) -> None:
        """Work until stopped or killed."""
        self._ground.note(f"{self.name} begins")
        try:
            with self._scope:
                async with trio.open_nursery() as watch:
                    tools, stages, bookings = self._built(watch)
                    watch.start_soon(
                        partial(
                            run_rescuer,
                            replace(tools, metrics=self._ground.metrics, holder=self.name),
                            [OUTBOX],
                            self._pulse,
                        )
                    )
                    if self._circuits is not None:
                        watch.start_soon(self._circuits.run, probe_of(self._authority))
                    self._acceptance = Acceptance(tools.db, tools.wakeups, self._entrance)
                    entered = self._entrance.open(bookings, Stage.SIGN, holder=self.name, lease=LEASE)
                    async with bookings.running(), entered, trio.open_nursery() as actors:
                        for stage in stages:
                            actors.start_soon(run_stage, stage, tools, self._stopping, bookings)
                    watch.cancel_scope.cancel()
        except* Killed:
            pass
        self._ground.note(f"{self.name} ended")

    def _built(self, timers: trio.Nursery) -> tuple[StageContext, list[StageConfig[Work]], ResultWriter[Work]]:
        """As fe/actors/stages.py builds them, with a signer that makes no RSA and a certificate that opens nothing."""
        ground, spread = self._ground, self._spread
        db = Database(self)
        authority = cast(Authority, Wire(ground.state, random.Random(spread.random()), self, ground.network))
        credentials = cast(SigningCredentials, _Credentials())
        self._authority = authority
        self._circuits = authority_circuits(db, ground.metrics, scale=_CIRCUITS_SCALE)
        wakeups = cast(Wakeups, Bells(timers, ground, spread))
        tools = StageContext(
            db,
            wakeups,
            self.clock,
            ground.metrics,
            lease=LEASE,
            poll_seconds=_POLL_SECONDS,
            holder=self.name,
            spread=spread,
            gate=self._circuits.gate,
        )
        reconciler = ground.reconciler(db, authority, credentials, spread)
        kind, both = submission_kind(ground.metrics), lanes(Host.ECF, Host.FC)
        bookings = ResultWriter(kind, db, self.clock)
        sender = Sender(
            db=db,
            authority=authority,
            credentials=credentials,
            reconciler=reconciler,
            anecf_service=Service.COMMERCIAL_APPROVAL,
            lease=LEASE,
            lease_guard=self._pulse,
            intend=bookings.put,
        )
        self._straight = sender.claim_to_send
        tracker = Tracker(db, authority, credentials, reconciler, spread)
        stages = [
            StageConfig(Stage.SIGN, kind, self._sign, _SLOTS, lanes(""), _BUDGET, held=2),
            StageConfig(Stage.SEND, kind, sender.send, _SLOTS, both, _BUDGET, doubts_go_to=Stage.RECONCILE),
            StageConfig(
                Stage.TRACK, kind, tracker.track, _SLOTS, lanes(Host.ECF), _BUDGET, poll_gap, None, FOLLOW_FOR, held=3
            ),
            StageConfig(Stage.RECONCILE, kind, reconciler.reconcile, _SLOTS, both, _BUDGET, poll_gap, None, DOUBT_FOR),
        ]
        return tools, stages, bookings

    async def _sign(self, work: Work) -> Outcome:
        """Stand in for the signer: every signature makes other bytes, as a new FechaHoraFirma does."""
        paper = self._ground.papers[work.subject]
        await self.spend(self._spread.uniform(0.005, 0.05))
        if paper.poison:
            self.kill()
            raise Killed
        if paper.unfit:
            return Failed(
                response=failure_response(Text("it cannot be issued", "no se puede emitir")), fate=NumberFate.REUSABLE
            )
        paper.times_signed += 1
        row = self._ground.statements.tables.submissions[work.tenant_id, work.subject]
        signed = signed_bytes(row.submission_id, row.issuer_rnc, row.e_ncf, paper.times_signed)
        summary = row.root == "RFCE" or paper.summary
        document = SignedDocument(
            certificate_id=CERTIFICATE,
            signed=signed,
            sent=signed.replace(b'"document"', b'"summary"') if paper.summary else None,
            host=Host.FC if summary else Host.ECF,
            ecf_type=row.ecf_type,
            issuer_rnc=row.issuer_rnc,
            buyer_rnc=row.buyer_rnc,
            security_code=json.loads(signed)["code"],
            qr_code_url=None,
            ncf_expiration=None,
            signed_at=self.clock(),
        )
        outgoing = OutgoingDocument(
            Root(row.root),
            row.e_ncf,
            row.issuer_rnc,
            row.buyer_rnc,
            CERTIFICATE,
            document.sent is not None,
            signed if document.sent is None else document.sent,
        )
        return Signed(document=document, then=self._straight(work, outgoing, document.host), lease=LEASE)


def signed_bytes(subject: SubmissionId, issuer: str | None, e_ncf: str | None, time: int) -> bytes:
    """A document as the authority in memory reads it; the security code hangs on every byte."""
    code = hashlib.sha256(f"{subject} {time}".encode()).hexdigest()[:6]
    fields = {"kind": "document", "about": str(subject), "issuer": issuer, "e_ncf": e_ncf, "code": code, "time": time}
    return json.dumps(fields).encode()


class _Credentials:
    """Every certificate is at hand and opens nothing."""

    async def for_session(self, tenant_id: TenantId, certificate_id: CertificateId, **_: bool) -> Opened:
        assert certificate_id == CERTIFICATE
        return cast(Opened, object())
