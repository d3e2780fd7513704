"""Bad days: a silent host of the authority, a company that floods, an outage and its end; what each costs the others.

    python -m bench.bad_days                 # a backlog of 36,000: an hour of ten documents a second
    python -m bench.bad_days --short

One stack with two companies. Each part is measured beside a quiet time of the same run:

* one host silent: consumer invoices hang, receipts go to the other host as fast as they come;
* a flood: one company has more due than can be worked off, the other hands in some documents a second;
* an outage: the authority answers 503 until one company's backlog is signed and waits, then it is back. From the first
  verdict on the other company hands in some documents a second while the backlog drains. Told are the drain's rate and
  order, what was sent twice or put aside, and how late the other's verdicts are.
"""

import json
import os
import signal
import socket
import time
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import psycopg

from bench.backlog import put_due
from bench.history import live_in
from bench.report import Report
from bench.road import PATIENCE, Lost, Numbers, drive, quantile
from bench.runner import read_options
from bench.stack import QUICK, Stack, open_stack
from bench.submit import payload
from bench.sustained import hold

#: The authority takes this long to judge, in seconds.
DELAY = 0.2
#: A verdict is in time within this many milliseconds beyond the authority's.
SOON = 1000.0
#: Most of the rate that may be lost where one of two hosts is silent.
KEPT = 0.9
#: Consumer invoices that hang: more than there are slots.
HANGING = 200

_SIGNED = "SELECT count(*) = 0 FROM outbox WHERE tenant_id = %s AND stage = 'sign'"
_LEFT = "SELECT count(*) FROM outbox WHERE tenant_id = %s"
_ANY = "SELECT EXISTS (SELECT FROM submissions WHERE tenant_id = %s AND verdict_at >= %s)"
_ASIDE = "SELECT count(*) FROM dead_letters"
#: Of each document of the backlog, as they were signed: when its verdict was booked, and how often it went out.
_DRAINED = """
    SELECT s.verdict_at, (SELECT count(*) FROM sends AS d
                           WHERE d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id
                             AND d.outcome = 'received')
      FROM submissions AS s
     WHERE s.tenant_id = %s AND s.verdict_at >= %s AND s.e_ncf BETWEEN %s AND %s
     ORDER BY s.signed_at, s.submission_id
"""
_FLOOD, _BACKLOG = 5_000_000_000, 6_000_000_000


def one(stack: Stack, statement: str, *values: object) -> Any:
    """The single value of a query."""
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        row = conn.execute(statement.encode(), values).fetchone()
    assert row is not None
    return row[0]


def wait_until(stack: Stack, statement: str, wanted: object, *values: object) -> None:
    """Return when a query gives that value. Raises Lost."""
    until = time.monotonic() + PATIENCE
    while one(stack, statement, *values) != wanted:
        if time.monotonic() > until:
            raise Lost(f"after {PATIENCE:.0f} s: {one(stack, statement, *values)}")
        time.sleep(0.2)  # a table rings no bell


def hand_in_consumer_invoices(stack: Stack, count: int) -> None:
    """They go to the host of summaries."""
    with closing(HTTPConnection(urlsplit(stack.base_url).netloc, timeout=60)) as connection:
        for nth in range(count):
            body = payload(f"E32{_FLOOD + nth:010d}")
            del body["Encabezado"]["Comprador"]
            headers = {"Authorization": f"Bearer {stack.token}", "Content-Type": "application/json"}
            connection.request(
                "POST", "/api/v1/fe/invoices", json.dumps({"format": "structured", "payload": body}), headers
            )
            with connection.getresponse() as answer:
                if answer.status != 202:
                    raise Lost(f"{answer.status}: {answer.read()[:500]!r}")
                answer.read()


def silent_host(stack: Stack, report: Report, numbers: Numbers, documents: int, rounds: int) -> None:
    """Receipts while the host of summaries accepts connections and never answers."""
    quiet = [drive(stack, numbers, documents, 32).verdicts_per_second for _ in range(rounds)]
    hand_in_consumer_invoices(stack, HANGING)
    time.sleep(3)  # they are signed and hang
    silent = [drive(stack, numbers, documents, 32).verdicts_per_second for _ in range(rounds)]
    hanging = one(stack, "SELECT count(*) FROM outbox WHERE host = 'fc'")
    if hanging != HANGING:
        raise Lost(f"{HANGING - hanging} documents came through a host that never answers")
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        conn.execute("DELETE FROM outbox WHERE host = 'fc'")
    report.ratio("verdicts/s, one host silent : all answer", silent, quiet, at_least=KEPT)
    report.figure("all answer", "verdicts/s", quiet)
    report.figure("one host silent", "verdicts/s", silent)


def flood(stack: Stack, report: Report, numbers: Numbers, flooder: int, rows: int, rate: float, seconds: float) -> None:
    """One company's few documents a second beside the other's due rows."""
    quiet = hold(stack, numbers, rate, seconds, DELAY)
    put_due(stack, rows, _FLOOD, [flooder])
    time.sleep(3)  # the next look by the clock finds them
    beside = hold(stack, numbers, rate, seconds, DELAY)
    left = one(stack, _LEFT, flooder)
    if not left:
        raise Lost("the flood was over too soon: more --flood")
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        conn.execute("DELETE FROM outbox WHERE tenant_id = %s AND holder IS NULL", [flooder])
    wait_until(stack, _LEFT, 0, flooder)
    for name, found in (("quiet", quiet), ("beside a flood", beside)):
        report.figure(name, "202 -> verdict p50 beyond the authority, ms", quantile(found.verdicts, 50))
        report.figure(name, "202 -> verdict p95 beyond the authority, ms", quantile(found.verdicts, 95))
        report.figure(name, "POST p95, ms", quantile(found.posts, 95))
    report.ratio("202 -> verdict p95 beside a flood : 1 s", quantile(beside.verdicts, 95), SOON, at_most=1)


def outage(
    stack: Stack, report: Report, numbers: Numbers, waiting: int, rows: int, rate: float, seconds: float
) -> None:
    """The end of an outage: one company's backlog drains, the other hands in fresh documents."""
    authority = stack.pid("authority")
    os.kill(authority, signal.SIGUSR1)
    put_due(stack, rows, _BACKLOG, [waiting])
    began = time.monotonic()
    wait_until(stack, _SIGNED, True, waiting)
    report.figure("outage", "s until the backlog is signed", time.monotonic() - began)
    ended = datetime.now(UTC)
    os.kill(authority, signal.SIGUSR1)
    wait_until(stack, _ANY, True, waiting, ended)  # the circuit is closed again
    fresh = hold(stack, numbers, rate, seconds, DELAY)
    wait_until(stack, _LEFT, 0, waiting)
    numbered = [f"E31{_BACKLOG + nth:010d}" for nth in (0, rows + 1)]
    with psycopg.connect(stack.dsn, autocommit=True) as conn:
        drained = conn.execute(_DRAINED.encode(), [waiting, ended, *numbered]).fetchall()
    aside = one(stack, _ASIDE)
    if len(drained) != rows or aside:
        raise Lost(f"{len(drained)} of {rows} have their verdict, {aside} were put aside")
    after = [(moment - ended).total_seconds() for moment, _ in drained]
    by_second = Counter(int(moment) for moment in after)
    # How far each is from its place among the signed ones.
    places = sorted(range(rows), key=after.__getitem__)
    ahead = [abs(place - nth) for place, nth in enumerate(places)]
    report.ratio("202 -> verdict p95 while a backlog drains : 1 s", quantile(fresh.verdicts, 95), SOON, at_most=1)
    report.ratio("sent more than once, of the backlog", sum(times != 1 for _, times in drained) / rows, 1.0, at_most=0)
    report.figure("drain", "s to the first verdict", min(after))
    report.figure("drain", "verdicts/s", rows / (max(after) - min(after)))
    report.figure("drain", "verdicts in the busiest second", max(by_second.values()))
    report.figure("drain", "places out of order p95", sorted(ahead)[rows * 95 // 100])
    report.figure(
        "fresh documents meanwhile", "202 -> verdict p50 beyond the authority, ms", quantile(fresh.verdicts, 50)
    )
    report.figure(
        "fresh documents meanwhile", "202 -> verdict p95 beyond the authority, ms", quantile(fresh.verdicts, 95)
    )
    line = [(float(second), float(by_second[second])) for second in range(int(max(after)) + 1)]
    report.plot("verdicts after an outage", "seconds since its end", "verdicts/s", {"backlog": line})


def main() -> None:
    """Measure and tell."""
    wanted = {
        "documents": 800,
        "rounds": 3,
        "flood": (30_000, "due rows of the company that floods"),
        "backlog": (36_000, "documents that wait for the end of the outage"),
        "rate": (10.0, "documents a second of the other company"),
        "seconds": 30.0,
    }
    short = {"documents": 300, "rounds": 1, "flood": 10_000, "backlog": 4_000, "seconds": 8.0}
    arguments = read_options(__doc__, wanted, short=short)
    with (
        Report("bad_days") as report,
        socket.create_server(("127.0.0.1", 0), backlog=1024) as never,
        open_stack(authority=[*QUICK, "--delay", str(DELAY)]) as stack,
    ):
        report.server(stack.dsn)
        numbers = Numbers()
        stack.environment["FE_AUTHORITY_FC_URL"] = f"http://127.0.0.1:{never.getsockname()[1]}"
        live_in(stack)
        stack.start_service()
        stack.log_in()
        many = stack.tenant_id
        drive(stack, numbers, 100, 16)
        silent_host(stack, report, numbers, arguments.documents, arguments.rounds)
        stack.provision()
        stack.log_in()
        drive(stack, numbers, 100, 16)
        flood(stack, report, numbers, many, arguments.flood, arguments.rate, arguments.seconds)
        outage(stack, report, numbers, many, arguments.backlog, arguments.rate, arguments.seconds)


if __name__ == "__main__":
    main()
