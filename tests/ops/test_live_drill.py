"""The alert drill for real: faults of a running service, seen by a real Prometheus, told to a real Alertmanager.

The rules are as they are, but for their time, which is shortened. Every alert, with time as it is: `test_drill.py`.
"""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Set
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import httpx
import psycopg
import pytest
import trio
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from fe.ecf.catalogue import Environment
from tests.ops.live import alertmanager, ask, needs_alertmanager, needs_prometheus, pager, prometheus, until
from tests.ops.scene import children_of
from tests.ops.worked import Worked, worked
from tests.ports import free_port
from tests.system.test_road import invoice
from tests.waiting import PATIENCE

#: A minute of the rules is a second.
FASTER = 60


@asynccontextmanager
async def the_authority_is_away(service: Worked) -> AsyncIterator[None]:
    async with httpx.AsyncClient(base_url=service.stack.authority["management"], trust_env=False) as management:
        (await management.post("/faults", json={"kind": "unavailable", "times": 0})).raise_for_status()
        yield
        (await management.delete("/faults")).raise_for_status()


@asynccontextmanager
async def all_processes_hang(service: Worked) -> AsyncIterator[None]:
    frozen = children_of(service.stack.processes["service"].pid)
    try:
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        yield
    finally:
        for pid in frozen:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


@asynccontextmanager
async def the_database_lets_nobody_in(service: Worked) -> AsyncIterator[None]:
    name = str(conninfo_to_dict(service.stack.dsn)["dbname"])
    closed = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(sql.Identifier(name))
    opened = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS true").format(sql.Identifier(name))
    with psycopg.connect(make_conninfo(service.stack.dsn, dbname="template1"), autocommit=True) as conn:
        try:
            conn.execute(closed)
            conn.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            yield
        finally:
            conn.execute(opened)


@asynccontextmanager
async def the_database_takes_no_writes(service: Worked) -> AsyncIterator[None]:
    name = sql.Identifier(str(conninfo_to_dict(service.stack.dsn)["dbname"]))
    with psycopg.connect(make_conninfo(service.stack.dsn, dbname="template1"), autocommit=True) as conn:
        try:
            conn.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
            conn.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fe'")
            yield
        finally:
            conn.execute(sql.SQL("ALTER DATABASE {} RESET default_transaction_read_only").format(name))


@dataclass(frozen=True)
class Fault:
    """A fault, the alerts that notify an operator, and the alerts that are inhibited."""

    happens: Callable[[Worked], AbstractAsyncContextManager[None]]
    told: frozenset[str]
    quiet: frozenset[str] = frozenset()


FAULTS = (
    Fault(the_authority_is_away, frozenset({"FeAuthorityDown"}), frozenset({"FeAuthorityErrors"})),
    Fault(all_processes_hang, frozenset({"FeTargetMissing", "FeNobodyWorks"})),
    Fault(the_database_takes_no_writes, frozenset({"FeDatabaseReadOnly"})),
    Fault(the_database_lets_nobody_in, frozenset({"FeDatabaseUnreachable"})),
)


async def be_used(service: Worked) -> None:
    """Hand in, whatever is answered: clients do not know that this is a drill."""
    number = 0
    while True:
        number += 1
        body = {"format": "structured", "payload": invoice(number)}
        headers = {"Authorization": f"Bearer {service.tokens[number % len(service.tokens)]}"}
        with suppress(httpx.HTTPError), trio.move_on_after(2):
            await service.client.post("/invoices", json=body, headers=headers)
        await trio.sleep(0.2)


async def states(manager: httpx.AsyncClient) -> dict[str, set[str]]:
    """The alerts that Alertmanager has, each by its name: `active`, or `suppressed` by another."""
    found: dict[str, set[str]] = {}
    for alert in (await manager.get("/api/v2/alerts")).json():
        inhibited = alert["status"]["inhibitedBy"]
        state = "inhibited" if inhibited else str(alert["status"]["state"])
        found.setdefault(alert["labels"]["alertname"], set()).add(state)
    return found


async def are_told_of(manager: httpx.AsyncClient, told: Set[str], quiet: Set[str] = frozenset()) -> bool:
    now = await states(manager)
    return all("active" in now.get(name, ()) for name in told) and all(now.get(one) == {"inhibited"} for one in quiet)


async def are_over(manager: httpx.AsyncClient, names: Set[str]) -> bool:
    return not names & (await states(manager)).keys()


@needs_prometheus
@needs_alertmanager
@pytest.mark.timeout(900)
# A request that a fault cuts off while it is sent leaves httpx's iterator of its body to the collector.
@pytest.mark.drill
@pytest.mark.filterwarnings("ignore:Async generator 'httpx._content.ByteStream:ResourceWarning")
async def test_faults_are_told_of_once_and_it_is_told_when_they_are_over(tmp_path: Path) -> None:
    async with (
        worked(
            count=2,
            with_certificates=2,
            processes=2,
            environments=(Environment.ECF, Environment.TESTECF),
            settings={"FE_TIME_SCALE": "0.1"},
        ) as service,
        alertmanager(tmp_path) as manager,
        prometheus(
            tmp_path, service.metrics_urls, faster=FASTER, alertmanager=manager.base_url.netloc.decode()
        ) as asked,
        trio.open_nursery() as nursery,
    ):
        nursery.start_soon(be_used, service)
        await until(partial(are_told_of, manager, {"FeDeadMansSwitch"}))
        for fault in FAULTS:
            over = partial(are_over, manager, fault.told | fault.quiet)
            await until(over)
            async with fault.happens(service):
                # On a busy machine few requests fail, and the alert on errors is late.
                await until(partial(are_told_of, manager, fault.told, fault.quiet), patience=2 * PATIENCE)
            await until(over)
        # The process is older than the allowed silence, so an actor that runs too seldom is silent by now.
        await until(partial(ask, asked, "min(time() - process_start_time_seconds) > 75"))
        await until(partial(are_over, manager, {"FeActorSilent"}))
        nursery.cancel_scope.cancel()


#: Most seconds from the end of the last actor to the page.
PAGED_WITHIN = 120


@asynccontextmanager
async def a_front(service: Worked) -> AsyncIterator[tuple[str, str]]:
    """A process of the role `http` beside the service; its base URL, and where its metrics are."""
    http, metrics = free_port(), free_port()
    binds = {"FE_HTTP_BIND": f"127.0.0.1:{http}", "FE_METRICS_BIND": f"127.0.0.1:{metrics}"}
    process = await trio.lowlevel.open_process(
        [sys.executable, "-m", "fe", "run", "--role", "http"],
        env=os.environ | service.stack.environment | binds,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield f"http://127.0.0.1:{http}", f"http://127.0.0.1:{metrics}/metrics"
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()


@pytest.mark.drill
@needs_prometheus
@needs_alertmanager
@pytest.mark.timeout(900)
async def test_all_actors_gone_while_an_old_target_is_missing_pages_within_two_minutes(tmp_path: Path) -> None:
    """With the shipped intervals and rules. An old alert about another target inhibits nothing."""
    old = f"http://127.0.0.1:{free_port()}/metrics"
    missing = {
        "alertname": "FeTargetMissing",
        "severity": "page",
        "job": "fe",
        "instance": httpx.URL(old).netloc.decode(),
    }
    async with (
        worked(count=1, with_certificates=1, environments=(Environment.ECF,)) as service,
        a_front(service) as (front, front_metrics),
        pager() as (deliver_to, sent),
        alertmanager(tmp_path, deliver_to) as manager,
        prometheus(
            tmp_path,
            [*service.metrics_urls, front_metrics, f"http://{old}/metrics"],
            every=15,
            evaluated_every=15,
            missing=1,
            alertmanager=manager.base_url.netloc.decode(),
        ) as asked,
    ):
        ends = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        told = [{"labels": missing, "annotations": {"summary": "gone for long"}, "endsAt": ends}]
        (await manager.post("/api/v2/alerts", json=told)).raise_for_status()
        await until(partial(ask, asked, 'fe_actor_silent_seconds{actor="send"}'))
        await until(lambda: has(sent, "on-call", "FeTargetMissing"))

        gone = trio.current_time()
        service.stack.processes["service"].kill()
        headers = {"Authorization": f"Bearer {service.tokens[0]}"}
        body = {"format": "structured", "payload": invoice(1)}
        async with httpx.AsyncClient(base_url=f"{front}/api/v1/fe", trust_env=False) as client:
            (await client.post("/invoices", json=body, headers=headers)).raise_for_status()
        await until(lambda: has(sent, "on-call", "FeNobodyWorks"), patience=PAGED_WITHIN + 60)
        took = next(at for _, alert, at in sent if alert == "FeNobodyWorks") - gone
        assert took < PAGED_WITHIN, f"paged after {took:.0f} s"
        # The front, which is left, shows that work is late.
        await until(partial(ask, asked, 'max(fe_outbox_oldest_late_seconds{environment="ecf"}) > 15'))


async def has(sent: list[tuple[str, str, float]], receiver: str, alert: str) -> bool:
    return any(one[:2] == (receiver, alert) for one in sent)
