"""The tables in memory do what the SQL does: random sequences of the store's own functions, run against both.

Postgres is given the clock of the simulation: functions of the same names as its own stand before them in the search
path, so that the statements under test stay as they are and both sides agree to the microsecond.
"""

import asyncio
import hashlib
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Concatenate, ParamSpec
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from psycopg.conninfo import make_conninfo

from fe.ecf.catalogue import EcfType, Environment, Host, Root
from fe.identifiers import ActionId, ApiKeyId, CertificateId, SubmissionId, TenantId, TrackId
from fe.issuing.accept import first_claim
from fe.lifecycle import NumberFate, Stage, Status
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import StoreError
from fe.store.postgres.session import SERVER_SETTINGS
from fe.store.queue import circuits, dead_letters, outbox, pauses, steps, workers
from fe.store.queue.audit import OperatorAction
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.claim import claim_together
from fe.store.queue.outbox import OUTBOX, OutboxLane, Work
from fe.store.queue.signed_by import signer_of
from fe.store.queue.steps import SignedDocument
from fe.store.queue.tables import ALWAYS
from fe.store.records import sequences, submissions
from fe.store.records.submissions import Leases, NewSubmission
from tests.factories import bookings
from tests.simulation.connection import Connection
from tests.simulation.mutants import MUTANTS, Mutant
from tests.simulation.rows import Due, Tables
from tests.simulation.statements import Statements
from tests.simulation.steps import Steps

P = ParamSpec("P")

EXAMPLES = int(os.environ.get("CONFORMANCE_EXAMPLES", "40"))
STEPS = 50
#: Answers are compared after each step; the tables after this number of steps, and at the end.
_LOOK_EVERY = 5

BEGINNING = datetime(2026, 11, 6, 14, 0, tzinfo=UTC)
LEASE = timedelta(seconds=60)
ENVIRONMENTS = [Environment.ECF, Environment.TESTECF]
LANES = [OutboxLane(environment, host) for environment in ENVIRONMENTS for host in ("", Host.ECF, Host.FC)]
TENANTS = {TenantId(1): 1, TenantId(2): 3}
_UNSIGNED, _TO_ECF, _TO_FC = LANES[:3]
#: Rows in flight, by tenant and lane, that a claim is given: some lanes of production have none, some for one tenant.
BUSY: list[dict[tuple[TenantId, OutboxLane], int]] = [
    {},
    {(tenant, _UNSIGNED): 1 for tenant in TENANTS},
    {(tenant, _TO_ECF): 1 for tenant in TENANTS},
    {(TenantId(1), _UNSIGNED): 2, (TenantId(1), _TO_ECF): 2, (TenantId(2), _UNSIGNED): 1, (TenantId(2), _TO_FC): 1},
]

_CLOCK = """
    CREATE SCHEMA simulated;
    CREATE FUNCTION simulated.now() RETURNS timestamptz LANGUAGE sql STABLE
        AS $$ SELECT current_setting('simulated.now')::timestamptz $$;
    CREATE FUNCTION simulated.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
        AS $$ SELECT current_setting('simulated.now')::timestamptz $$;
    CREATE FUNCTION simulated.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
        AS $$ SELECT current_setting('simulated.now')::timestamptz $$;
"""

#: Tables that are compared. The simulation leaves out columns that no step reads.
_DUMPS = {
    "outbox": """SELECT tenant_id, subject, stage, environment, host, run_at, attempt, epoch, holder, deaths,
                        entered_at, last_error FROM outbox""",
    "dead_letters": """SELECT tenant_id, subject, stage, environment, host, attempt, epoch, deaths, entered_at,
                              died_at, error FROM dead_letters""",
    "submissions": """SELECT tenant_id, submission_id, environment, root, ecf_type, e_ncf, issuer_rnc, buyer_rnc,
                             submitted_at, updated_at, certificate_id, status, track_id, security_code, signed_at,
                             number_fate, response, first_answer_at, verdict_at, replayed_epoch FROM submissions""",
    "documents": "SELECT tenant_id, submission_id, kind, content FROM submission_documents",
    "sends": """SELECT tenant_id, submission_id, epoch, digest, intended_at, outcome, answered_at, track_id
                  FROM sends""",
    "held": "SELECT tenant_id, environment, e_ncf, issuer_rnc, submission_id FROM held_numbers",
    "events": "SELECT tenant_id, submission_id, seq, at, kind, detail FROM submission_events",
    "workers": "SELECT holder, seen_at FROM workers",
    "circuits": "SELECT environment, host, is_open, since, reason, probe_at, failed_probes FROM circuits",
    "pauses": "SELECT tenant_id, environment, reason FROM pauses",
    "deeds": "SELECT action, reason, tenant_id, subject FROM operator_actions",
}
_TABLES = (
    "outbox, dead_letters, held_numbers, submissions, submission_documents, sends, submission_events, workers,"
    " circuits, pauses, operator_actions"
)


def held(tables: Tables) -> dict[str, list[Any]]:
    """Rows of the tables in memory, in the shape of the dumps."""

    def of(rows: Any) -> list[Any]:
        return [tuple(getattr(row, name) for name in row.__slots__) for row in rows]

    return {
        "outbox": of(tables.outbox.values()),
        "dead_letters": of(tables.dead_letters.values()),
        "submissions": of(tables.submissions.values()),
        "documents": [(*key, content) for key, content in tables.documents.items()],
        "sends": of(tables.sends.values()),
        "held": [(*number, whose) for number, whose in tables.held.items()],
        "events": [row for story in tables.events.values() for row in of(story)],
        "workers": list(tables.workers.items()),
        "circuits": of(tables.circuits.values()),
        "pauses": [(*which, reason) for which, reason in tables.pauses.items()],
        "deeds": list(tables.deeds),
    }


def comparable(rows: list[Any]) -> list[str]:
    """Rows in an order of their own; moments within details as moments."""
    return sorted(repr(_plain(row)) for row in rows)


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return sorted((key, _moment(each) if key == "dueAt" else _plain(each)) for key, each in value.items())
        case list() | tuple():
            return [_plain(each) for each in value]
        case str():
            return str(value)
        case memoryview():
            return bytes(value)
        case _:
            return value


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


class Both:
    """A real Postgres and the tables in memory, told the same."""

    def __init__(self, dsn: str) -> None:
        # Plain asyncio: trio-asyncio, once imported, would have its own loop made here, which is slower.
        self._runner = asyncio.Runner(loop_factory=asyncio.SelectorEventLoop)
        self._conn: Conn = self._runner.run(psycopg.AsyncConnection.connect(dsn, autocommit=True))
        self.now = BEGINNING
        self._told = False

    def close(self) -> None:
        self._conn.pgconn.finish()
        self._runner.close()

    def begin(self, steps: type[Steps] = Steps) -> None:
        """Empty everything."""
        self.now = BEGINNING
        self._execute(f"TRUNCATE {_TABLES}")
        self.tick(timedelta(0))
        self.tables = Tables(weights=dict(TENANTS))
        self._statements = Statements(self.tables, lambda: self.now, steps)

    def tick(self, passed: timedelta) -> None:
        """Let time pass, on both sides."""
        self.now += passed
        self._told = False

    def _tell_the_time(self) -> None:
        if not self._told:
            self._told = True
            self._execute("SELECT set_config('simulated.now', %s, false)", self.now.isoformat())

    def _execute(self, statement: str, *values: Any) -> Any:
        async def execute() -> list[Any]:
            cursor = await self._conn.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else []

        return self._runner.run(execute())

    def run(self, work: Callable[Concatenate[Conn, P], Awaitable[Any]], *args: P.args, **kwargs: P.kwargs) -> Any:
        """Do the same to both, compare what they say, and return it; a refusal is returned too."""
        self._tell_the_time()
        real = self._runner.run(_outcome(work(self._conn, *args, **kwargs)))
        memory = _finish(_outcome(work(Connection(self._statements).as_conn(), *args, **kwargs)))
        assert _said(memory) == _said(real)
        return real

    def real(self, work: Callable[[Conn], Awaitable[Any]]) -> Any:
        """Do something to Postgres alone."""
        self._tell_the_time()
        return self._runner.run(_outcome(work(self._conn)))

    def transact(self, work: Callable[Concatenate[Conn, P], Awaitable[Any]], *args: P.args, **kwargs: P.kwargs) -> Any:
        """Like `run`, in a transaction."""

        async def together(conn: Conn) -> Any:
            async with conn.transaction():
                return await work(conn, *args, **kwargs)

        return self.run(together)

    def compare(self) -> None:
        """Hold the two against each other, row by row."""
        memory = held(self.tables)
        for name, dump in _DUMPS.items():
            assert comparable(memory[name]) == comparable(self._execute(dump)), name


async def _outcome(work: Awaitable[Any]) -> Any:
    try:
        return await work
    except StoreError as refused:
        return type(refused)


def _finish(work: Any) -> Any:
    """Run to its end what never waits."""
    try:
        work.send(None)
    except StopIteration as ended:
        return ended.value
    raise AssertionError("it waits for something")


def _said(answer: Any) -> Any:
    """An answer, but for the order of rows that have none."""
    if isinstance(answer, list) and answer and isinstance(answer[0], Work | circuits.Circuit | str):
        return sorted(map(repr, answer))
    return answer


small = st.integers(0, 5)
gaps = st.sampled_from([timedelta(0), timedelta(seconds=2), timedelta(seconds=30), timedelta(minutes=10)])
holders = st.sampled_from(["one", "two", "three"])


class Conformance(RuleBasedStateMachine):
    """Every rule is a function of fe.store, with values that fit often and do not fit sometimes."""

    both: Both
    memory: type[Steps] = Steps

    @initialize()
    def begin(self) -> None:
        self.both.begin(self.memory)
        self.steps = 0
        self.subjects: list[tuple[TenantId, SubmissionId]] = []
        #: Every claim there ever was, the stale ones too.
        self.works: list[Work] = []
        self.floors: dict[OutboxLane, datetime] = {}
        for tenant in TENANTS:
            self.accept(tenant, Environment.ECF, "ECF", 1)
        self.claim(0, "one", 100, True)

    def tick(self) -> None:
        """No two things happen at the same moment, so that whatever is ordered by time has one order."""
        self.both.tick(timedelta(milliseconds=1))

    def at(self) -> datetime:
        return self.both.now + timedelta(hours=1)  # our clock is another one than the database's

    @rule(
        tenant=st.sampled_from(list(TENANTS)),
        environment=st.sampled_from(ENVIRONMENTS),
        root=st.sampled_from([Root.ECF, Root.RFCE, Root.ACECF]),
        number=st.integers(1, 2),
        holder=st.sampled_from([None, "one", "two"]),
    )
    def accept(
        self, tenant: TenantId, environment: Environment, root: Root, number: int, holder: str | None = None
    ) -> None:
        """Accept a submission, and perhaps lease it to the accepting process."""
        self.tick()
        subject = SubmissionId(UUID(int=0x018F0000000070008000000000000000 + len(self.subjects)))
        new = NewSubmission(
            tenant_id=tenant,
            submission_id=subject,
            environment=environment,
            api_key_id=ApiKeyId("fak_000000000001"),
            client_request_id=None,
            body_digest=b"digest",
            format="structured",
            root=root,
            ecf_type=EcfType.CREDIT_FISCAL if root is Root.ECF else None,
            e_ncf=f"E31{number:010}",
            issuer_rnc="131880738",
            buyer_rnc=None,
            as_user=None,
            as_user_id=None,
            original=b"{}",
        )
        self.subjects.append((tenant, subject))
        if holder is None:
            self.both.run(submissions.accept, new, self.at())
            return
        leases = Leases(holder, [LEASE])
        (accepted,) = self.both.run(submissions.accept_many, [(new, self.at())], leases)
        if accepted.leased:
            self.works.append(first_claim(new))

    # --- Claims -------------------------------------------------------------------------------------------------------

    @rule(which=small, holder=holders, share=st.sampled_from([1, 100]), patiently=st.booleans())
    def claim(self, which: int, holder: str, share: int, patiently: bool) -> None:
        """Claim where some row waits, when it is due or before."""
        rows = list(self.both.tables.outbox.values())
        if rows:
            self._claim(rows[which % len(rows)], holder, share, patiently)

    def _claim(self, row: Due, holder: str, share: int, patiently: bool) -> None:
        self.tick()
        if patiently and row.run_at > self.both.now:
            self.both.tick(row.run_at - self.both.now + timedelta(milliseconds=1))
        together = [other.run_at for other in self.both.tables.outbox.values() if other.stage == row.stage]
        if len(set(together)) < len(together):
            share = 100  # the order of two rows due at the same moment is undefined
        lane = OutboxLane(Environment(row.environment), row.host)
        floor = self.floors.get(lane, ALWAYS)
        shares = [share] * len(TENANTS)
        self.works += self.both.run(
            outbox.claim, Stage(row.stage), lane, list(TENANTS), shares, lease=LEASE, holder=holder, floor=floor
        )
        self.floors = {}

    @rule(
        stage=st.sampled_from(Stage),
        after=st.integers(0, 2),
        holder=holders,
        slots=st.sampled_from([1, 2, 3, 100]),
        left=st.sampled_from([0, 1, 25]),
        most=st.sampled_from([1, 100]),
        scope=st.sampled_from([1, 64]),
        busy=st.sampled_from(BUSY),
    )
    def claim_of_all_lanes(
        self,
        stage: Stage,
        after: int,
        holder: str,
        slots: int,
        left: int,
        most: int,
        scope: int,
        busy: dict[tuple[TenantId, OutboxLane], int],
    ) -> None:
        self.tick()
        moments = [row.run_at for row in self.both.tables.outbox.values() if row.stage == stage]
        if len(set(moments)) < len(moments):
            slots = most = 100  # the order of two rows due at the same moment is undefined
            busy = {}
        lanes = [LaneCapacity(lane, TenantId(after), self.floors.get(lane, ALWAYS), slots, left) for lane in LANES]
        terms = Terms(LEASE, holder, 2 * slots, 2 * slots, scope, most, busy)
        for claim in self.both.run(_claims, stage, lanes, terms):
            self.works += claim.works
        self.floors = {}

    # --- Bookings -----------------------------------------------------------------------------------------------------

    def work(self, which: int, *stages: Stage) -> Work:
        """A claim that holds, in one of these stages if there is one, mostly; sometimes one that has passed."""
        rows = list(self.both.tables.outbox.values())
        if not rows or which > 3:
            return self.works[-1 - which % len(self.works)]
        row = next((row for row in rows if row.stage in stages), rows[which % len(rows)])
        if row.holder is None:
            self.floors = {}
            self._claim(row, "one", 100, patiently=True)
        self.tick()
        return next(work for work in reversed(self.works) if work.subject == row.subject)

    @precondition(lambda self: self.works)
    @rule(which=small, summary=st.booleans(), lease=st.sampled_from([None, None, LEASE]))
    def signed(self, which: int, summary: bool, lease: timedelta | None = None) -> None:
        work = self.work(which, Stage.SIGN)
        if (work.tenant_id, work.subject, "signed") in self.both.tables.documents:
            return  # the table takes no second signature: that is one of its rules, and no move
        document = SignedDocument(
            certificate_id=CertificateId(UUID(int=7)),
            signed=b"<signed/>",
            sent=b"<summary/>" if summary else None,
            host=Host.FC if summary else Host.ECF,
            ecf_type=EcfType("32" if summary else "31"),
            issuer_rnc="131880738",
            buyer_rnc="131880681",
            security_code="AbC1+/",
            qr_code_url=None,
            ncf_expiration=None,
            signed_at=self.at(),
        )
        said = self.both.run(bookings.signed, work, document, at=self.at(), lease=lease)
        if said == "going on":
            self.works.append(
                replace(work, stage=Stage.SEND, lane=OutboxLane(work.environment, document.host), epoch=work.epoch + 1)
            )

    @precondition(lambda self: self.works)
    @rule(which=small)
    def intend(self, which: int) -> None:
        if not any(row.stage == Stage.SEND for row in self.both.tables.outbox.values()):
            self.signed(which, False)
        work, digest = self.work(which, Stage.SEND), hashlib.sha256(b"<signed/>").digest()
        self.both.run(bookings.intend_to_send, work, at=self.at(), lease=LEASE, digest=digest)

    @precondition(lambda self: self.works)
    @rule(which=small, after=gaps, counts=st.booleans())
    def retry(self, which: int, after: timedelta, counts: bool) -> None:
        self.both.run(bookings.retry, self.work(which), at=self.at(), after=after, error="status 503", counts=counts)

    @precondition(lambda self: self.works)
    @rule(which=small, after=gaps, words=st.sampled_from(["a", "b"]))
    def processing(self, which: int, after: timedelta, words: str) -> None:
        response = {"mensajes": [{"codigo": "0", "valor": words}]}
        self.both.run(bookings.processing, self.work(which, Stage.TRACK), at=self.at(), after=after, response=response)

    @precondition(lambda self: self.works)
    @rule(which=small, after=gaps, goes_on=st.booleans())
    def received(self, which: int, after: timedelta, goes_on: bool) -> None:
        work = self.work(which, Stage.SEND, Stage.RECONCILE)
        reply: dict[str, Any] = {"trackId": f"t-{work.epoch}", "error": None} if which % 2 else {"adopted": True}
        said = self.both.run(
            bookings.received,
            work,
            at=self.at(),
            track_id=TrackId(f"t-{work.epoch}"),
            after=after,
            reply=reply,
            lease=LEASE if goes_on else None,
        )
        if said == "going on":
            self.works.append(replace(work, stage=Stage.TRACK, attempt=1, epoch=work.epoch + 1))

    @precondition(lambda self: self.works)
    @rule(which=small, after=gaps)
    def doubt(self, which: int, after: timedelta) -> None:
        self.both.run(
            bookings.doubt, self.work(which, Stage.SEND, Stage.RECONCILE), at=self.at(), after=after, error="timeout"
        )

    @precondition(lambda self: self.works)
    @rule(which=small, after=gaps)
    def resend(self, which: int, after: timedelta) -> None:
        self.both.run(
            bookings.resend, self.work(which, Stage.RECONCILE), at=self.at(), after=after, reason="not known there"
        )

    @precondition(lambda self: self.works)
    @rule(which=small, how=st.sampled_from(["dead letter", "dead letter", "error", "accepted", "rejected"]))
    def end(self, which: int, how: str) -> None:
        work = self.work(which)
        match how:
            case "dead letter":
                self.both.run(bookings.dead_letter, work, at=self.at(), error="used up")
            case "error":
                response = {"status": "error", "error": "refused", "dgiiResponse": None}
                self.both.run(bookings.failure, work, at=self.at(), response=response, fate=NumberFate.REUSABLE)
            case _:
                status = Status.ACCEPTED if how == "accepted" else Status.REJECTED
                self.both.run(
                    bookings.verdict,
                    work,
                    at=self.at(),
                    status=status,
                    track_id=TrackId("t-9") if which % 2 else None,
                    response={"trackStatus": {"estado": status.value}},
                )

    @precondition(lambda self: len(self.works) > 1)
    @rule(
        many=st.integers(2, 8), how=st.sampled_from(["retry", "doubt", "verdict", "dead letter", "received", "intend"])
    )
    def together(self, many: int, how: str) -> None:
        """Claims of which some hold and some have passed, in one batch; of each submission the newest."""
        self.tick()
        newest = {(work.tenant_id, work.subject): work for work in self.works}
        works = [newest[key] for key in sorted(newest)][:many]
        n, at = len(works), self.at()
        match how:
            case "retry":
                counts = [bool(work.subject.int % 2) for work in works]
                gaps = [timedelta(seconds=2)] * n
                self.both.run(outbox.retry, works, at=at, afters=gaps, counts=counts, errors=["status 503"] * n)
            case "doubt":
                self.both.run(outbox.doubt, works, at=at, afters=[timedelta(0)] * n, errors=["timeout"] * n)
            case "dead letter":
                self.both.run(outbox.dead_letter, works, at=at, errors=["used up"] * n)
            case "received":
                ids, replies = [TrackId(f"t-{work.epoch}") for work in works], [{"adopted": True}] * n
                leases = [LEASE if work.subject.int % 2 else None for work in works]
                gaps = [timedelta(0)] * n
                self.both.run(outbox.received, works, at=at, track_ids=ids, afters=gaps, replies=replies, leases=leases)
            case "intend":
                digests = [hashlib.sha256(b"<signed/>").digest()] * n
                self.both.run(steps.intend_to_send, works, at=at, leases=[LEASE] * n, digests=digests)
            case _:
                self.both.run(
                    outbox.verdict,
                    works,
                    at=at,
                    statuses=[Status.ACCEPTED] * n,
                    track_ids=[None] * n,
                    responses=[{"trackStatus": {"estado": "Aceptado"}}] * n,
                    fates=[NumberFate.USED] * n,
                )

    # --- What is read, what is around, what operators do --------------------------------------------------------------

    @precondition(lambda self: self.works)
    @rule(which=small)
    def ask(self, which: int) -> None:
        work = self.work(which)
        self.both.run(_question, work)
        self.both.run(bookings.has_open_sends, work)
        self.both.run(signer_of, work.tenant_id, work.subject)
        self.both.run(sequences.pause_for, work.tenant_id, work.subject)
        if (work.tenant_id, work.subject, "signed") in self.both.tables.documents:
            self.both.run(steps.outgoing_document, work)

    @rule(stage=st.sampled_from(Stage), after=st.integers(0, 2), limit=st.integers(1, 3), floored=st.booleans())
    def look_for_work(self, stage: Stage, after: int, limit: int, floored: bool) -> None:
        self.floors = self.both.run(outbox.floors_of, stage, LANES) if floored else {}
        self.both.run(outbox.due_tenants, stage, [(lane, TenantId(after)) for lane in LANES], limit, floors=self.floors)

    @rule(seconds=st.sampled_from([1, 31, 61, 3600]))
    def time_passes(self, seconds: int) -> None:
        self.both.tick(timedelta(seconds=seconds))

    @rule(holder=holders, what=st.sampled_from(["seen", "seen", "rescue", "rescue", "gone"]))
    def worker(self, holder: str, what: str) -> None:
        self.tick()
        match what:
            case "seen":
                self.both.run(workers.seen, holder)
            case "rescue":
                self.both.tick(timedelta(seconds=31))
                self.both.run(workers.rescue, [OUTBOX], timedelta(seconds=30))
            case "gone":
                self.both.run(workers.gone, [OUTBOX], holder)

    @rule(what=st.sampled_from(["open", "claim", "close", "fail", "pause", "resume"]), one=st.booleans(), gap=gaps)
    def circuit_or_pause(self, what: str, one: bool, gap: timedelta) -> None:
        self.tick()
        host = Host.ECF if one else Host.FC
        match what:
            case "open":
                self.both.run(circuits.open_circuit, "ecf", host, "5 failures", gap)
            case "claim":
                self.both.run(circuits.claim_probe, "ecf", host, gap)
            case "close":
                self.both.run(circuits.close_circuit, "ecf", host)
            case "fail":
                self.both.run(circuits.probe_failed, "ecf", host, "no answer", gap)
            case "pause" | "resume":
                act = pauses.pause if what == "pause" else pauses.resume
                self.both.transact(act, self.act(), TenantId(1) if one else None, Environment.ECF if gap else None)
        self.both.run(circuits.everything)

    @rule(which=small, replayed=st.sampled_from([True, True, False]), note=st.sampled_from([None, "issued by hand"]))
    def operate(self, which: int, replayed: bool, note: str | None) -> None:
        dead = list(self.both.tables.dead_letters) or self.subjects
        tenant, subject = dead[which % len(dead)]
        act = dead_letters.replay if replayed else partial(dead_letters.discard, note=note)
        self.both.transact(act, self.act(), tenant, subject)

    def act(self) -> OperatorAction:
        self.tick()
        return OperatorAction(
            ActionId(UUID(int=int(self.both.now.timestamp() * 1e6))), self.at(), "eva", "the authority is back"
        )

    @invariant()
    def both_hold_the_same_now_and_then(self) -> None:
        self.steps += 1
        if self.steps % _LOOK_EVERY == 0:
            self.both.compare()

    def teardown(self) -> None:
        self.both.compare()


async def _claims(conn: Conn, stage: Stage, lanes: list[LaneCapacity], terms: Terms) -> list[LaneClaim[Work]]:
    """The claim of all lanes, its rows in an order; the memory knows nothing of what signing needs."""
    claims = await claim_together(conn, stage, lanes, terms)
    return [replace(claim, works=sorted((_for_comparison(work) for work in claim.works), key=repr)) for claim in claims]


def _for_comparison(work: Work) -> Work:
    return replace(work, input=None) if work.stage is Stage.SIGN else work


async def _question(conn: Conn, work: Work) -> steps.ReconcileFacts:
    question = await steps.reconcile_facts(conn, work)
    question.foreign_track_ids.sort()
    return question


@contextmanager
def on_simulated_time(dsn: str) -> Iterator[Both]:
    """Both sides, Postgres with the simulation's clock before its own."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(_CLOCK)
        for tenant, weight in TENANTS.items():
            conn.execute(
                "INSERT INTO tenants (tenant_id, name, issuer, weight) VALUES (%s, %s, '{}', %s)",
                (tenant, f"tenant {tenant}", weight),
            )
    limits = {**SERVER_SETTINGS, "search_path": "simulated,public,pg_catalog", "simulated.now": BEGINNING.isoformat()}
    said = {name: value.replace(" ", "\\ ") for name, value in limits.items()}
    both = Both(make_conninfo(dsn, options=" ".join(f"-c {name}={value}" for name, value in said.items())))
    try:
        yield both
    finally:
        both.close()


@pytest.fixture
def both(dsn: str) -> Iterator[Both]:
    with on_simulated_time(dsn) as both:
        yield both


def run(both: Both, steps: type[Steps], examples: int, *phases: Phase, always_the_same: bool = False) -> None:
    class OnThese(Conformance):
        memory = steps

    OnThese.both = both
    run_state_machine_as_test(
        OnThese,
        settings=settings(
            max_examples=examples,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=phases or tuple(Phase),
            derandomize=always_the_same,
            database=None,
            print_blob=True,
        ),
    )


def test_memory_and_postgres_answer_and_store_the_same(both: Both) -> None:
    """Compared, and asserted, after every step."""
    run(both, Steps, EXAMPLES)


@pytest.mark.parametrize(("busy_in", "claimed"), [(_TO_ECF, 0), (_UNSIGNED, 1), (_TO_FC, 1)])
def test_claim_of_a_tenant_with_rows_in_flight_counts_those_of_the_lane_alone(
    both: Both, busy_in: OutboxLane, claimed: int
) -> None:
    machine = Conformance()
    machine.both = both
    machine.begin()
    machine.signed(0, summary=False)
    machine.tick()
    tenant = next(row.tenant_id for row in both.tables.outbox.values() if row.stage == Stage.SEND)
    lanes = [LaneCapacity(lane, TenantId(0), ALWAYS, 2, 0) for lane in LANES]

    claims = both.run(_claims, Stage.SEND, lanes, Terms(LEASE, "one", 2, 2, 64, 1, {(tenant, busy_in): 1}))

    assert [len(claim.works) for claim in claims] == [claimed]


@pytest.mark.parametrize("mutant", [one for one in MUTANTS if one.steps is not Steps], ids=lambda mutant: mutant.name)
def test_deviating_memory_is_noticed(both: Both, mutant: Mutant) -> None:
    with pytest.raises(AssertionError):
        run(both, mutant.steps, 200, Phase.generate, always_the_same=True)


def test_postgres_uses_the_clock_of_the_simulation(both: Both) -> None:
    both.begin()
    both.tick(timedelta(days=400))

    async def clocks(conn: Conn) -> Any:
        cursor = await conn.execute("SELECT now(), clock_timestamp(), statement_timestamp()")
        return await cursor.fetchone()

    assert both.real(clocks) == (BEGINNING + timedelta(days=400),) * 3
