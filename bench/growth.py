"""Does it stay as fast when everything has grown: history, tenants, dead row versions, a backlog of due rows?

    python -m bench.growth --history 1000000 10000000       # in full: takes long, and 40 GB
    python -m bench.growth --short                          # as `make bench` runs it

Two stacks on one machine, one empty and one that grows, measured in turn after each step: CPU per document, verdicts/s,
p95 of the POST and of 202 -> verdict. The steps: so many old submissions (half of them the measured tenant's), so many
tenants that own the rest, an old snapshot held open while rows die, and last a backlog of due rows of the measured
tenant: how soon a service that is started finds work, and how fast it then goes beside the same with a small backlog.

Rows are made by SQL as the service would have left them, with short documents (--document-bytes).
"""

import argparse
import json
import shutil
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import psycopg

from bench.history import CHUNK, ID, fill, live_in, settle
from bench.report import Report, in_turn
from bench.road import Numbers, Road, drive, quantile
from bench.stack import QUICK, Stack, open_stack
from bench.submit import payload

#: Each measured value may be this many times that of the empty system.
MOST = 1.10
#: A restart with a backlog starts work within so many seconds.
START_WITHIN = 5.0
#: What a submission of the history takes on disk beside its documents, with all its rows and indexes; measured, and up.
_BYTES_EACH = 2_500
_MARKER = "E310000000000"

_TENANTS = """
    INSERT INTO tenants (tenant_id, name, issuer)
    OVERRIDING SYSTEM VALUE
    SELECT 1000000 + n, 'old ' || n, '{}' FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
"""
#: Rows that were there and are gone, which the held snapshot keeps from being cleaned away.
_DIE = (
    """INSERT INTO outbox (tenant_id, subject, stage, environment, host, run_at)
       SELECT %(tenant)s, gen_random_uuid(), stage, 'testecf', host, now() - interval '1 minute'
         FROM generate_series(1, %(rows)s::int),
              (VALUES ('sign', ''), ('send', 'ecf'), ('track', 'ecf')) AS lanes (stage, host)""",
    "DELETE FROM outbox WHERE tenant_id = %(tenant)s",
)
#: Due submissions of the measured tenant, as accepting leaves them; now, each a microsecond after the other.
_DUE = f"""
    CREATE TEMPORARY TABLE due AS
    SELECT {ID} AS submission_id, t.at, 'E31' || lpad((%(number)s::bigint + n)::text, 10, '0') AS e_ncf
      FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
     CROSS JOIN LATERAL (SELECT now() + n * interval '1 microsecond' AS at) AS t
"""
_DUE_ROWS = (
    """INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, ecf_type,
                                e_ncf, issuer_rnc, buyer_rnc, submitted_at, updated_at)
       SELECT %(tenant)s, submission_id, 'testecf', 'fak_000000000000', sha256('x'), 'structured', 'ECF', '31', e_ncf,
              '131880738', '131880681', at, at FROM due""",
    """INSERT INTO submission_documents (tenant_id, submission_id, kind, content)
       SELECT %(tenant)s, submission_id, 'original', convert_to(replace(%(payload)s, %(marker)s, e_ncf), 'UTF8')
         FROM due""",
    """INSERT INTO submission_events (tenant_id, submission_id, seq, at, kind, detail, hash)
       SELECT %(tenant)s, submission_id, 1, at, 'accepted', '{}', sha256('x') FROM due""",
    """INSERT INTO outbox (tenant_id, subject, stage, environment, run_at)
       SELECT %(tenant)s, submission_id, 'sign', 'testecf', now() FROM due""",
)
_DONE = """
    SELECT count(*) FROM submissions
     WHERE tenant_id = %(tenant)s AND e_ncf BETWEEN %(low)s AND %(high)s AND verdict_at IS NOT NULL
"""
_ANY = "SELECT EXISTS (SELECT FROM outbox WHERE tenant_id = %(tenant)s AND holder IS NOT NULL)"


@dataclass
class Grown:
    """A stack with what has been put into it so far."""

    stack: Stack
    history: int = 0
    tenants: int = 0
    due: int = 0
    #: Figures by step, for the plot.
    rates: list[tuple[float, float]] = field(default_factory=list)
    cpu: list[tuple[float, float]] = field(default_factory=list)

    def run(self, statements: Sequence[str], **values: Any) -> None:
        """In one transaction, with no deadline."""
        with psycopg.connect(self.stack.dsn) as conn:
            for statement in statements:
                conn.execute(statement.encode(), values if "%(" in statement else None)

    def fill_history(self, upto: int, document_bytes: int) -> None:
        """Have so many old submissions."""
        fill(self.stack, self.history + 1, upto, tenants=self.tenants, document_bytes=document_bytes)
        self.history = max(self.history, upto)
        settle(self.stack)

    def fill_tenants(self, upto: int) -> None:
        """Have so many tenants beside the measured one."""
        self.run([_TENANTS], first=self.tenants + 1, last=upto)
        self.tenants = upto
        settle(self.stack)

    def fill_due(self, rows: int, number: int) -> None:
        """Put so many submissions into the outbox, due now; numbers from `number` on."""
        for first in range(1, rows + 1, CHUNK):
            self.run(
                [_DUE, *_DUE_ROWS, "DROP TABLE due"],
                tenant=self.stack.tenant_id,
                first=first,
                last=min(first + CHUNK - 1, rows),
                number=number,
                payload=_payload(),
                marker=_MARKER,
            )
        settle(self.stack)


def _payload() -> str:
    return json.dumps(payload(_MARKER), ensure_ascii=False)


@contextmanager
def old_snapshot(stack: Stack) -> Iterator[None]:
    """Hold a snapshot, as a forgotten session or a long backup does."""
    with psycopg.connect(stack.dsn) as conn:
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        conn.execute("SELECT count(*) FROM outbox")
        yield
        conn.rollback()


class Comparison:
    """The empty stack and the grown one, in turn."""

    def __init__(self, report: Report, empty: Stack, grown: Grown, arguments: argparse.Namespace) -> None:
        self._report, self._empty, self._grown, self._arguments = report, empty, grown, arguments
        self._numbers = Numbers()
        self._numbers.take(1)  # has been used to warm both

    def step(self, name: str) -> dict[str, list[Road]]:
        """Measure both and note how the grown one does."""
        once = partial(drive, numbers=self._numbers, documents=self._arguments.documents, clients=32)
        kinds = {"empty": partial(once, self._empty), name: partial(once, self._grown.stack)}
        found = in_turn(kinds, self._arguments.rounds)
        empty, grown = found["empty"], found[name]
        measured = ("CPU", [r.measured_ms for r in grown], [r.measured_ms for r in empty])
        rate = (
            "time per document",
            [1 / r.verdicts_per_second for r in grown],
            [1 / r.verdicts_per_second for r in empty],
        )
        posts = ("POST p95", [quantile(r.posts, 95) for r in grown], [quantile(r.posts, 95) for r in empty])
        verdicts = (
            "202 -> verdict p95",
            [quantile(r.verdicts, 95) for r in grown],
            [quantile(r.verdicts, 95) for r in empty],
        )
        for what, over, under in (measured, rate, posts, verdicts):
            self._report.ratio(f"{what}, {name} : empty", over, under, at_most=MOST)
        for which, roads in found.items():
            self._report.figure(f"{which} (beside {name})", "verdicts/s", [r.verdicts_per_second for r in roads])
            self._report.figure(f"{which} (beside {name})", "ms of CPU", [r.measured_ms for r in roads])
        return found


def backlog(report: Report, grown: Grown, rows: int, seconds: float) -> None:
    """A service that is started on a backlog: when it begins, and how fast it goes, beside a small backlog."""
    rates: dict[str, float] = {}
    for name, due, number in (
        ("a small backlog", min(3000, rows), 6_000_000_000),
        (f"{rows:,} due", rows, 7_000_000_000),
    ):
        grown.fill_due(due, number)
        began = time.monotonic()
        grown.stack.start_service(role="actors")
        with psycopg.connect(grown.stack.dsn, autocommit=True) as conn:
            values = {
                "tenant": grown.stack.tenant_id,
                "low": f"E31{number:010d}",
                "high": f"E31{number + due:010d}",
            }
            until_claim = _until(conn, _ANY, values, 120.0) - began
            first = _count(conn, values)
            started, used = time.monotonic(), grown.stack.cpu()
            while time.monotonic() - started < seconds and _count(conn, values) < due:
                time.sleep(0.5)
            done = _count(conn, values) - first
            elapsed = time.monotonic() - started
            after = grown.stack.cpu()
        grown.stack.stop("service")
        rates[name] = done / elapsed
        report.figure(name, "s from the start to the first claim", until_claim)
        report.figure(name, "verdicts/s", rates[name])
        spent = sum(after[part] - used[part] for part in ("service", "Postgres"))
        report.figure(name, "ms of CPU", spent / max(done, 1) * 1000)
        if due == rows:
            report.ratio(f"start to first claim, {name} : 5 s", until_claim / START_WITHIN, 1.0, at_most=1)
            small = rates["a small backlog"]
            report.ratio(f"verdicts/s, {name} : a small backlog", rates[name], small, at_least=1 / MOST)
        else:
            grown.run(["DELETE FROM outbox WHERE tenant_id = %(tenant)s"], tenant=grown.stack.tenant_id)


def _until(conn: "psycopg.Connection", statement: str, values: dict[str, Any], patience: float) -> float:
    until = time.monotonic() + patience
    while time.monotonic() < until:
        row = conn.execute(statement.encode(), values).fetchone()
        if row is not None and row[0]:
            return time.monotonic()
        time.sleep(0.02)
    raise SystemExit(f"no work was begun within {patience:.0f} s")


def _count(conn: "psycopg.Connection", values: dict[str, Any]) -> int:
    row = conn.execute(_DONE.encode(), values).fetchone()
    assert row is not None
    return int(row[0])


def room_for(stack: Stack, rows: int, document_bytes: int) -> bool:
    """Whether the disk has room for so many more, and as much again."""
    return shutil.disk_usage(stack.folder).free > 2 * rows * (_BYTES_EACH + 2 * document_bytes)


def main() -> int:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--history", type=int, nargs="*", default=[1_000_000], help="old submissions, growing")
    parser.add_argument("--tenants", type=int, nargs="*", default=[1_000, 20_000], help="tenants, growing")
    parser.add_argument("--backlog", type=int, default=1_000_000, help="due rows of one tenant; 0: leave it out")
    parser.add_argument("--dead", type=int, default=300_000, help="dead row versions under the held snapshot")
    parser.add_argument("--document-bytes", type=int, default=200, help="of each document in the history")
    parser.add_argument("--documents", type=int, default=400, help="that each measurement brings to their verdict")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0, help="for which a backlog is worked on")
    parser.add_argument("--short", action="store_true", help="as `make bench` runs it")
    arguments = parser.parse_args()
    if arguments.short:
        arguments.history, arguments.tenants, arguments.backlog = [100_000], [1_000], 50_000
        arguments.dead, arguments.documents, arguments.rounds, arguments.seconds = 60_000, 250, 2, 8.0
    quick = [*QUICK, "--delay", "0.2"]
    with Report("growth") as report, open_stack(authority=quick) as empty, open_stack(authority=quick) as stack:
        report.server(stack.dsn)
        grown = Grown(stack)
        for each in (empty, stack):
            live_in(each)
            each.start_service()
            each.log_in()
            drive(each, Numbers(), 1, 1)  # a month's partitions, a token, plans
        comparison = Comparison(report, empty, grown, arguments)
        rates: list[tuple[float, float]] = []
        cpu: list[tuple[float, float]] = []

        def step(name: str) -> None:
            road = comparison.step(name)
            share = [
                g.verdicts_per_second / e.verdicts_per_second for g, e in zip(road[name], road["empty"], strict=True)
            ]
            rates.append((grown.history, statistics.median(share)))
            spent = [g.measured_ms / e.measured_ms for g, e in zip(road[name], road["empty"], strict=True)]
            cpu.append((grown.history, statistics.median(spent)))

        step("nothing yet")
        for size in sorted(arguments.history):
            if not room_for(stack, size - grown.history, arguments.document_bytes):
                report.skip(f"{size:,} old submissions", "the disk has no room for them")
                continue
            grown.fill_history(size, arguments.document_bytes)
            step(f"{size:,} old")
        lines = {"verdicts/s": list(rates), "CPU per document": list(cpu)}
        report.plot("rate by history", "old submissions", "times the empty system's", lines, logarithmic=True)
        for size in sorted(arguments.tenants):
            grown.fill_tenants(size)
            step(f"{size:,} tenants")
        with old_snapshot(stack):
            grown.run(_DIE, tenant=stack.tenant_id, rows=arguments.dead // 3)
            step("an old snapshot")
        for each in (empty, stack):
            each.stop("service")
        if arguments.backlog:
            backlog(report, grown, arguments.backlog, arguments.seconds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
