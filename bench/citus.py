"""Citus beside plain Postgres on one machine, and what a document costs on 1, 2 and 3 workers.

    python -m bench.citus --programs FOLDER [--parts steps road idle due nodes] [--rounds 3] [--short]

FOLDER has the programs of a Postgres that has Citus installed, as CITUS_PGBIN may say; without it nothing is measured.
One machine shows what the engine adds, and of several nodes what each has to do, never how many documents they would
carry on machines of their own: that is multiplied in docs/scaling.md. Parts:

* steps: accept, claim, book, read through the store, and an empty claim, in turn on both engines;
* road: whole documents through the service, and the CPU of service and servers for each;
* idle: the CPU of a service that has nothing to do;
* due: rows read by one claim with 100,000 and with 1,000,000 due rows of 1,000 tenants;
* near: claims of one tenant's rows by way of the coordinator, and by a process that is connected to their node;
* nodes: whole documents on clusters of 1, 2 and 3 workers, as many tenants on each: CPU of each server.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from bench.citus_nodes import measure_nodes
from bench.citus_steps import Rates, fill_backlog, make_tenants, measure_claims, measure_steps, rows_read
from bench.report import Report, in_turn
from bench.road import Numbers, drive
from bench.runner import read_options
from bench.stack import QUICK, Stack, open_stack
from fe.store.engines import EngineName
from ops.citus.cluster import Cluster, environment

ENGINES: tuple[EngineName, ...] = ("postgres", "citus")
#: Targets of the ratio Citus : plain.
_TARGETS = {"accepted": 0.5, "accepted_as_served": 0.5, "claimed": 0.6, "signed": 0.6, "received": 0.6, "decided": 0.6}
_STEPS = {
    # A process takes a receipt in by itself where it has no other in hand, and several together where it has.
    "accepted": "accepts/s, one client",
    "accepted_as_served": "accepts/s, eight clients of one process",
    "accepted_apart": "accepts/s, eight at once, each by itself",
    "accepted_in_groups": "accepts/s, ten together",
    "claimed": "rows claimed/s, 20 together",
    "claimed_of_backlog": "rows claimed/s, 48 together",
    "signed": "rows booked/s (signed), 20 together",
    "received": "rows booked/s (received), 20 together",
    "decided": "rows booked/s (verdict), 20 together",
    "read": "reads/s behind row-level security",
    "empty_claims": "empty claims/s",
}
_PARTS = ("steps", "road", "idle", "due", "near", "nodes")


_LIES_ON = """
    SELECT n.nodename, n.nodeport
      FROM pg_dist_placement AS p
      JOIN pg_dist_node AS n ON n.groupid = p.groupid
     WHERE p.shardid = get_shard_id_for_distribution_column('outbox', %s)
"""


@contextmanager
def open_engine(
    engine: EngineName, programs: Path, *, workers: int = 2, shards: int = 8, **settings: str
) -> Iterator[Stack]:
    """A stack on plain Postgres or on a cluster; the service is the caller's to start."""
    quick = [*QUICK, "--delay", "0.2"]
    if engine == "postgres":
        # As the nodes are told (ops/citus/environment), so that this is not what is compared.
        with open_stack(authority=quick, settings=settings, postgres_environment=environment()) as stack:
            yield stack
        return
    command = ["-m", "bench.cluster", "--programs", str(programs), "--workers", str(workers), "--shards", str(shards)]

    def migrated(dsn: str) -> None:
        Cluster.at(dsn).set_up_roles("fe")

    told = {"FE_DATABASE_ENGINE": "citus", **settings}
    with open_stack(authority=quick, postgres=command, settings=told, migrated=migrated) as stack:
        yield stack


@contextmanager
def both(programs: Path) -> Iterator[dict[EngineName, Stack]]:
    """Both of them at once: what is compared is measured in turn."""
    with open_engine("postgres", programs) as plain, open_engine("citus", programs) as citus:
        yield {"postgres": plain, "citus": citus}


def steps(report: Report, stacks: dict[EngineName, Stack], arguments: argparse.Namespace) -> None:
    """The store's own steps."""
    tenants = {name: make_tenants(stack.dsn, arguments.tenants) for name, stack in stacks.items()}

    def one_round(name: EngineName) -> Rates:
        return measure_steps(stacks[name].dsn, name, tenants[name], arguments.seconds)

    for name in ENGINES:
        one_round(name)  # warm: a month's partitions, connections between the nodes
    found = in_turn({name: partial(one_round, name) for name in ENGINES}, arguments.rounds)
    for field, says in _STEPS.items():
        plain, citus = ([getattr(rates, field) for rates in found[name]] for name in ENGINES)
        report.ratio(f"{says}, citus : postgres", citus, plain, at_least=_TARGETS.get(field))
        report.figure("postgres", says, plain)
        report.figure("citus", says, citus)


def road(report: Report, stacks: dict[EngineName, Stack], arguments: argparse.Namespace) -> None:
    """Whole documents."""
    numbers = Numbers()
    for stack in stacks.values():
        stack.start_service()
        stack.log_in()
        drive(stack, numbers, max(60, arguments.documents // 4), arguments.clients)
    found = in_turn(
        {
            name: partial(drive, stack, numbers, arguments.documents, arguments.clients)
            for name, stack in stacks.items()
        },
        arguments.rounds,
    )
    servers = {"postgres": ["Postgres"], "citus": list(stacks["citus"].servers)}
    cpu: dict[str, list[float]] = {}
    for name, rounds in found.items():
        report.figure(name, "verdicts/s", [run.verdicts_per_second for run in rounds])
        middle = [statistics.median(run.verdicts) for run in rounds]
        report.figure(name, "202 -> verdict p50, ms", [seconds * 1000 for seconds in middle])
        for part in ("service", *servers[name]):
            report.figure(name, f"ms of CPU, {part}", [run.cpu_ms(part) for run in rounds])
        cpu[name] = [sum(run.cpu_ms(part) for part in servers[name]) for run in rounds]
    rates = {name: [run.verdicts_per_second for run in rounds] for name, rounds in found.items()}
    report.ratio("verdicts/s, citus : postgres", rates["citus"], rates["postgres"])
    report.ratio("CPU of the servers per document, citus : postgres", cpu["citus"], cpu["postgres"])
    for stack in stacks.values():
        stack.stop("service")


def idle(report: Report, stacks: dict[EngineName, Stack], arguments: argparse.Namespace) -> None:
    """A service with nothing to do: shares of a core."""
    for name, stack in stacks.items():
        stack.start_service(role="all")
        time.sleep(5)
        before, began = stack.cpu(), time.monotonic()
        time.sleep(arguments.idle_seconds)
        after, elapsed = stack.cpu(), time.monotonic() - began
        stack.stop("service")
        shares = {part: (after[part] - before[part]) / elapsed * 100 for part in after if part != "authority"}
        for part, share in shares.items():
            report.figure(f"{name}, idle", f"% of a core, {part}", share)
        ours = shares.pop("service")
        if name == "citus":
            report.ratio("idle on citus, % of a core, the service : 2", ours / 2, 1.0, at_most=1)
            report.ratio("idle on citus, % of a core, all its servers : 2", sum(shares.values()) / 2, 1.0)


def due(report: Report, stacks: dict[EngineName, Stack], arguments: argparse.Namespace) -> None:
    """Buffers that a claim reads with many due rows."""
    for name, stack in stacks.items():
        tenants = make_tenants(stack.dsn, 1000, after=5000)
        servers = [stack.dsn] if name == "postgres" else [node.database("fe") for node in Cluster.at(stack.dsn).nodes]
        reads: dict[int, tuple[int, float]] = {}
        there = 0
        for rows in arguments.backlog:
            fill_backlog(stack.dsn, tenants, rows - there)
            there = rows
            rows_read(stack.dsn, servers, name)  # warm
            reads[rows] = rows_read(stack.dsn, servers, name)
            report.figure(f"{name}, {rows:,} due", "rows read by a claim of 20", reads[rows][0])
            report.figure(f"{name}, {rows:,} due", "ms, of a claim of 20", reads[rows][1] * 1000)
        least, most = min(reads), max(reads)
        report.ratio(
            f"rows read by a claim, {name}, {most:,} : {least:,} due", reads[most][0], reads[least][0], at_most=1.5
        )
        with psycopg.connect(stack.dsn, autocommit=True) as conn:
            conn.execute("DELETE FROM outbox")


def near(report: Report, stacks: dict[EngineName, Stack], arguments: argparse.Namespace) -> None:
    """Claims from the node that the rows lie on."""
    plain, citus = stacks["postgres"], stacks["citus"]
    of_plain, of_citus = (make_tenants(each.dsn, 1, after=9000) for each in (plain, citus))
    with psycopg.connect(citus.dsn, autocommit=True) as conn:
        found = conn.execute(_LIES_ON, (of_citus[0],)).fetchone()
    node = next(node for node in Cluster.at(citus.dsn).nodes if found == (node.host, node.port)).database("fe")
    coordinator: dict[str, list[float]] = {"by way of the coordinator": [], "from the node": []}

    def on_citus(way: str, address: str | None) -> float:
        before = citus.cpu()["coordinator"]
        rate = measure_claims(citus.dsn, "citus", of_citus, arguments.claims, address)
        coordinator[way].append((citus.cpu()["coordinator"] - before) / arguments.claims * 1000)
        return rate

    ways: dict[str, Callable[[], float]] = {
        "plain": partial(measure_claims, plain.dsn, "postgres", of_plain, arguments.claims),
        "by way of the coordinator": partial(on_citus, "by way of the coordinator", None),
        "from the node": partial(on_citus, "from the node", node),
    }
    for claims in ways.values():
        claims()  # warm
    rates = in_turn(ways, arguments.rounds)
    for way in coordinator:
        report.ratio(f"rows claimed/s, {way} : postgres", rates[way], rates["plain"], at_least=_TARGETS["claimed"])
        report.figure(way, "rows claimed/s", rates[way])
        report.figure(way, "ms of CPU of the coordinator for a row, taking in and claiming", coordinator[way][1:])
    report.figure("plain", "rows claimed/s", rates["plain"])


def arguments_of(argv: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    wanted = {
        "programs": {"type": Path, "default": os.environ.get("CITUS_PGBIN") or None},
        "parts": {"nargs": "+", "choices": _PARTS, "default": list(_PARTS)},
        "rounds": 3,
        "seconds": (3.0, "of each step in a round"),
        "tenants": 16,
        "documents": (300, "whole ones, of a round"),
        "clients": 16,
        "idle-seconds": 20.0,
        "backlog": [100_000, 1_000_000],
        "claims": (3000, "rows of a round that are claimed near their node"),
        "nodes": ([1, 2, 3], "workers of the clusters"),
        "tenants-each": (3, "tenants of a worker"),
        "name": ("citus", "of the result"),
    }
    fewer = {"rounds": 2, "seconds": 1.5, "documents": 100, "idle_seconds": 8.0, "backlog": [10_000, 50_000]}
    return read_options(__doc__, wanted, short=fewer | {"nodes": [1, 2]}, argv=argv)


def main() -> int:
    """Measure and tell."""
    arguments = arguments_of()
    with Report(arguments.name) as report:
        if arguments.programs is None or not (arguments.programs / "initdb").exists():
            report.skip("Citus", "--programs names no folder with the programs of a Postgres that has it installed")
            return 0
        measured: dict[str, Any] = {"steps": steps, "road": road, "idle": idle, "due": due, "near": near}
        asked = [part for part in measured if part in arguments.parts]
        if asked:
            with both(arguments.programs) as stacks:
                report.server(stacks["citus"].dsn)
                for part in asked:
                    measured[part](report, stacks, arguments)
        if "nodes" in arguments.parts:
            for workers in arguments.nodes:
                with open_engine("citus", arguments.programs, workers=workers, shards=8 * workers) as stack:
                    measure_nodes(report, stack, workers, arguments)
        report.note("nodes, service, authority and load share one machine: overhead, not scaling")
    return 0


if __name__ == "__main__":
    sys.exit(main())
