"""One run: a seed makes a world, the world runs on a mock clock, and what is left of it is judged."""

import hashlib
import json
import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import Any
from uuid import UUID

import structlog
import trio
import trio.testing

from fe.identifiers import ActionId, ApiKeyId, SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.monitoring.metrics import Metrics
from fe.operations.evidence import link_hash
from fe.store.postgres.db import Database
from fe.store.queue import dead_letters, pauses
from fe.store.queue.audit import OperatorAction
from fe.store.records import submissions
from fe.store.records.submissions import NewSubmission
from tests.faults import history as known
from tests.faults.history import Arrival, Call, History, Outcome, Snapshot
from tests.simulation.authority import Asked, Office
from tests.simulation.connection import Connection
from tests.simulation.mutants import SOUND, Mutant
from tests.simulation.process import Ground, Paper, Process
from tests.simulation.rows import Event, Key, Tables
from tests.simulation.scenario import Blow, Document, Scenario, drains_within, draw
from tests.simulation.statements import Answer, Statements
from tests.simulation.steps import Values

#: When the simulated world begins.
BEGINNING = datetime(2026, 11, 6, 14, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Earlier:
    """An earlier send: when it was announced by the database's clock, and what is known of it."""

    at: float
    outcome: str


@dataclass(frozen=True)
class Booked:
    """A statement that moved a submission, or claimed it, as the database saw it."""

    at: float
    what: str
    by: str
    key: Key
    epoch: int
    #: Outcomes of its earlier sends when it was announced again.
    before: tuple["Earlier", ...] = ()


@dataclass
class Run:
    """Result of a run."""

    scenario: Scenario
    #: The submissions, in the order of their acceptance.
    subjects: list[SubmissionId]
    history: History
    booked: list[Booked]
    asked: list[Asked]
    seconds: float
    #: Until nothing waited any more, from the end of the faults; None when that did not happen.
    drained_after: float | None
    #: How many were dead letters then, before they were all replayed once more.
    gave_up: int
    errors: list[str]
    trace: list[str]

    @property
    def digest(self) -> str:
        """Of all that happened, in its order: equal for two runs exactly if they were the same."""
        return hashlib.sha256("\n".join(self.trace).encode()).hexdigest()


@dataclass
class World:
    """The running world."""

    scenario: Scenario
    spread: random.Random
    mutant: Mutant
    tables: Tables = field(default_factory=Tables)
    trace: list[str] = field(default_factory=list)
    booked: list[Booked] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def now(self) -> datetime:
        """The database's clock."""
        return BEGINNING + timedelta(seconds=trio.current_time())

    def note(self, text: str) -> None:
        self.trace.append(f"{trio.current_time():.6f} {text}")


class Ledger(Statements):
    """The database in memory, which remembers who claimed and booked what."""

    def __init__(self, world: World) -> None:
        super().__init__(world.tables, world.now, world.mutant.steps)
        self._world = world
        self._told: dict[Key, list[Event]] = {}
        self._by = "nobody"

    def told(self, by: str, statement: str, values: Values) -> Answer:
        """Answer a statement of a process, and take note of it."""
        self._by = by
        answer = self._world.mutant.twist(self.tables, statement, self.answer(statement, values))
        world, at = self._world, trio.current_time()
        if "FROM claim_with_input(" in statement:
            for _, _, _, _, tenant, subject, attempt, epoch, crash_count, *_ in answer.rows:
                if tenant is None:
                    continue  # it is about the lane
                world.booked.append(Booked(at, "claim", by, (tenant, subject), epoch))
                stage = values["stage"]
                world.note(
                    f"{by} claims {subject.hex[-4:]} {stage} attempt {attempt} epoch {epoch} deaths {crash_count}"
                )
        elif "FROM accept_submissions(" in statement:
            for accepted in answer.rows:
                key = next(key for key in self.tables.submissions if key[1] == accepted[1])
                world.note(f"{by} accepts {key[1].hex[-4:]} leased {accepted[7]}")
                if accepted[7]:
                    world.booked.append(Booked(at, "claim", by, key, 1))
        else:
            self._look_for_rewriting(values)
        return answer

    def row(self, function: str, values: Values) -> Any:
        before = self._sends_before(values)
        said = super().row(function, values)
        self._look_for_rewriting(values)
        world, at, by, epoch = self._world, trio.current_time(), self._by, values["epoch"]
        key = (values["tenant"], values["subject"])
        world.note(f"{by} {function} {key[1].hex[-4:]} epoch {epoch}: {said}")
        if said not in (False, "lost", "in doubt"):
            world.booked.append(Booked(at, function, by, key, epoch, before))
        if said == "going on":
            world.booked.append(Booked(at, "claim", by, key, epoch + 1))
            world.booked.append(Booked(at, "intend_to_send", by, key, epoch + 1, before))
        return said

    def _look_for_rewriting(self, values: Values) -> None:
        """A history only grows: what stood in it stands there still."""
        if "subject" not in values:
            return
        key = (values["tenant"], values["subject"])
        story, told = self.tables.events.get(key, []), self._told.get(key, [])
        if any(before is not now for before, now in zip(told, story, strict=False)) or len(story) < len(told):
            self._world.errors.append(f"the history of {key[1]} was rewritten")
        self._told[key] = list(story)

    def _sends_before(self, values: Values) -> tuple[Earlier, ...]:
        announced = {
            one.epoch: one.at
            for one in self._world.booked
            if one.what == "intend_to_send" and one.key == (values["tenant"], values["subject"])
        }
        return tuple(
            Earlier(announced[send.epoch], send.outcome)
            for send in self.steps.sends_of((values["tenant"], values["subject"]))
            if send.epoch != values["epoch"]
        )


def simulate(seed: int, mutant: Mutant = SOUND) -> Run:
    """Run the world of a seed to its end. The same seed makes the same run, to the last statement."""
    scenario = draw(seed)
    world = World(scenario, random.Random(f"world {seed}"), mutant)
    with _deterministic(seed), _quiet(world):
        clock = trio.testing.MockClock(autojump_threshold=0)
        return trio.run(_run, world, clock=clock)


async def _run(world: World) -> Run:
    scenario, spread = world.scenario, world.spread
    async with trio.open_nursery() as network:
        state = Office(random.Random(spread.random()), world.note)
        state.weather = scenario.weather
        ground = Ground(Ledger(world), state, network, {}, world.now, world.note, _metrics(), world.errors.append)
        ground.reconciler, ground.pulse = world.mutant.reconciler, world.mutant.pulse
        ground.cut = scenario.cut
        world.tables.weights = {TenantId(1): 1, TenantId(2): 3}
        async with trio.open_nursery() as living:
            theatre = Theatre(world, ground, state, living)
            for number in range(scenario.processes):
                theatre.start(number)
            living.start_soon(theatre.take_in_all)
            living.start_soon(theatre.strike_all)
            await theatre.trouble()
            theatre.heal()
            drained = await theatre.drained()
            gave_up = len(world.tables.dead_letters)
            if drained is not None:
                await theatre.replay_all()
                drained = await theatre.drained()
            living.cancel_scope.cancel()
        for row in world.tables.submissions.values():
            world.note(f"in the end {row.submission_id.hex[-4:]} {row.status} {row.number_fate} {row.track_id}")
        # Requests in flight still arrive, without a waiting client.
    return Run(
        scenario=scenario,
        subjects=[subject for _, subject in world.tables.submissions],
        history=_history(world.tables, state),
        booked=world.booked,
        asked=state.asked,
        seconds=trio.current_time(),
        drained_after=drained,
        gave_up=gave_up,
        errors=world.errors,
        trace=world.trace,
    )


class Theatre:
    """Where it happens."""

    def __init__(self, world: World, ground: Ground, state: Office, living: trio.Nursery) -> None:
        self._world = world
        self._ground = ground
        self._office = state
        self._living = living
        self._processes: dict[int, Process] = {}
        self._generation = 0
        self._healed = False
        self._all_taken_in = trio.Event()
        self._operators = Database(_Direct(ground.statements))

    def start(self, number: int) -> None:
        """Begin a process in one of the places."""
        self._generation += 1
        skew = timedelta(seconds=0 if self._healed else self._world.scenario.skews[number])
        process = Process(
            f"p{number}.{self._generation}", self._ground, random.Random(self._world.spread.random()), skew
        )
        self._processes[number] = process
        self._living.start_soon(self._live, number, process)

    async def _live(self, number: int, process: Process) -> None:
        await process.run()
        await trio.sleep(self._world.spread.uniform(0.1, 3))
        self.start(number)

    async def take_in_all(self) -> None:
        """Accept the documents, each in its time."""
        for number, document in enumerate(self._world.scenario.in_order()):
            await trio.sleep_until(document.at)
            await self._take_in(number, document)
        self._all_taken_in.set()

    async def _take_in(self, number: int, document: Document) -> None:
        at = self._world.now()
        subject = SubmissionId(UUID(int=int(at.timestamp() * 1000) << 80 | 0x7 << 76 | 0b10 << 62 | number + 1))
        self._ground.papers[subject] = Paper(document.summary, document.poison, document.unfit)
        self._office.truths[str(subject)] = document.truth
        if document.taken is not None and document.e_ncf is not None:
            self._office.somebody_elses(
                document.environment, document.issuer, document.e_ncf, document.taken, document.taken_for
            )
        new = NewSubmission(
            tenant_id=document.tenant,
            submission_id=subject,
            environment=document.environment,
            api_key_id=ApiKeyId("fak_000000000001"),
            client_request_id=None,
            body_digest=b"",
            format="structured",
            root=document.root,
            ecf_type=document.ecf_type,
            e_ncf=document.e_ncf,
            issuer_rnc=document.issuer,
            buyer_rnc="131880681",
            as_user=None,
            as_user_id=None,
            original=b"{}",
        )
        # By a process that signs, too, or by one without actors; a client in doubt repeats the call.
        process = self._world.spread.choice([None, *self._processes.values()])
        is_certain = process is not None and await process.take_in(new, at)
        if not is_certain and (new.tenant_id, subject) not in self._world.tables.submissions:
            await self._operators.run(submissions.accept, new, at)
        self._world.note(f"accepted {subject.hex[-4:]}")
        for bells in self._ground.bells:
            if self._world.spread.random() < 0.7:
                bells.wake(Stage.SIGN)

    async def strike_all(self) -> None:
        """Let the blows fall."""
        for blow in self._world.scenario.blows:
            await trio.sleep_until(blow.at)
            self._world.note(f"{blow.what} {blow.whom} {blow.seconds:.1f}")
            await self._strike(blow)

    async def _strike(self, blow: Blow) -> None:
        process, now = self._processes[blow.whom], trio.current_time()
        match blow.what:
            case "kill":
                self._fell(process, blow, process.kill)
            case "stop":
                self._fell(process, blow, partial(process.stop, blow.seconds))
            case "freeze":
                self._fell(process, blow, partial(process.freeze, 2 * blow.seconds))
            case "database":
                self._ground.database_down_until = now + blow.seconds / 2
            case "authority":
                self._office.down_until = now + blow.seconds
            case "clock":
                process.skew += timedelta(seconds=self._world.spread.choice((-3600, -60, 60, 3600)))
            case "pause":
                self._living.start_soon(self._pause, blow.seconds)
            case "replay":
                await self.replay_all()

    def _fell(self, process: Process, blow: Blow, act: Callable[[], None]) -> None:
        if blow.steps:
            process.ambush(blow.steps, act, blow.of)
        else:
            act()

    async def _pause(self, seconds: float) -> None:
        tenant = self._world.spread.choice((None, TenantId(1), TenantId(2)))
        await self._operators.transact(pauses.pause, self._act(), tenant, None)
        await trio.sleep(seconds)
        await self._operators.transact(pauses.resume, self._act(), tenant, None)

    async def replay_all(self) -> None:
        for tenant, subject in list(self._world.tables.dead_letters):
            await self._operators.transact(dead_letters.replay, self._act(), tenant, subject)
            self._world.note(f"replayed {subject.hex[-4:]}")

    def _act(self) -> OperatorAction:
        return OperatorAction(
            ActionId(UUID(int=self._world.spread.getrandbits(128))), self._world.now(), "operator", "simulated"
        )

    async def trouble(self) -> None:
        """Wait for the end of the faults; the rest of them is spared when there is nothing left to befall."""
        with trio.move_on_after(self._world.scenario.trouble_ends):
            await self._all_taken_in.wait()
            await self._nothing_waits()
        await self._all_taken_in.wait()

    async def _nothing_waits(self) -> None:
        while True:
            if not self._world.tables.outbox:
                return
            await trio.sleep(1.0)

    def heal(self) -> None:
        """The faults are over."""
        self._world.note("healed")
        self._healed = True
        self._ground.cut = self._ground.database_down_until = 0.0
        self._office.heal()
        self._world.tables.pauses.clear()
        for process in self._processes.values():
            process.skew = timedelta(0)

    async def drained(self) -> float | None:
        """Wait until nothing is due any more; say how long that took, or None when it does not come to that."""
        healed_at = trio.current_time()
        with trio.move_on_after(drains_within(self._world.scenario)):
            await self._nothing_waits()
            return trio.current_time() - healed_at
        return None


class _Direct:
    """A driver without any trouble, for the door and the operators."""

    def __init__(self, statements: Statements) -> None:
        self._statements = statements

    async def borrow(self, work: Any) -> Any:
        return await work(Connection(self._statements).as_conn())

    async def apart(self, work: Any) -> Any:
        raise AssertionError("nobody listens here")


def _history(tables: Tables, state: Office) -> History:
    """The run as the checker of fault runs reads it."""
    rows = tables.submissions
    return History(
        calls=[
            Call(0, 0, "submit", tenant, row.environment, Outcome.OK, 202, tax_log_id=str(subject), e_ncf=row.e_ncf)
            for (tenant, subject), row in rows.items()
        ],
        arrivals=[
            Arrival(
                seq=number,
                operation=seen.operation,
                environment=seen.environment,
                e_ncf=seen.e_ncf,
                file_name=seen.file_name,
                sha256=seen.sha256,
                effect=True,
                estado=seen.estado,
                codes=() if seen.taken else tuple(message.number or 0 for message in seen.messages),
                words=" ".join(message.valor for message in seen.messages),
                used=seen.used,
                refused=seen.refused,
                fault=seen.fault,
            )
            for number, seen in enumerate(state.seen)
        ],
        database=Snapshot(
            submissions=[
                known.Submission(
                    tenant_id=tenant,
                    submission_id=subject,
                    environment=row.environment,
                    client_request_id=None,
                    root=row.root,
                    e_ncf=row.e_ncf,
                    status=row.status,
                    number_fate=row.number_fate,
                    signed=_digest(tables.documents.get((tenant, subject, "signed"))),
                    sent=_digest(tables.documents.get((tenant, subject, "sent"))),
                )
                for (tenant, subject), row in rows.items()
            ],
            events=list(_events(tables)),
            sends=[
                known.Send(s.tenant_id, s.submission_id, s.epoch, s.digest.hex(), s.outcome, s.intended_at)
                for s in sorted(tables.sends.values(), key=lambda s: (s.tenant_id, s.submission_id, s.epoch))
            ],
            outbox=[
                known.Due(row.tenant_id, row.subject, row.stage, row.holder, row.attempt, row.last_error)
                for row in tables.outbox.values()
            ],
            dead_letters=[
                known.DeadLetter(row.tenant_id, row.subject, row.stage, row.error)
                for row in tables.dead_letters.values()
            ],
        ),
    )


def _digest(content: bytes | None) -> str | None:
    return sha256(content).hexdigest() if content is not None else None


def _events(tables: Tables) -> Iterator[known.Event]:
    for story in tables.events.values():
        previous = b""
        for event in story:
            text = json.dumps(event.detail, sort_keys=True)
            key = (event.tenant_id, event.submission_id)
            previous = link_hash(previous, *key, event.seq, event.at, event.kind, text)
            yield known.Event(*key, event.seq, event.at, event.kind, text, previous)


#: Errors in the log that the scenario expects.
_EXPECTED_ERRORS = ("a circuit opened",)

_shared_metrics: list[Metrics] = []


def _metrics() -> Metrics:
    """Make one registry for all runs: it is never read, and making it takes longer than many a run."""
    if not _shared_metrics:
        _shared_metrics.append(Metrics())
    return _shared_metrics[0]


@contextmanager
def _deterministic(seed: int) -> Iterator[None]:
    """Make Trio's scheduler repeat itself, as its own Hypothesis plugin does."""
    core = trio._core._run
    before = core._ALLOW_DETERMINISTIC_SCHEDULING, core._r.getstate()
    core._ALLOW_DETERMINISTIC_SCHEDULING = True  # type: ignore[misc]  # meant for exactly this
    core._r.seed(seed)
    try:
        yield
    finally:
        core._ALLOW_DETERMINISTIC_SCHEDULING, state = before  # type: ignore[misc]  # as it was
        core._r.setstate(state)


@contextmanager
def _quiet(world: World) -> Iterator[None]:
    """Drop the log of the actors, but collect every unexpected error."""

    def keep(_: Any, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
        if event["event"] not in _EXPECTED_ERRORS:
            world.errors.append(f"{event['event']}: {event.get('error')!r}")
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[keep], wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    try:
        yield
    finally:
        structlog.configure(**before)
