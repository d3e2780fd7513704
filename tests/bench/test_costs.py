"""The cost of a document and of an idle process for the database: counts, never times or rates.

A real service, started as `fe run`, brings documents from the POST to the verdict. The test counts its messages to
Postgres on the wire (bench/traffic.py), and the bytes written in the server's write-ahead log (bench/wal.py).

A document that comes alone costs the same on any machine. Its statements are listed exactly, and one more fails.
Documents that wait in a row, as under load, are worked in batches. Their costs have ceilings, because the cost of a
single document does not show whether batching works.

A ceiling is the measured value plus a margin, because the size of batches differs from run to run. On a busy machine
batches are smaller and the work at the start takes longer, so a count above its ceiling is repeated, twice at most. A
real regression exceeds the ceiling each time.
If you make something cheaper, lower the measured value here. If you have to raise one, say why in the commit.
"""

import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from urllib.parse import urlsplit

import psycopg
import pytest

from bench.history import live_in
from bench.road import Numbers, Tally, profiled, tally, wait_for_verdicts
from bench.stack import Stack, context_switches, open_stack
from bench.submit import payload
from bench.traffic import Counts, counted

#: Measured in November 2026, per document: as bench.road counts, 32 clients, one process. The first three were 0.39 to
#: 0.52, 0.41 to 0.56 and 0.27 to 0.38 at a load of 5; where documents come more slowly than they are brought on they
#: are more. The other two hardly differ from run to run: 12,520 to 12,590 and 7.06 to 7.15.
PER_DOCUMENT = {
    "statements": 0.65,
    "round trips": 0.7,
    "commits": 0.5,
    "WAL bytes": 12_600.0,
    "dead row versions": 7.15,
}
#: And of a process that has nothing to do, with the default settings. It looks at five queues: those of submissions,
#: webhooks and their recoveries, and of what goes to other taxpayers, and each process compares its clock with the
#: database's. At a load of 6 it was 7.8 to 9.5 statements a second. Imports, recurring receipts and certifications,
#: which the front looks for, and files to sign, which the actors look for, take up to five connections more where they
#: look at the same moment as others.
IDLE = {"connections": 14.5, "statements a second": 7.8, "wake-ups a second": 18.5}
#: The margin of a ceiling; that of what does not depend on the size of batches is smaller.
MARGIN, STEADY_MARGIN = 1.2, 1.08
STEADY = ("WAL bytes", "dead row versions")

#: The statements for a document that comes alone, from the POST to the verdict.
ALONE = Counter(
    {
        "accept_submissions()": 1,
        "pg_notify()": 1,
        "input_to_sign()": 1,
        "book_signed_batch()": 1,
        "book_received_batch()": 1,
        "book_verdict_batch()": 1,
    }
)
#: How many transactions write for it: each of these but the one that only reads.
ALONE_TRANSACTIONS = 5
#: How the texts begin with which a process looks for work by the clock: how often while a document is under way is a
#: matter of how long that takes. IDLE holds them down.
LOOKS = (
    "claim_with_input()",
    "SELECT environment, host, is_open",
    "SELECT lane, due, tenants",
    "SELECT lane.environment, lane.host",
    "WITH RECURSIVE early",
)

DOCUMENTS = 128
CLIENTS = 32
IDLE_SECONDS = 8.0
TRIES = 5
#: At least one of these documents must cost exactly the stated statements. Others may include periodic work (usage,
#: heartbeats) or the work after the verdict of the document before. A real regression shows in every document.
LONE_DOCUMENTS = 60
#: The time to notify waiting requests after the verdict is booked.
TOLD_SECONDS = 0.1


#: A stack is started and fed: under load that takes longer than a test may otherwise.
pytestmark = pytest.mark.timeout(900)


@dataclass(frozen=True, slots=True)
class Idle:
    """The activity of an idle process in a second."""

    wire: Counts
    seconds: float
    wake_ups: int

    def figures(self) -> dict[str, float]:
        return {
            "connections": self.wire.connections,
            "statements a second": sum(self.wire.statements.values()) / self.seconds,
            "wake-ups a second": self.wake_ups / self.seconds,
        }


@dataclass(frozen=True, slots=True)
class Lone:
    """The cost of one document while no other was under way."""

    statements: Counter[str]
    #: Round trips without a statement.
    empty_round_trips: int
    #: Transactions that wrote.
    transactions: int

    def off(self) -> int:
        """The difference from the stated statements: 0 only if they are exactly equal."""
        more, less = self.statements - ALONE, ALONE - self.statements
        empty = max(0, self.empty_round_trips)  # one statement may be under way when it is counted
        return more.total() + less.total() + empty + abs(self.transactions - ALONE_TRANSACTIONS)


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """A stack without its service. The server does no work of its own while the test counts."""
    with open_stack(postgres_settings={"autovacuum": "off", "fsync": "off"}) as opened:
        live_in(opened, rows=5_000)
        yield opened


def ceilings(measured: dict[str, float]) -> dict[str, float]:
    return {what: most * (STEADY_MARGIN if what in STEADY else MARGIN) for what, most in measured.items()}


def exceeded(figures: dict[str, float], measured: dict[str, float]) -> bool:
    return any(figures[what] > most for what, most in ceilings(measured).items())


@pytest.fixture(scope="module")
def numbers() -> Numbers:
    return Numbers()


@pytest.fixture(scope="module")
def costs(stack: Stack, numbers: Numbers) -> Tally:
    for _ in range(TRIES):
        found = tally(stack, numbers, DOCUMENTS, CLIENTS, processes=1)
        if not exceeded(found.per_document(), PER_DOCUMENT):
            break
    return found


def only(stack: Stack, numbers: Numbers) -> None:
    """Hand one document in and wait for its verdict."""
    number = f"E31{numbers.take(1):010d}"
    body = json.dumps({"format": "structured", "payload": payload(number), "clientRequestId": number})
    headers = {"Authorization": f"Bearer {stack.token}", "Content-Type": "application/json"}
    with closing(HTTPConnection(urlsplit(stack.base_url).netloc, timeout=60)) as connection:
        connection.request("POST", "/api/v1/fe/invoices", body, headers)
        assert connection.getresponse().status == 202
    wait_for_verdicts(stack)


def transactions(conn: psycopg.Connection) -> int:
    """How many have written since the server was made."""
    row = conn.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint").fetchone()
    assert row is not None
    return int(row[0])


@pytest.fixture(scope="module")
def lone(stack: Stack, numbers: Numbers) -> Lone:
    with counted(stack.dsn) as traffic, psycopg.connect(stack.dsn, autocommit=True) as conn:
        stack.start_service(dsn=traffic.dsn)
        stack.log_in()
        for _ in range(8):  # statements prepared, tokens had
            only(stack, numbers)
        nearest: Lone | None = None
        for _ in range(LONE_DOCUMENTS):
            before, written = traffic.counts(), transactions(conn)
            only(stack, numbers)
            time.sleep(TOLD_SECONDS)
            found = traffic.counts().since(before)
            said = Counter({text: n for text, n in found.statements.items() if not text.startswith(LOOKS)})
            one = Lone(said, found.round_trips - found.statements.total(), transactions(conn) - written)
            if nearest is None or one.off() < nearest.off():
                nearest = one
            if not nearest.off():
                break
        stack.stop("service")
    assert nearest is not None
    return nearest


@pytest.fixture(scope="module")
def idle(stack: Stack) -> Idle:
    with counted(stack.dsn) as traffic:
        stack.start_service(dsn=traffic.dsn)
        time.sleep(3)  # what is done once at the start is over
        for _ in range(TRIES):
            before, wakes, began = traffic.counts(), context_switches(stack.pid("service")), time.monotonic()
            time.sleep(IDLE_SECONDS)
            wire = traffic.counts().since(before)
            found = Idle(wire, time.monotonic() - began, context_switches(stack.pid("service")) - wakes)
            if not exceeded(found.figures(), IDLE):
                break
        stack.stop("service")
    return found


@pytest.mark.parametrize("what", PER_DOCUMENT)
def test_document_costs_stay_within_limits(what: str, costs: Tally) -> None:
    found, most = costs.per_document()[what], ceilings(PER_DOCUMENT)[what]

    assert found <= most, f"{found:.2f} {what} per document; {costs.wire.statements.most_common()}"


def test_single_document_costs_exactly_these_statements(lone: Lone) -> None:
    assert lone.statements == ALONE


def test_single_document_waits_for_no_round_trip_without_a_statement(lone: Lone) -> None:
    assert lone.empty_round_trips <= 0  # one statement may be under way when it is counted


def test_single_document_is_written_in_a_fixed_number_of_transactions(lone: Lone) -> None:
    assert lone.transactions == ALONE_TRANSACTIONS


@pytest.mark.parametrize("what", IDLE)
def test_idle_process_costs_stay_within_limits(what: str, idle: Idle) -> None:
    found, most = idle.figures()[what], ceilings(IDLE)[what]

    assert found <= most, f"{found:.2f} {what}; {idle.wire.statements.most_common()}"


def test_counts_match_the_statements_that_ran(costs: Tally) -> None:
    """A proxy that misses half, or a log that is not read, would let everything pass."""
    figures = costs.per_document()

    assert any(text.startswith("accept") for text in costs.wire.statements)
    assert figures["commits"] * costs.documents >= 4  # accepted, signed, sent, judged: however many at once
    assert figures["WAL bytes"] > 4_000  # a document that was signed is longer than that
    assert costs.written.bytes_of["submission_documents"] > 0
    assert costs.written.dead_of["submissions"] > 0


def test_profile_finds_the_signature_in_the_process_that_works(stack: Stack, numbers: Numbers) -> None:
    spent, functions = profiled(stack, numbers, CLIENTS, CLIENTS)

    assert sum(us for (part, _), us in spent.items() if part == "signing") > 0
    assert any("signer.py" in runs for _, runs in functions)
