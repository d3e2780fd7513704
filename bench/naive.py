"""Signed, sent, judged and booked: the service's actors beside the naive form of the same work (bench/naive_worker.py).

    python -m bench.naive [--documents 600] [--rounds 3]

Two processes each, on one Postgres and against one authority, in turn. Documents are put in beforehand; the rate is
that of the middle eight tenths, so that neither start nor end counts. The authority judges at once (bench.authority).
"""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import psycopg

from bench.history import live_in
from bench.naive_worker import INDEX, TABLE
from bench.report import Report, in_turn
from bench.road import Numbers, verdicts_of, wait_for_verdicts
from bench.runner import read_options
from bench.stack import QUICK, Stack, cpu_seconds, open_stack
from bench.submit import Order, payload, submit

PROCESSES = 2
TASKS = 16

_OURS = "SELECT verdict_at FROM submissions WHERE tenant_id = %s AND e_ncf BETWEEN %s AND %s ORDER BY verdict_at"
_NAIVE = "SELECT done_at FROM naive_jobs WHERE e_ncf BETWEEN %s AND %s ORDER BY done_at"


@dataclass(frozen=True, slots=True)
class Work:
    """Result of one round."""

    per_second: float
    worker_ms: float
    postgres_ms: float


def middle_rate(conn: "psycopg.Connection", statement: str, values: list[object]) -> float:
    """Documents a second between the first tenth and the last."""
    moments = [at for (at,) in conn.execute(statement.encode(), values).fetchall()]
    first, last = len(moments) // 10, len(moments) * 9 // 10
    return float((last - first) / (moments[last] - moments[first]).total_seconds())


class Round:
    """Each kind once: the same documents, put in before the clock starts."""

    def __init__(self, stack: Stack, numbers: Numbers, documents: int) -> None:
        self._stack, self._numbers, self._documents = stack, numbers, documents

    def _range(self) -> tuple[int, list[object]]:
        first = self._numbers.take(self._documents)
        return first, [f"E31{nth:010d}" for nth in (first, first + self._documents - 1)]

    def ours(self) -> Work:
        """Through the front into the outbox; then the actors alone."""
        stack, (first, numbers) = self._stack, self._range()
        stack.start_service(role="http")
        stack.log_in()
        port = urlsplit(stack.base_url).port
        assert port is not None
        submit(Order(port, stack.token, first, self._documents, cores=tuple(stack.cores.beside)))
        stack.stop("service")
        before = stack.cpu()["Postgres"]
        stack.start_service(role="actors", processes=PROCESSES)
        wait_for_verdicts(stack)
        worker, server = stack.cpu()["service"], stack.cpu()["Postgres"] - before
        stack.stop("service")
        verdicts_of(stack, first, self._documents)  # all of them, or Lost
        with psycopg.connect(stack.dsn, autocommit=True) as conn:
            rate = middle_rate(conn, _OURS, [stack.tenant_id, *numbers])
        return self._work(rate, worker, server)

    def naive(self) -> Work:
        """Into its own table; then its workers."""
        stack, (first, numbers) = self._stack, self._range()
        rows = [
            (f"E31{first + nth:010d}", json.dumps(payload(f"E31{first + nth:010d}"))) for nth in range(self._documents)
        ]
        with psycopg.connect(stack.dsn, autocommit=True) as conn:
            conn.execute(TABLE)
            conn.execute(INDEX)
            conn.cursor().executemany("INSERT INTO naive_jobs (e_ncf, payload) VALUES (%s, %s)", rows)
            before = cpu_seconds(stack.pid("Postgres"))
            names = [f"naive{nth}" for nth in range(PROCESSES)]
            for name in names:
                stack.start(
                    name, ["-m", "bench.naive_worker", stack.dsn, stack.environment["FE_AUTHORITY_ECF_URL"], str(TASKS)]
                )
            worker = 0.0
            running = set(names)
            while running:
                for name in list(running):
                    worker_so_far = cpu_of_ended(stack, name)
                    if worker_so_far is not None:
                        worker += worker_so_far
                        running.remove(name)
                time.sleep(0.02)
            server = cpu_seconds(stack.pid("Postgres")) - before
            rate = middle_rate(conn, _NAIVE, numbers)
        return self._work(rate, worker, server)

    def _work(self, rate: float, worker: float, server: float) -> Work:
        return Work(rate, worker / self._documents * 1000, server / self._documents * 1000)


def cpu_of_ended(stack: Stack, name: str) -> float | None:
    """CPU of a part that has ended by itself, which it is taken off for; None while it runs."""
    process = stack.parts[name]
    used = cpu_seconds(process.pid)
    if Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
        return None
    words = stack.last_words(name)
    if process.wait():
        raise SystemExit(f"the naive worker failed: {words}")
    stack.stop(name)
    return used


def main() -> int:
    """Measure and tell."""
    arguments = read_options(__doc__, {"documents": (600, "of each kind in a round"), "rounds": 3}, short={"rounds": 2})
    with Report("naive") as report, open_stack(authority=[*QUICK, "--delay", "0"]) as stack:
        report.server(stack.dsn)
        live_in(stack)
        turn = Round(stack, Numbers(), arguments.documents)
        found = in_turn({"service": turn.ours, "naive": turn.naive}, arguments.rounds)
        ours, naive = found["service"], found["naive"]
        report.ratio(
            "signed, sent, judged and booked/s, service : naive",
            [work.per_second for work in ours],
            [work.per_second for work in naive],
            at_least=2.5,
        )
        report.ratio(
            "CPU per document with Postgres, naive : service",
            [work.worker_ms + work.postgres_ms for work in naive],
            [work.worker_ms + work.postgres_ms for work in ours],
        )
        for name, works in found.items():
            report.figure(name, "documents/s", [work.per_second for work in works])
            report.figure(name, "ms of CPU, workers", [work.worker_ms for work in works])
            report.figure(name, "ms of CPU, Postgres", [work.postgres_ms for work in works])
    return 0


if __name__ == "__main__":
    sys.exit(main())
