"""Whole documents of several tenants on a cluster, and what each server of it does for them."""

import argparse
import time
from urllib.parse import urlsplit

import psycopg

from bench.report import Report
from bench.road import Lost
from bench.stack import Stack
from bench.submit import Order, finish, start

#: Maximum of tenants created to have some on each worker.
_MOST = 60
_PATIENCE = 300.0
_WHERE = """
    SELECT n.nodename || ':' || n.nodeport
      FROM pg_dist_placement AS p
      JOIN pg_dist_node AS n ON n.groupid = p.groupid
     WHERE p.shardid = get_shard_id_for_distribution_column('submissions', %s)
"""
_LEFT = "SELECT count(*) FROM outbox"


def measure_nodes(report: Report, stack: Stack, workers: int, arguments: argparse.Namespace) -> None:
    """Bring as many documents for each worker to their verdict, and tell the CPU of each server for a document."""
    stack.start_service()
    tokens = _tenants_everywhere(stack, workers, arguments.tenants_each)
    each = max(20, arguments.documents // arguments.tenants_each)
    _bring(stack, tokens, first=1, each=20)  # warm
    found: dict[str, list[float]] = {}
    for nth in range(arguments.rounds):
        before, began = stack.cpu(), time.monotonic()
        _bring(stack, tokens, first=1000 + nth * each, each=each)
        seconds, after = time.monotonic() - began, stack.cpu()
        documents = each * len(tokens)
        found.setdefault("documents/s", []).append(documents / seconds)
        for part in (part for part in after if part != "authority"):
            found.setdefault(f"ms of CPU for a document, {part}", []).append(
                (after[part] - before[part]) / documents * 1000
            )
    stack.stop("service")
    for unit, values in found.items():
        report.figure(f"{workers} worker{'s' * (workers > 1)}", unit, values)
    names = [f"ms of CPU for a document, worker {nth + 1}" for nth in range(workers)]
    together = [sum(values) for values in zip(*(found[name] for name in names), strict=True)]
    report.figure(f"{workers} worker{'s' * (workers > 1)}", "ms of CPU for a document, all workers", together)


def _tenants_everywhere(stack: Stack, workers: int, each: int) -> list[str]:
    """Create tenants until each worker has enough; return their tokens."""
    tokens: dict[str, list[str]] = {}
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        for _ in range(_MOST):
            row = conn.execute(_WHERE, [stack.tenant_id]).fetchone()
            assert row is not None
            there = tokens.setdefault(row[0], [])
            if len(there) < each:
                there.append(stack.log_in())
            if len(tokens) == workers and all(len(of_node) == each for of_node in tokens.values()):
                return [token for of_node in tokens.values() for token in of_node]
            stack.provision()
    raise Lost(f"{_MOST} tenants were made, and some of {workers} workers has not {each} of them")


def _bring(stack: Stack, tokens: list[str], *, first: int, each: int) -> None:
    """Hand documents of all of them in at once, and wait for the last verdict."""
    port = urlsplit(stack.base_url).port
    assert port is not None
    loads = [start(Order(port, token, first, each, connections=4)) for token in tokens]
    for load in loads:
        finish(load)
    until = time.monotonic() + _PATIENCE
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        while True:
            row = conn.execute(_LEFT).fetchone()
            assert row is not None
            if row[0] == 0:
                return
            if time.monotonic() > until:
                raise Lost(f"{row[0]} documents are still under way after {_PATIENCE:.0f} s")
            time.sleep(0.2)
