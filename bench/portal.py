"""Time of the portal's pages for a company with a long history.

    python -m bench.portal [--submissions 1000000] [--asked 40]

An installation is filled (bench/portal_history.py). Then one process serves the portal, an owner and an operator sign
in, and each page (bench/portal_pages.py) is requested `--asked` times in a row over a real socket, with other values
each time; a slow one less often. Times are those of the server (from the routed request to the answer's bytes) and of
the client (the round trip). CPU is that of the server and Postgres together, for one page: on a busy machine it alone
means anything. Usage is also measured before its days are closed, as after an import of the history.
"""

import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import httpx
import psycopg
import pyotp
import trio

from bench.api_lists import api_lists, token
from bench.http import PORT, postmaster, serving
from bench.portal_history import fill
from bench.portal_pages import (
    Known,
    Ways,
    accountants_pages,
    company_pages,
    every_way,
    halfway_pages,
    operators_pages,
    require_all,
    strangers_pages,
)
from bench.portal_setup import ACCOUNTANT, OPERATOR_EMAIL, OWNER, PASSWORD, SEED, VAULT, Made, prepare, settings_of
from bench.report import Report
from bench.runner import HIDDEN, empty_postgres, read_options
from bench.stack import cpu_seconds, free_port
from fe.accounts import totp
from fe.clock import system_clock
from fe.http.server.listener import serve_http
from fe.identifiers import TenantId
from fe.metering.aggregator import rebuild
from fe.monitoring.metrics import Metrics
from fe.portal.app import PortalApp, create_portal
from fe.portal.page_types import Page
from fe.portal.pages import every_page
from fe.portal.rendering import Renderer
from fe.portal.replies import Reply
from fe.portal.serve import build_portal
from fe.process.workers import collect_rarely, open_sockets
from fe.store.postgres.db import open_database
from fe.store.postgres.roles import OPERATOR, PORTAL
from fe.store.postgres.tenant_scope import _NAME_TENANT
from fe.store.queue.wakeups import Wakeups

#: Target: 95th percentile of a page in milliseconds of the server.
PROMISED = 50.0
#: Sign in again after this; sensitive pages ask for it after ten minutes.
_SIGNED_IN_FOR = 300.0
#: Requests that make plans and fill caches; seconds after which a page is left, and requests that it gets before.
_FIRST, _AT_MOST, _AT_LEAST = 3, 1.5, 10


# --- what is served ---------------------------------------------------------------------------------------------------


async def _serve(port: int, dsn: str) -> None:
    answer, execute = PortalApp.answer, psycopg.AsyncCursor.execute
    #: Of the request at work: they come one after the other.
    counted = [0]

    async def timed(self: PortalApp, page: Page | None, *rest: Any) -> Reply:
        counted[0], began = 0, time.perf_counter()
        reply = await answer(self, page, *rest)
        took = (time.perf_counter() - began) * 1000
        said = f"page;dur={took:.3f}, statements;dur={counted[0]}"
        return replace(reply, headers=(*reply.headers, ("Server-Timing", said)))

    async def counting(self: psycopg.AsyncCursor[Any], query: Any, *rest: Any, **how: Any) -> Any:
        counted[0] += query is not _NAME_TENANT
        return await execute(self, query, *rest, **how)

    psycopg.AsyncCursor.execute = counting  # type: ignore[method-assign]  # it is counted from inside the server
    PortalApp.answer = timed  # type: ignore[method-assign, assignment]  # it is timed from inside the server
    settings = settings_of(port)
    async with open_database(dsn, role=PORTAL) as db, open_database(dsn, role=OPERATOR) as operators:
        pools = {PORTAL: db, OPERATOR: operators}
        portal = build_portal(settings, pools, VAULT, Wakeups(db), system_clock, Metrics())
        require_all(every_page(portal), every_way(1, Known.nothing()))
        sockets = open_sockets(f"127.0.0.1:{port}")
        collect_rarely()
        await serve_http(create_portal(portal), sockets, settings=settings, shutdown=trio.Event())


# --- what is asked ----------------------------------------------------------------------------------------------------


class Visitor:
    """A visitor's browser. It signs in again before the portal asks."""

    def __init__(self, client: httpx.Client, email: str = "", *, with_code: bool = False) -> None:
        self._client, self._email, self._with_code = client, email, with_code
        self._since = float("-inf")

    def get(self, path: str) -> httpx.Response:
        """Ask for a page."""
        if self._email and time.monotonic() - self._since > _SIGNED_IN_FOR:
            self._sign_in()
        return self._client.get(path)

    def _sign_in(self) -> None:
        self._client.cookies.clear()
        sent = self._send("/sign-in", {"email": self._email, "password": PASSWORD, "next": "/"})
        if self._with_code:
            sent = self._send("/sign-in/code", {"code": pyotp.TOTP(totp.shown(SEED)).at(int(time.time()))})
        if sent.status_code != httpx.codes.SEE_OTHER:
            raise SystemExit(f"logging in was answered {sent.status_code}")
        self._since = time.monotonic()

    def _send(self, path: str, fields: dict[str, str]) -> httpx.Response:
        proof = self._client.get(path).text.partition('name="csrf" value="')[2].partition('"')[0]
        return self._client.post(path, data={"csrf": proof, **fields})


@dataclass
class Times:
    """Milliseconds that the server and the client measured for a page, its statements, and its CPU."""

    server: list[float] = field(default_factory=list)
    client: list[float] = field(default_factory=list)
    statements: list[float] = field(default_factory=list)
    cpu: float = 0.0


def ask(get: Callable[[str], httpx.Response], ways: Ways, asked: int, cpu: Callable[[], float]) -> dict[str, Times]:
    """Ask for one page after the other; of what does not say the server's time, it is the round trip."""
    found = {name: Times() for name in ways}
    for name, way in ways.items():
        times = found[name]
        for turn in range(-_FIRST, asked):
            if turn == 0:
                used, leave_at = cpu(), time.monotonic() + _AT_MOST
            elif turn > _AT_LEAST and time.monotonic() > leave_at:
                break
            path = way()
            began = time.perf_counter()
            answer = get(path)
            took = (time.perf_counter() - began) * 1000
            # A search that finds one receipt goes to it, a copy to its form, and a list to its newest page.
            goes = answer.headers.get("location", "")
            is_sent_on = answer.status_code == httpx.codes.SEE_OTHER and "/sign-in" not in goes and "/again" not in goes
            if answer.status_code != httpx.codes.OK and not is_sent_on:
                raise SystemExit(f"{name} was answered {answer.status_code}: {answer.url}")
            if turn >= 0:
                spent = re.findall(r"dur=([0-9.]+)", answer.headers.get("server-timing", ""))
                times.server.append(float(spent[0]) if spent else took)
                times.statements += map(float, spent[1:])
                times.client.append(took)
        times.cpu = (cpu() - used) * 1000 / len(times.server)
    return found


def main() -> int:
    wanted = {
        "submissions": 1_000_000,
        "asked": (40, "how many times for each page"),
        "only": ("", "pages whose name begins so, while one looks at them"),
        "serve": {"nargs": 2, "help": HIDDEN},
    }
    args = read_options(__doc__, wanted)
    if args.serve:
        trio.run(_serve, int(args.serve[0]), args.serve[1])
        return 0
    with empty_postgres() as (dsn, _), Report("portal", dsn) as report:
        made = trio.run(prepare, dsn)
        fill(dsn, made.tenant, args.submissions)
        show(report, measure(dsn, made, args.submissions, args.asked, args.only))
    return 0


def measure(dsn: str, made: Made, many: int, asked: int, only: str) -> dict[str, Times]:
    """Serve, log in and ask; usage first without closed days, which the metering aggregator closes then."""
    style = Renderer().assets["portal.css"].address
    known = Known.of(dsn, many, invitation=made.invitation, reset=made.reset, style=style)
    port = free_port()
    postgres = postmaster(dsn)
    command = [sys.executable, "-m", "bench.portal", "--serve", PORT, dsn]
    with serving(command, port) as pid, _browsers(port, 5) as browsers:
        owner, operator = Visitor(browsers[0], OWNER), Visitor(browsers[1], OPERATOR_EMAIL, with_code=True)
        halfway, stranger = Visitor(browsers[2], OPERATOR_EMAIL), Visitor(browsers[3])
        accountant = Visitor(browsers[4], ACCOUNTANT)
        mine = company_pages(made.tenant, known)
        early = {f"{name}, days not closed": mine[name] for name in ("usage, 30 days", "usage, 180 days", "billing")}
        turns = ((owner, early), (owner, mine), (operator, operators_pages(made.tenant, known)))
        found: dict[str, Times] = {}
        for visitor, ways in (
            *turns,
            (accountant, accountants_pages()),
            (halfway, halfway_pages()),
            (stranger, strangers_pages(known)),
        ):
            wanted = {name: way for name, way in ways.items() if name.startswith(only)}
            found |= ask(visitor.get, wanted, asked, partial(cpu_seconds, pid, postgres))
            if ways is early:
                trio.run(_close_days, dsn, made.tenant)
    port = free_port()
    lists = {name: way for name, way in api_lists(known).items() if name.startswith(only)}
    command = [sys.executable, "-m", "bench.http", "--serve", PORT, dsn, "1"]
    with serving(command, port) as pid, _browsers(port, 1) as (client,):
        client.headers["Authorization"] = f"Bearer {token(known)}"
        return found | ask(client.get, lists, asked, partial(cpu_seconds, pid, postgres))


@contextmanager
def _browsers(port: int, many: int) -> Iterator[list[httpx.Client]]:
    made = [httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60, trust_env=False) for _ in range(many)]
    try:
        yield made
    finally:
        for one in made:
            one.close()


async def _close_days(dsn: str, tenant: TenantId) -> None:
    async with open_database(dsn) as db:
        await rebuild(db, tenant, system_clock)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("VACUUM ANALYZE usage_ends, usage_days, usage_latency, billing_months")


def show(report: Report, found: dict[str, Times]) -> None:
    """Put figures and the promise on record."""
    for name, times in found.items():
        report.figure(name, "CPU, ms", [times.cpu])
        if times.statements:
            report.figure(name, "statements", [statistics.median(times.statements)])
        for measured, values in (("server", times.server), ("client", times.client)):
            report.figure(name, f"{measured} p50, ms", [statistics.median(values)])
            report.figure(name, f"{measured} p95, ms", [p95(values)])
    slowest, dearest = max(p95(times.server) for times in found.values()), max(times.cpu for times in found.values())
    report.ratio("slowest page's p95 : what is promised", [slowest], [PROMISED], at_most=1.0)
    report.ratio("dearest page's CPU : what is promised", [dearest], [PROMISED], at_most=1.0)


def p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


if __name__ == "__main__":
    sys.exit(main())
