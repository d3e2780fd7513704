"""The whole road: documents in over HTTP, verdicts back; what each costs in CPU, in statements and in what is written.

    python -m bench.road [--documents 1000] [--rounds 3] [--processes 1] [--clients 32]
    python -m bench.road --beside 3ecf40f      # the service of another commit in turn with this one's
    python -m bench.road --profile             # and where the service's main thread spends its CPU

Everything runs here: Postgres, an authority (bench.authority), the service, the load, each in processes of its own and
with its CPU told apart. Service and Postgres are what is measured; from four cores on the others have their own. The
costs are multiples of one RSA-2048 signature and of one durable commit, measured in the same run. Counts come from a
pass of their own, through a proxy that reads the wire (bench/traffic.py) and from the server's log (bench/wal.py).
Ends with 1 when a document did not come through.
"""

import argparse
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit
from uuid import UUID

import psycopg

from bench import wal
from bench.history import live_in
from bench.report import ROOT, Report, in_turn
from bench.runner import read_options
from bench.stack import QUICK, SIMULATOR, Stack, family, open_stack, tree_of
from bench.submit import Order, submit
from bench.traffic import Counts, counted
from bench.units import commit_ms, embedded_programs, signature_ms

#: How long to wait for the last verdict.
PATIENCE = 180.0
#: Name of the tree that others are compared with.
OURS = "this tree"

# From an id on: with a snapshot held open, all that was ever there would be read, ten times a second.
_LEFT = "SELECT count(*) FROM outbox WHERE tenant_id = %s AND subject >= %s"
_VERDICTS = """
    SELECT extract(EPOCH FROM max(verdict_at) - min(submitted_at))::float8,
           array_agg(extract(EPOCH FROM verdict_at - submitted_at)::float8),
           count(*) FILTER (WHERE status = 'Aceptado')
      FROM submissions
     WHERE tenant_id = %s AND e_ncf BETWEEN %s AND %s
"""


class Lost(Exception):
    """Documents did not come through."""


@dataclass(frozen=True, slots=True)
class Road:
    """Result of one round: seconds of each document, and CPU seconds of each part for all documents."""

    documents: int
    accepted_per_second: float
    verdicts_per_second: float
    posts: list[float]
    verdicts: list[float]
    cpu: dict[str, float]

    def cpu_ms(self, part: str) -> float:
        """Milliseconds of CPU for each document."""
        return self.cpu[part] / self.documents * 1000

    @property
    def measured_ms(self) -> float:
        """CPU in milliseconds of the service and Postgres, per document."""
        return self.cpu_ms("service") + self.cpu_ms("Postgres")


class Numbers:
    """Unused fiscal numbers: each run takes the next ones."""

    def __init__(self) -> None:
        self._next = 1

    def take(self, count: int) -> int:
        """Take this many numbers; return the first."""
        first, self._next = self._next, self._next + count
        return first


def drive(stack: Stack, numbers: Numbers, documents: int, clients: int, *, lines: int = 2) -> Road:
    """Post the documents, wait for the last verdict, and account for them. Raises Lost."""
    first = numbers.take(documents)
    port = urlsplit(stack.base_url).port
    assert port is not None
    order = Order(port, stack.token, first, documents, clients, lines=lines, cores=tuple(stack.cores.beside))
    before = stack.cpu()
    since = UUID(int=(time.time_ns() // 1_000_000 - 1_000) << 80)  # ids are UUIDs of version 7
    answer = submit(order)
    wait_for_verdicts(stack, since=since)
    used = {name: now - before[name] for name, now in stack.cpu().items()} | {"load": answer.cpu_seconds}
    seconds, verdicts = verdicts_of(stack, first, documents)
    return Road(
        documents, documents / answer.seconds, documents / seconds, [post for _, post in answer.posts], verdicts, used
    )


def wait_for_verdicts(stack: Stack, patience: float = PATIENCE, *, since: UUID | None = None) -> None:
    """Return when the tenant has no work left, or none from the id `since` on. Raises Lost."""
    until = time.monotonic() + patience
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        while True:
            row = conn.execute(_LEFT, [stack.tenant_id, since or UUID(int=0)]).fetchone()
            assert row is not None
            if row[0] == 0:
                return
            if time.monotonic() > until:
                raise Lost(f"{row[0]} documents are still under way after {patience:.0f} s")
            time.sleep(0.1)


def verdicts_of(stack: Stack, first: int, documents: int) -> tuple[float, list[float]]:
    """Seconds from the first submission to the last verdict, and each one's own. Raises Lost."""
    numbers = [f"E31{nth:010d}" for nth in (first, first + documents - 1)]
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        row = conn.execute(_VERDICTS, [stack.tenant_id, *numbers]).fetchone()
    assert row is not None
    if row[2] != documents:
        raise Lost(f"{row[2]} of {documents} documents were accepted")
    return row[0], row[1]


# --- counts -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Tally:
    """Costs of all documents together that do not depend on the machine."""

    documents: int
    wire: Counts
    written: wal.Written

    def per_document(self) -> dict[str, float]:
        """The figures that ceilings are set on."""
        each = 1 / self.documents
        return {
            "statements": sum(self.wire.statements.values()) * each,
            "round trips": self.wire.round_trips * each,
            "commits": self.written.commits * each,
            "WAL bytes": self.written.bytes * each,
            "dead row versions": self.written.dead * each,
        }


def tally(stack: Stack, numbers: Numbers, documents: int, clients: int, processes: int) -> Tally:
    """Send documents through a service whose words to the database are counted; the service is started anew for it."""
    programs = embedded_programs()
    assert programs is not None, "the embedded Postgres is what a stack runs on"
    with counted(stack.dsn) as traffic, psycopg.connect(stack.dsn, autocommit=True) as conn:
        stack.start_service(processes=processes, dsn=traffic.dsn)
        stack.log_in()
        drive(stack, numbers, clients * 2, clients)  # warm: statements prepared, tokens had
        before, start = traffic.counts(), wal.position(conn)
        drive(stack, numbers, documents, clients)
        counts, end = traffic.counts().since(before), wal.position(conn)
        written = wal.written(conn, programs, start, end)
        stack.stop("service")
    return Tally(documents, counts, written)


def show_tally(report: Report, name: str, found: Tally) -> None:
    """Put it into the report."""
    for what, value in found.per_document().items():
        report.figure(name, f"{what} per document", value)
    each = 1 / found.documents
    report.table(
        f"statements per document, {name}",
        [{"statement": text, "per document": count * each} for text, count in found.wire.statements.most_common(25)],
    )
    tables = sorted(found.written.bytes_of, key=lambda table: -found.written.bytes_of[table])
    report.table(
        f"written per document, {name}",
        [
            {"table": table, "bytes": found.written.bytes_of[table] * each, "dead": found.written.dead_of[table] * each}
            for table in tables[:15]
        ],
    )


# --- a profile ----------------------------------------------------------------------------------------------------


def profile(stack: Stack, numbers: Numbers, arguments: argparse.Namespace, report: Report) -> None:
    """Put where the service's CPU goes into the report, part by part."""
    spent, functions = profiled(stack, numbers, arguments.documents, arguments.clients)
    whole = sum(spent.values())
    for title, nth in (("by part of ours", 0), ("by whose code runs", 1)):
        shares: Counter[str] = Counter()
        for key, us in spent.items():
            shares[key[nth]] += us
        report.table(
            f"microseconds per document, {title}",
            [{"part": part, "us": us, "share": f"{us / whole:.0%}"} for part, us in shares.most_common()],
        )
    report.table(
        "microseconds per document, both",
        [{"part": part, "code of": library, "us": us} for (part, library), us in spent.most_common(30)],
    )
    report.table(
        "microseconds per document, by function: the innermost of ours, and what runs",
        [{"ours": inner, "runs": running, "us": us} for (inner, running), us in functions.most_common(60)],
    )


def profiled(
    stack: Stack, numbers: Numbers, documents: int, clients: int
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Microseconds of a document by part and library, and by function."""
    with tempfile.TemporaryDirectory() as folder:
        stack.start_service(processes=1, profile=Path(folder))
        stack.log_in()
        drive(stack, numbers, clients * 2, clients)
        _, worker, *_ = family(stack.pid("service"))
        before = _spent(worker, Path(folder))
        run = drive(stack, numbers, documents, clients)
        after = _spent(worker, Path(folder))
        stack.stop("service")
    spent, functions = (
        Counter({key: (late[key] - early.get(key, 0.0)) / run.documents for key in late})
        for late, early in zip(after, before, strict=True)
    )
    return spent, functions


def _spent(pid: int, folder: Path) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
    """Microseconds by part and library, and by function."""
    file = folder / f"{pid}.json"
    file.unlink(missing_ok=True)
    os.kill(pid, signal.SIGUSR2)
    until = time.monotonic() + 10
    while not file.exists():
        if time.monotonic() > until:
            raise Lost("the profiled service does not tell")
        time.sleep(0.01)
    said = json.loads(file.read_text())
    spent = {(part, library): us for part, library, us in said["spent"]}
    spent["other threads (signing, files)", "threads"] = said["threads"]
    return spent, {(inner, running): us for inner, running, us in said["functions"]}


# --- putting it together ------------------------------------------------------------------------------------------


def quantile(seconds: Sequence[float], percent: int) -> float:
    """In milliseconds."""
    if len(seconds) < 2:
        return seconds[0] * 1000
    return statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1] * 1000


def compare(report: Report, arguments: argparse.Namespace, trees: Mapping[str, Path]) -> None:
    """Run the trees' services in turn and tell what each costs."""
    with ExitStack() as cleanup:
        stacks = {
            name: cleanup.enter_context(open_stack(tree=tree, authority=authority_of(arguments)))
            for name, tree in trees.items()
        }
        numbers = Numbers()
        report.server(stacks[OURS].dsn)
        for stack in stacks.values():
            live_in(stack)
            stack.start_service(processes=arguments.processes)
            stack.log_in()
            drive(stack, numbers, max(100, arguments.documents // 5), arguments.clients)  # warm
        signatures: list[float] = []
        commits: list[float] = []

        def one_round(stack: Stack) -> Road:
            signatures.append(signature_ms())
            if (commit := commit_ms(stack.dsn, stack.pid("Postgres"))) is not None:
                commits.append(commit)
            return drive(stack, numbers, arguments.documents, arguments.clients)

        found = in_turn({name: partial(one_round, stack) for name, stack in stacks.items()}, arguments.rounds)
        signature, commit = statistics.median(signatures), statistics.median(commits) if commits else 0.0
        for name, rounds in found.items():
            show(report, name, rounds, signature, commit)
        report.figure("one RSA-2048 signature", "ms of CPU", signatures)
        if commits:
            report.figure("one durable commit", "ms of CPU", commits)
        for name in (name for name in found if name != OURS):
            ours, theirs = found[OURS], found[name]
            report.ratio(
                f"verdicts/s, {OURS} : {name}",
                [road.verdicts_per_second for road in ours],
                [road.verdicts_per_second for road in theirs],
                at_least=6,
            )
            report.ratio(
                f"CPU per document of service and Postgres, {name} : {OURS}",
                [road.measured_ms for road in theirs],
                [road.measured_ms for road in ours],
            )
        for stack in stacks.values():
            stack.stop("service")
        tallies = {
            name: tally(stack, numbers, arguments.counted, arguments.clients, arguments.processes)
            for name, stack in stacks.items()
        }
        for name, counts in tallies.items():
            show_tally(report, name, counts)
            if name != OURS:
                mine, theirs_too = tallies[OURS].per_document(), counts.per_document()
                for what in ("WAL bytes", "dead row versions"):
                    report.ratio(f"{what} per document, {OURS} : {name}", mine[what], theirs_too[what], at_most=0.5)
        if arguments.profile:
            profile(stacks[OURS], numbers, arguments, report)
        if not stacks[OURS].cores.apart:
            report.note("the authority and the load share the cores with what is measured: rates suffer, CPU does not")


def authority_of(arguments: argparse.Namespace) -> list[str]:
    """The command of the authority that was asked for."""
    if arguments.check == "quick":
        return [*QUICK, "--delay", str(arguments.verdict_delay)]
    return [*SIMULATOR, "--check", arguments.check, "--verdict-delay", str(arguments.verdict_delay)]


def show(report: Report, name: str, rounds: Sequence[Road], signature: float, commit: float) -> None:
    """Put one tree's rounds into the report."""
    measured = [road.measured_ms for road in rounds]
    units = [signature] * len(rounds)
    target = 6.0 if name == OURS else None
    report.ratio(f"CPU per document : one signature, {name}", measured, units, at_most=target)
    if commit:
        both = [signature + commit] * len(rounds)
        report.ratio(f"CPU per document : signature + durable commit, {name}", measured, both)
    report.figure(name, "accepted/s", [road.accepted_per_second for road in rounds])
    report.figure(name, "verdicts/s", [road.verdicts_per_second for road in rounds])
    for part in rounds[0].cpu:
        report.figure(name, f"ms of CPU, {part}", [road.cpu_ms(part) for road in rounds])
    for what, of in (("POST", "posts"), ("202 -> verdict", "verdicts")):
        for percent in (50, 95, 99):
            report.figure(name, f"{what} p{percent}, ms", [quantile(getattr(road, of), percent) for road in rounds])


def arguments_of(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    wanted = {
        "documents": (1000, "of a round"),
        "counted": (200, "documents of the pass that counts"),
        "rounds": 3,
        "clients": (32, "how many submit at once"),
        "processes": (1, "of the service"),
        "check": {
            "choices": ["quick", "none", "signature", "full"],
            "default": "quick",
            "help": "how closely the authority reads: quick is bench.authority, the others the simulator's",
        },
        "verdict-delay": (0.2, "seconds a document is En Proceso"),
        "beside": (str, "a commit: run its service in turn with this tree's"),
        "profile": (False, "tell where the service's CPU goes, in a pass of its own"),
        "name": ("road", "of the result"),
    }
    return read_options(__doc__, wanted, argv=argv)


def main() -> int:
    """Measure and tell."""
    arguments = arguments_of()
    try:
        with Report(arguments.name) as report, ExitStack() as cleanup:
            trees = {OURS: ROOT}
            if arguments.beside:
                trees[arguments.beside] = cleanup.enter_context(tree_of(arguments.beside))
            compare(report, arguments, trees)
    except Lost as lost:
        print(f"NOT ALL CAME THROUGH: {lost}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
