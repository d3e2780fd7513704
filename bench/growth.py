"""Speed after growth: of history, tenants, dead row versions, and a backlog of due rows.

    python -m bench.growth            # 1 and 10 million old submissions, 1,000 and 20,000 tenants, 1 million due
    python -m bench.growth --short    # as `make bench` runs it: --history 200000 --tenants 1000 20000 --backlog 200000

Two stacks on one machine, one empty and one that grows, are measured in turn after each step: time and CPU per
document, p95 of the POST and of 202 -> verdict, and the pages that statements read per document, which other work on
the machine does not change (on Debian's Postgres, see bench/reads.py; without it they are left out). The first
comparison is between two empty stacks and shows the noise. The steps:

* old submissions, half of them the measured tenant's and half of the others',
* more tenants; then each of them with a document that waits for a later try,
* an old snapshot held open while rows die,
* a backlog of due rows of the measured tenant: how soon a service that is started begins, and how it does beside the
  empty stack with a small backlog.

Rows are made by SQL as the service would have left them, with short documents (--document-bytes).
"""

import argparse
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import psycopg

from bench import debian
from bench.backlog import ENOUGH, Restart, clear, put_due, restart
from bench.history import fill, live_in, quickly
from bench.reads import BATCH, beside, of_a_batch, pages_of
from bench.report import Report, in_turn
from bench.road import Numbers, drive, quantile
from bench.runner import read_options
from bench.stack import EMBEDDED, QUICK, Stack, open_stack

#: Each measured value may be this many times that of the empty system.
MOST = 1.10
#: Seconds within which a restart with a backlog starts work.
START_WITHIN = 5.0
#: Bytes on disk of an old submission beside its documents, with all rows and indexes; measured and rounded up.
_BYTES_EACH = 2_500
#: Tenants of the benchmark have ids from here on.
_FIRST_TENANT = 1_000_000

_TENANTS = f"""
    INSERT INTO tenants (tenant_id, name, issuer)
    OVERRIDING SYSTEM VALUE
    SELECT {_FIRST_TENANT} + n, 'old ' || n, '{{}}' FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
"""
#: Days that are over are closed long since: else all of the history is read to close them while others are measured.
_CLOSED = """
    INSERT INTO usage_marks (tenant_id, closed_until)
    SELECT tenant_id, (now() AT TIME ZONE 'UTC')::date FROM tenants
    ON CONFLICT (tenant_id) DO UPDATE SET closed_until = EXCLUDED.closed_until
"""
#: A document of each of the others that waits for a later try, in each of the stages.
_LATER = f"""
    INSERT INTO outbox (tenant_id, subject, stage, environment, host, run_at, attempt)
    SELECT {_FIRST_TENANT} + n, gen_random_uuid(), stage, 'testecf', host, now() + interval '1 day', 3
      FROM generate_series(1, %(tenants)s::bigint) AS n,
           (VALUES ('sign', ''), ('send', 'ecf'), ('track', 'ecf')) AS lanes (stage, host)
"""
#: Rows that were there and are gone, which the held snapshot keeps from being cleaned away.
_DIE = (
    """INSERT INTO outbox (tenant_id, subject, stage, environment, host, run_at)
       SELECT %(tenant)s, uuid_floor(now() - interval '1 hour' + (3 * n + nth) * interval '1 millisecond'), stage,
              'testecf', host, now() - interval '1 minute'
         FROM generate_series(1, %(rows)s::int) AS n,
              (VALUES (0, 'sign', ''), (1, 'send', 'ecf'), (2, 'track', 'ecf')) AS lanes (nth, stage, host)""",
    "DELETE FROM outbox WHERE tenant_id = %(tenant)s",
)


@dataclass
class Grown:
    """A stack with what has been put into it so far."""

    stack: Stack
    history: int = 0
    tenants: int = 0

    def run(self, *statements: str, **values: Any) -> None:
        """In one transaction, with no deadline and no triggers."""
        with psycopg.connect(self.stack.dsn) as conn:
            conn.execute("SET LOCAL session_replication_role = replica")
            for statement in statements:
                conn.execute(statement.encode(), values)

    def fill_history(self, upto: int, document_bytes: int) -> None:
        """Add old submissions up to this number."""
        with quickly(self.stack):
            fill(self.stack, self.history + 1, upto, tenants=self.tenants, document_bytes=document_bytes)
            self.run(_CLOSED)
        self.history = max(self.history, upto)

    def fill_tenants(self, upto: int) -> None:
        """Add tenants up to this number beside the measured one."""
        with quickly(self.stack):
            self.run(_TENANTS, first=self.tenants + 1, last=upto)
            self.run(_CLOSED)
        self.tenants = upto

    def make_them_wait(self) -> None:
        """Put a document of each of the other tenants aside for a day."""
        with quickly(self.stack):
            self.run(_LATER, tenants=self.tenants)

    @contextmanager
    def old_snapshot(self, rows: int) -> Iterator[None]:
        """Hold a snapshot, as a forgotten session or a long backup does, while rows die."""
        with psycopg.connect(self.stack.dsn) as conn:
            conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            conn.execute("SELECT count(*) FROM outbox")
            self.run(*_DIE, tenant=self.stack.tenant_id, rows=rows // 3)
            yield
            conn.rollback()


class Comparison:
    """The empty stack and the grown one, in turn."""

    def __init__(self, report: Report, empty: Stack, grown: Grown, arguments: argparse.Namespace) -> None:
        self._report, self._empty, self._grown = report, empty, grown
        self._documents, self._rounds, self._counts = arguments.documents, arguments.rounds, arguments.counts
        self.numbers = Numbers()
        self.numbers.take(1)  # has been used to warm both
        #: Times the empty system's, by how many old submissions there were.
        self.rates: list[tuple[float, float]] = []
        self.cpu: list[tuple[float, float]] = []

    def step(self, name: str) -> None:
        """Measure both and note how the grown one does."""
        began = time.monotonic()
        once = partial(drive, numbers=self.numbers, documents=self._documents, clients=32)
        stacks = {"empty": self._empty, name: self._grown.stack}
        for stack in stacks.values():  # plans are made, and what was put in meanwhile is done with
            drive(stack, self.numbers, self._documents // 4, 32)
        found = in_turn({which: partial(once, stack) for which, stack in stacks.items()}, self._rounds)
        empty, grown = found["empty"], found[name]
        times = [[1 / road.verdicts_per_second for road in roads] for roads in (grown, empty)]
        spent = [[road.measured_ms for road in roads] for roads in (grown, empty)]
        posts = [[quantile(road.posts, 95) for road in roads] for roads in (grown, empty)]
        verdicts = [[quantile(road.verdicts, 95) for road in roads] for roads in (grown, empty)]
        if self._counts:
            self._pages(name)
        for what, (over, under) in (
            ("time per document", times),
            ("CPU", spent),
            ("POST p95", posts),
            ("202 -> verdict p95", verdicts),
        ):
            self._report.ratio(f"{what}, {name} : empty", over, under, at_most=MOST)
        for which, roads in found.items():
            self._report.figure(f"{which} (beside {name})", "verdicts/s", [r.verdicts_per_second for r in roads])
            self._report.figure(f"{which} (beside {name})", "ms of CPU", [r.measured_ms for r in roads])
        self.rates.append((self._grown.history, 1 / _middle(*times)))
        self.cpu.append((self._grown.history, _middle(*spent)))
        print(f"   {name}: measured in {time.monotonic() - began:.0f} s", flush=True)

    def _pages(self, name: str) -> None:
        empty, grown = (pages_of(stack) for stack in (self._empty, self._grown.stack))
        self._report.ratio(f"pages, {name} : empty", of_a_batch(grown), of_a_batch(empty), at_most=MOST)
        self._report.table(f"pages that a call looks at for {BATCH} documents, {name}", beside(empty, grown))

    def backlog(self, rows: int, seconds: float, rounds: int) -> None:
        """Start a service on the backlog of the grown stack, and one on a small backlog of the empty one."""
        name = f"{rows:,} due"
        began = time.monotonic()
        put_due(self._grown.stack, rows, 7_000_000_000)
        print(f"   {name}: made in {time.monotonic() - began:.0f} s", flush=True)
        if self._counts:
            self._pages(name)
        found: dict[str, list[Restart]] = {"small": [], name: []}
        for nth in range(rounds):
            put_due(self._empty, round(ENOUGH * seconds), 6_000_000_000 + nth * 10_000_000)
            stacks = {"small": self._empty, name: self._grown.stack}
            for which in reversed(list(stacks)) if nth % 2 else list(stacks):
                found[which].append(restart(stacks[which], self.numbers, seconds))
            clear(self._empty)
        small, large = found.values()
        starts = [each.until_claim / START_WITHIN for each in large]
        self._report.ratio(f"start to first claim, {name} : 5 s", starts, [1.0] * rounds, at_most=1)
        for what, of in (
            ("time per document", lambda each: 1 / each.verdicts_per_second),
            ("CPU", lambda each: each.cpu_ms),
            ("POST p95", lambda each: quantile(each.posts, 95)),
        ):
            over, under = ([of(each) for each in those] for those in (large, small))
            self._report.ratio(f"{what}, {name} : a small backlog, empty", over, under, at_most=MOST)
        for which, those in found.items():
            self._report.figure(which, "s from the start to the first claim", [each.until_claim for each in those])
            self._report.figure(which, "verdicts/s", [each.verdicts_per_second for each in those])
            self._report.figure(which, "ms of CPU", [each.cpu_ms for each in those])


def _middle(over: Sequence[float], under: Sequence[float]) -> float:
    return statistics.median(a / b for a, b in zip(over, under, strict=True))


def room_for(stack: Stack, rows: int, document_bytes: int) -> bool:
    """Tell whether the disk has twice the room that they need."""
    return shutil.disk_usage(stack.folder).free > 2 * rows * (_BYTES_EACH + 2 * document_bytes)


def arguments_of(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    wanted = {
        "history": ([1_000_000, 10_000_000], "old submissions, growing"),
        "tenants": ([1_000, 20_000], "tenants, growing"),
        "backlog": (1_000_000, "due rows of one tenant; 0: leave it out"),
        "dead": (3_000_000, "rows that died under the held snapshot: an hour of 300 documents a second"),
        "document-bytes": (200, "of each document in the history"),
        "documents": (1500, "that each measurement brings to their verdict"),
        "rounds": 3,
        "seconds": (20.0, "for which a backlog is worked on"),
        "embedded": (False, "on the embedded Postgres, which does not count pages"),
    }
    short = {"history": [200_000], "backlog": 200_000, "dead": 60_000, "documents": 160, "rounds": 2, "seconds": 6.0}
    return read_options(__doc__, wanted, short=short, argv=argv)


def grow(report: Report, comparison: Comparison, grown: Grown, arguments: argparse.Namespace) -> None:
    """Step by step, with the service running on both."""
    comparison.step("as empty")
    for size in sorted(arguments.tenants)[:1]:
        grown.fill_tenants(size)  # whose the other half of the history is
    for size in sorted(arguments.history):
        if not room_for(grown.stack, size - grown.history, arguments.document_bytes):
            report.skip(f"{size:,} old submissions", "the disk has no room for them")
            continue
        began = time.monotonic()
        grown.fill_history(size, arguments.document_bytes)
        print(f"   {size:,} old: made in {time.monotonic() - began:.0f} s", flush=True)
        comparison.step(f"{size:,} old")
    lines = {"verdicts/s": comparison.rates[:], "CPU per document": comparison.cpu[:]}
    report.plot("rate by history", "old submissions", "times the empty system's", lines, logarithmic=True)
    for size in sorted(arguments.tenants):
        if size > grown.tenants:
            grown.fill_tenants(size)
            comparison.step(f"{size:,} tenants")
    if grown.tenants:
        grown.make_them_wait()
        comparison.step(f"{grown.tenants:,} that wait")
    with grown.old_snapshot(arguments.dead):
        comparison.step("an old snapshot")


def main() -> int:
    """Measure and tell."""
    arguments = arguments_of()
    quick = [*QUICK, "--delay", "0.2"]
    arguments.counts = debian.programs() is not None and not arguments.embedded
    where = ("-m", "bench.debian") if arguments.counts else EMBEDDED
    with (
        Report("growth") as report,
        open_stack(authority=quick, postgres=where) as empty,
        open_stack(authority=quick, postgres=where) as stack,
    ):
        report.server(stack.dsn)
        if not arguments.counts:
            report.skip("pages that statements look at", "no Postgres of Debian's packages here")
        grown = Grown(stack)
        for each in (empty, stack):
            live_in(each)
            each.start_service()
            each.log_in()
            drive(each, Numbers(), 1, 1)  # a month's partitions, a token, plans
        comparison = Comparison(report, empty, grown, arguments)
        grow(report, comparison, grown, arguments)
        for each in (empty, stack):
            each.stop("service")
        if arguments.backlog:
            comparison.backlog(arguments.backlog, arguments.seconds, 1 if arguments.short else 2)
    return 0


if __name__ == "__main__":
    sys.exit(main())
