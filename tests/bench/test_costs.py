"""What a document and an idle process cost the database, held down by ceilings: counts, never a time or a rate.

A real service, started as `fe run`, brings documents from the POST to the verdict. Its words to Postgres are counted on
the wire (bench/traffic.py), what is written in the server's own log (bench/wal.py). Documents wait in a row, as under
load, so that what can be done for many at once is.

The ceilings are what was measured, and a margin, because how many documents are taken together differs from run to run.
On a machine that has much else to do fewer are, and what is done once at a start takes longer to be over: what exceeds
its ceiling is counted again, twice at most. What costs too much by itself does so each time.
Whoever makes something cheaper lowers the measured value here; whoever must raise one says why in the commit.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from bench.history import live_in
from bench.road import Numbers, Tally, tally
from bench.stack import Stack, context_switches, open_stack
from bench.traffic import Counts, counted

#: Measured in November 2026, per document: as bench.road counts, 32 clients, one process. The first three were 0.43 to
#: 0.5, 0.47 to 0.54 and 0.35 to 0.44 at a load of 7; where documents come more slowly than they are brought on they are
#: more.
PER_DOCUMENT = {
    "statements": 0.8,
    "round trips": 0.85,
    "commits": 0.7,
    "WAL bytes": 11_800.0,
    "dead row versions": 8.3,
}
#: And of a process that has nothing to do, with the default settings. It looks at five queues: those of submissions,
#: webhooks and their recoveries, and of what goes to other taxpayers; before the last four it was 4.1 and 13.3.
IDLE = {"connections": 12.0, "statements a second": 6.2, "wake-ups a second": 17.8}
MARGIN = 1.2

DOCUMENTS = 128
CLIENTS = 32
IDLE_SECONDS = 8.0
TRIES = 5


#: A stack is started and fed: under load that takes longer than a test may otherwise.
pytestmark = pytest.mark.timeout(900)


@dataclass(frozen=True, slots=True)
class Idle:
    """What an idle process did in a second."""

    wire: Counts
    seconds: float
    wake_ups: int

    def figures(self) -> dict[str, float]:
        return {
            "connections": self.wire.connections,
            "statements a second": sum(self.wire.statements.values()) / self.seconds,
            "wake-ups a second": self.wake_ups / self.seconds,
        }


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    """A stack without its service; the server does nothing by itself while it is counted what it does."""
    with open_stack(postgres_settings={"autovacuum": "off", "fsync": "off"}) as opened:
        live_in(opened, rows=5_000)
        yield opened


def exceeded(figures: dict[str, float], measured: dict[str, float]) -> bool:
    return any(figures[what] > most * MARGIN for what, most in measured.items())


@pytest.fixture(scope="module")
def costs(stack: Stack) -> Tally:
    numbers = Numbers()
    for _ in range(TRIES):
        found = tally(stack, numbers, DOCUMENTS, CLIENTS, processes=1)
        if not exceeded(found.per_document(), PER_DOCUMENT):
            break
    return found


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
def test_a_document_costs_no_more_than(what: str, costs: Tally) -> None:
    found, most = costs.per_document()[what], PER_DOCUMENT[what] * MARGIN

    assert found <= most, f"{found:.2f} {what} per document; {costs.wire.statements.most_common()}"


@pytest.mark.parametrize("what", IDLE)
def test_a_process_with_nothing_to_do_costs_no_more_than(what: str, idle: Idle) -> None:
    found, most = idle.figures()[what], IDLE[what] * MARGIN

    assert found <= most, f"{found:.2f} {what}; {idle.wire.statements.most_common()}"


def test_what_is_counted_is_what_was_done(costs: Tally) -> None:
    """A proxy that misses half, or a log that is not read, would let everything pass."""
    figures = costs.per_document()

    assert any(text.startswith("accept") for text in costs.wire.statements)
    assert figures["commits"] * costs.documents >= 4  # accepted, signed, sent, judged: however many at once
    assert figures["WAL bytes"] > 4_000  # a document that was signed is longer than that
    assert costs.written.bytes_of["submission_documents"] > 0
    assert costs.written.dead_of["submissions"] > 0
