"""Cost of metering in POST /invoices, and of GET /usage with a long history.

    python -m bench.metering [--submissions 1000000] [--at-once] [--posts 1500] [--seconds 5] [--rounds 6]

POST /invoices runs in this process without sockets, with metering (counts of requests and their flush) and without, in
turn; then metering alone. The figures are CPU of this process and of the server, so other work on the machine counts
little. Then two processes serve it with metering and without, in turn, under a load over real sockets.

Then a tenant gets submissions in the 31 days that end yesterday, by SQL: rows of `submissions` with all their indexes,
without documents and events, which usage does not read. They are folded and closed as the leading process does it, or
with --at-once summed by one statement: some minutes for ten million. The month is read from the sums, from the
submissions, and by GET /usage over real sockets.
"""

import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import psycopg
import trio

from bench import http
from bench.report import Report, in_turn
from bench.runner import HIDDEN, empty_postgres, read_options
from bench.stack import cpu_seconds, free_port
from fe.accounts import provision
from fe.clock import system_clock
from fe.ecf.catalogue import Environment
from fe.http.app import PREFIX, Api, HttpDeps
from fe.http.auth.tokens import Tokens
from fe.http.calls import Call, Caller
from fe.http.counters import Counters
from fe.identifiers import TenantId
from fe.metering import aggregator
from fe.monitoring.metrics import Metrics
from fe.store.postgres.db import open_database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.postgres.roles import FRONT, WORKER
from fe.store.queue.wakeups import Wakeups
from fe.store.records import metering, usage

KEY = b"\1" * 32
BODY = json.dumps(
    {
        "format": "structured",
        "payload": {
            "Encabezado": {
                "IdDoc": {"IndicadorMontoGravado": "0", "TipoIngresos": "01", "TipoPago": "1", "eNCF": "E310000000001"},
                "Comprador": {"RNCComprador": "131880657", "RazonSocialComprador": "Cliente SRL"},
            },
            "DetallesItems": {
                "Item": [
                    {
                        "NumeroLinea": 1,
                        "IndicadorFacturacion": "1",
                        "NombreItem": "Servicio",
                        "IndicadorBienoServicio": "2",
                        "CantidadItem": 1,
                        "PrecioUnitarioItem": 100,
                        "MontoItem": 100,
                    }
                ]
            },
        },
    }
).encode()
ROUND = 100

_FILL = """
    INSERT INTO submissions (tenant_id, submission_id, environment, api_key_id, body_digest, format, root, ecf_type,
                             e_ncf, status, submitted_at, updated_at, first_answer_at, verdict_at, number_fate)
    SELECT %(tenant)s,
           (lpad(to_hex((extract(EPOCH FROM t.at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3)
            || '8' || substr(md5(n::text), 4, 15))::uuid,
           'ecf', 'fak_000000000000', '\\x00', 'structured', 'ECF', '31', 'E31' || lpad(n::text, 10, '0'),
           'Aceptado', t.at, t.at + t.latency, t.at + t.latency / 2, t.at + t.latency, 'used'
      FROM generate_series(%(first)s::bigint, %(last)s::bigint) AS n
     CROSS JOIN LATERAL (SELECT %(since)s::timestamptz + interval '31 days' * (n / %(all)s::float8) AS at,
                                interval '1 s' * exp(random() * 3) AS latency) AS t
"""


class Cost:
    """CPU of this process and of the server since it was made, in microseconds."""

    def __init__(self, postmaster: int) -> None:
        self._postmaster = postmaster
        self._here, self._there = time.process_time(), cpu_seconds(postmaster)

    def us(self) -> float:
        return (time.process_time() - self._here + cpu_seconds(self._postmaster) - self._there) * 1e6


async def posts(dsn: str, postmaster: int, many: int) -> tuple[float, float, float]:
    """Microseconds of CPU for a POST: without metering, with it, and of metering by itself."""
    async with open_database(dsn) as owner, open_database(dsn, role=FRONT) as db:
        tenant = await owner.transact(
            provision.create_tenant,
            "posts",
            {"RNCEmisor": "131880738", "RazonSocialEmisor": "X", "DireccionEmisor": "Y"},
            today=system_clock().date(),
        )
        made = await owner.transact(provision.create_key, tenant, Environment.TESTECF, pepper=KEY)
        deps = HttpDeps(
            db=db, wakeups=Wakeups(db), clock=system_clock, metrics=Metrics(), jwt_keys={"k": KEY}, peppers={"": KEY}
        )
        api = Api(deps)
        route = next(one for one in api.routes if one.name == f"POST {PREFIX}/invoices")
        token = Tokens({"k": KEY}).issue(made.record.api_key_id, made.record.scopes, system_clock())
        counters = api._counters
        count, nothing = counters.count, lambda *_: None

        async def body() -> bytes:
            return BODY

        async def post() -> None:
            call = Call({"authorization": f"Bearer {token}"}, b"", {}, "127.0.0.1", "x", body)
            reply = await api.answer(route, call)
            assert reply.status == 202, reply.body

        costs: dict[bool, float] = {True: 0.0, False: 0.0}
        async with trio.open_nursery() as nursery:
            await nursery.start(api.run)
            for _ in range(50):
                await post()
            await counters.flush()
            for turn in range(2 * many // ROUND):
                is_on = turn % 2 == 0
                counters.count = count if is_on else nothing  # type: ignore[method-assign]
                cost = Cost(postmaster)
                for _ in range(ROUND):
                    await post()
                await counters.flush()
                costs[is_on] += cost.us()
            nursery.cancel_scope.cancel()
        added = count_us(counters, call_of(made.record), count) + await flush_us(
            counters, postmaster, count, made.record
        )
    return costs[False] / many, costs[True] / many, added


def call_of(record: Any) -> Any:
    return Caller(record.api_key_id, record.tenant_id, record.environment, frozenset())


def count_us(counters: Any, caller: Any, count: Callable[..., None]) -> float:
    began = time.process_time()
    for _ in range(100_000):
        count(caller, 202, 900, 200)
    return (time.process_time() - began) * 10


async def flush_us(counters: Any, postmaster: int, count: Callable[..., None], record: Any) -> float:
    """Of each request, when it is flushed with the others of five seconds at a hundred a second."""
    caller, cost = call_of(record), Cost(postmaster)
    for _ in range(100):
        count(caller, 202, 900, 200)
        await counters.flush()
    return cost.us() / 100 / 500


def fill(dsn: str, tenant: int, many: int, chunk: int = 250_000) -> None:
    since, until = the_month()
    with psycopg.connect(dsn, autocommit=True) as conn:
        for moment in (since, until):
            conn.execute("SELECT ensure_month(%s)", [moment])
        for first in range(0, many, chunk):
            last = min(first + chunk, many) - 1
            conn.execute(_FILL, {"tenant": tenant, "first": first, "last": last, "all": many, "since": since})
        conn.execute("ANALYZE submissions")


def the_month() -> tuple[datetime, datetime]:
    """The 31 days that end yesterday."""
    until = datetime.combine(system_clock().astimezone(UTC).date(), datetime.min.time(), UTC)
    return until - timedelta(days=31), until


_SUMS = """
    WITH one AS (
        SELECT s.environment, (s.submitted_at AT TIME ZONE 'UTC')::date AS submitted_on,
               (s.verdict_at AT TIME ZONE 'UTC')::date AS ended_on,
               (s.first_answer_at AT TIME ZONE 'UTC')::date AS answered_on,
               microseconds_of(s.first_answer_at - s.submitted_at) AS us
          FROM submissions AS s
         WHERE s.tenant_id = %(tenant)s AND s.verdict_at IS NOT NULL
    ), submitted AS (
        SELECT environment, submitted_on AS utc_day, count(*) AS submitted,
               count(*) FILTER (WHERE ended_on <= submitted_on) AS settled
          FROM one GROUP BY 1, 2
    ), ended AS (
        SELECT environment, ended_on AS utc_day, count(*) AS accepted FROM one GROUP BY 1, 2
    ), buckets AS (
        SELECT environment, answered_on AS utc_day, latency_bucket(us) AS bucket, count(*) AS n, sum(us) AS us
          FROM one GROUP BY 1, 2, 3
    ), answered AS (
        SELECT b.environment, b.utc_day, sum(b.n) AS answered, sum(b.us) AS latency_us,
               (SELECT array_agg(coalesce(f.n, 0) ORDER BY g.bucket)
                  FROM generate_series(1, max(b.bucket)) AS g (bucket)
                  LEFT JOIN buckets AS f ON f.environment = b.environment AND f.utc_day = b.utc_day
                                        AND f.bucket = g.bucket) AS counts
          FROM buckets AS b GROUP BY 1, 2
    ), sketches AS (
        INSERT INTO usage_latency (tenant_id, utc_day, environment, counts)
        SELECT %(tenant)s, utc_day, environment, counts FROM answered
    )
    INSERT INTO usage_days (tenant_id, utc_day, environment, submitted, settled, accepted, conditional, rejected,
                            answered, latency_us, p95_us)
    SELECT %(tenant)s, utc_day, environment, coalesce(submitted, 0), coalesce(settled, 0), coalesce(accepted, 0), 0, 0,
           coalesce(answered, 0), coalesce(latency_us, 0), sketch_p95(counts)
      FROM submitted
      FULL JOIN ended USING (environment, utc_day)
      FULL JOIN answered USING (environment, utc_day)
"""


def sum_at_once(dsn: str, tenant: int) -> None:
    """Write the days that folding comes to, with one statement and without the notes that lead there."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("INSERT INTO usage_marks (tenant_id) VALUES (%s)", [tenant])
        conn.execute(_SUMS, {"tenant": tenant})


async def timed(act: Callable[[], Awaitable[Any]], many: int) -> tuple[float, float]:
    """Median and 95th percentile, in milliseconds."""
    took = []
    for _ in range(many):
        began = time.perf_counter()
        await act()
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took), sorted(took)[int(len(took) * 0.95)]


async def month(dsn: str, postmaster: int, tenant: TenantId, report: Report, *, at_once: bool) -> dict[str, float]:
    """How long it takes to take a history in, and to read it."""
    since, until = the_month()
    found: dict[str, float] = {}
    async with open_database(dsn, role=WORKER) as worker, open_database(dsn, role=FRONT) as front:

        async def read() -> list[usage.UsageDay]:
            return await front.run_for(tenant, usage.days, since, until)

        began = time.perf_counter()
        raw: list[usage.UsageDay] = []
        try:
            raw = await read()
            found["off the submissions, once, ms"] = (time.perf_counter() - began) * 1000
        except DatabaseUnavailable as error:  # its statement takes too long
            report.skip("read off the submissions", str(error))
        began = time.perf_counter()
        if at_once:
            await trio.to_thread.run_sync(sum_at_once, dsn, tenant)
        else:
            await aggregator.restart(worker, tenant)
            await aggregator.fold_all(worker, tenant)
        assert await worker.run(metering.close, tenant, until.date())
        found["taken in, s"] = time.perf_counter() - began
        cost = Cost(postmaster)
        found["median, ms"], found["p95, ms"] = await timed(read, 500)
        found["CPU, ms"] = cost.us() / 500 / 1000
        days = await read()
        assert len(days) in (31, 32)
        if raw:
            pairs = [(one.p95_ms, other.p95_ms) for one, other in zip(days, raw, strict=True)]
            found["worst p95 off by, %"] = max(100 * abs(a / b - 1) for a, b in pairs if a and b)
    return found


# --- over real sockets ------------------------------------------------------------------------------------------------


def serve_unmetered(port: int, dsn: str, processes: int) -> None:
    """Serve as bench.http does, and count nothing."""
    Counters.count = lambda *_: None  # type: ignore[method-assign]
    http.serve_front(port, dsn, processes)


def side_by_side(dsn: str, tenant: TenantId, token: str, seconds: float, rounds: int, report: Report) -> None:
    """POST /invoices with metering and without, in turn."""
    bench = http.Bench(dsn, tenant, token, None, None, processes=2, connections=64, seconds=seconds)
    program = {"with metering": ["bench.http", "--serve"], "without metering": ["bench.metering", "--serve-unmetered"]}
    kinds = {
        name: partial(http.measure, bench, name, [sys.executable, "-m", *command, http.PORT, dsn, "2"])
        for name, command in program.items()
    }
    runs = in_turn(kinds, rounds)
    for name, those in runs.items():
        report.figure(f"POST /invoices over sockets {name}", "accepted/s", [run["rate"] for run in those])
        both = [run["own"] + run["postgres"] for run in those]
        report.figure(f"POST /invoices over sockets {name}", "us of CPU, server and Postgres", both)
    rates = [[run["rate"] for run in runs[name]] for name in program]
    report.ratio("accepted/s, with metering : without", *rates, at_least=0.97)


def ask_over_sockets(dsn: str, token: str, seconds: float, report: Report, what: str) -> None:
    """GET /usage of the month on connections that are kept, one question after the other on each."""
    request = f"GET {PREFIX}/usage?days=31 HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    port = free_port()
    command = [sys.executable, "-m", "bench.http", "--serve", str(port), dsn, "1"]
    with http.serving(command, port):
        for connections in (1, 8):
            asked = http.load(port, connections, seconds, request)
            if set(asked["statuses"]) != {"200"}:
                raise SystemExit(f"GET /usage was answered {asked['statuses']}")
            for part in ("p50", "p95", "p99"):
                report.figure(f"{what} over sockets, {connections} at a time", f"{part}, ms", [asked[part]])


def main() -> int:
    wanted = {
        "submissions": 1_000_000,
        "at-once": (False, "sum by one statement instead of folding"),
        "posts": 1500,
        "seconds": (5.0, "for each turn over sockets"),
        "rounds": 6,
        "serve-unmetered": {"nargs": 3, "help": HIDDEN},
    }
    args = read_options(__doc__, wanted)
    if args.serve_unmetered:
        port, dsn, processes = args.serve_unmetered
        serve_unmetered(int(port), dsn, int(processes))
    with empty_postgres() as (dsn, _):
        postmaster = http.postmaster(dsn)
        with Report("metering", dsn) as report:
            without, with_it, added = trio.run(posts, dsn, postmaster, args.posts)
            report.figure("POST /invoices without metering", "us of CPU", [without])
            report.figure("POST /invoices with metering", "us of CPU", [with_it])
            report.figure("metering by itself", "us of CPU", [added])
            report.ratio("metering : POST /invoices", [added], [without], at_most=0.03)
            tenant, token = trio.run(http.prepare, dsn, 0)
            side_by_side(dsn, tenant, token, args.seconds, args.rounds, report)
            fill(dsn, tenant, args.submissions)
            what = f"GET /usage of {args.submissions} in a month"
            taken = partial(month, dsn, postmaster, tenant, report, at_once=args.at_once)
            for name, value in trio.run(taken).items():
                report.figure(what, name, [value])
            ask_over_sockets(dsn, token, args.seconds, report, what)
            report.note(f"the database holds {size_of(dsn)}")
    return 0


def size_of(dsn: str) -> str:
    """How large all of it is, in words."""
    with psycopg.connect(dsn) as conn:
        (size,) = conn.execute("SELECT pg_size_pretty(pg_database_size(current_database()))").fetchone() or ("?",)
    return str(size)


if __name__ == "__main__":
    sys.exit(main())
