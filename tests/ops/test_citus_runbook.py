"""The page on clusters (ops/citus/README.md): each statement of its last four parts, as it stands there, under load."""

import re
import signal
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
import trio

from fe.identifiers import SubmissionId, TenantId
from fe.store.citus.engine import CITUS
from fe.store.citus.nodes import contents
from fe.store.postgres.db import open_database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.postgres.roles import FRONT, WORKER
from fe.store.records import submissions
from tests import citus
from tests.factories.tenants import make_tenant, new_submission
from tests.faults.nodes import Nodes
from tests.faults.postgres import Postgres
from tests.faults.watchman import Watchman
from tests.ops.material import ROOT
from tests.ports import free_port
from tests.waiting import PATIENCE

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        citus.programs() is None,
        reason="SKIPPED, NOTHING OF ops/citus/README.md WAS TRIED: `make citus` names no Postgres that has Citus",
    ),
]

PAGE = (ROOT / "ops" / "citus" / "README.md").read_text(encoding="utf-8")
_WHERE = """
    SELECT n.nodeport FROM pg_dist_placement AS p JOIN pg_dist_node AS n ON n.groupid = p.groupid
     WHERE p.shardid = get_shard_id_for_distribution_column('submissions', 42)
"""
_NODE = re.compile(r"'(node\d)', 5432")


def statements(part: str) -> list[str]:
    """The statements of one part of the page."""
    (text,) = re.findall(rf"^## {part}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    return re.findall(r"```sql\n(.*?)```", text, re.DOTALL)


@pytest.fixture
def cluster_folder() -> Iterator[Path]:
    """A folder outside pytest's, which only one user may read: started by root, the servers run as another user."""
    with tempfile.TemporaryDirectory(prefix="fe-cluster-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


@dataclass
class Load:
    """Submissions of all tenants, one after the other, each again until it is acknowledged."""

    tenants: list[TenantId]
    acknowledged: list[tuple[TenantId, SubmissionId]] = field(default_factory=list)
    refused: int = 0

    async def run(self, dsn: Callable[[], str]) -> None:
        """Hand in until cancelled; where the coordinator is now, `dsn` knows."""
        while True:
            async with open_database(dsn(), role=FRONT, engine=CITUS, max_size=2) as front:
                for tenant_id in self.tenants:
                    new = new_submission(tenant_id, client_request_id=f"r-{len(self.acknowledged)}-{self.refused}")
                    try:
                        await front.run(submissions.accept, new, datetime.now(UTC))
                    except DatabaseUnavailable:
                        self.refused += 1
                    else:
                        self.acknowledged.append((tenant_id, new.submission_id))

    async def goes_on(self) -> None:
        """Wait until every tenant was served again."""
        many = len(self.acknowledged)
        with trio.fail_after(PATIENCE):
            while {tenant_id for tenant_id, _ in self.acknowledged[many:]} < set(self.tenants):  # noqa: ASYNC110  (it watches what another task was told)
                await trio.sleep(0.05)


class Rehearsal:
    """The cluster, by the names of the page: node0 is the coordinator, then the workers, node3 no member yet."""

    def __init__(self, cluster: Nodes) -> None:
        self.cluster = cluster
        self.ports = {f"node{nth}": each.port for nth, each in enumerate((cluster, *cluster.workers))}

    def named(self, statement: str, tenant: int = 42) -> str:
        """The statement with where the nodes are here."""
        here = _NODE.sub(lambda found: f"'127.0.0.1', {self.ports[found[1]]}", statement)
        return re.sub(r"\b42\b", str(tenant), here)

    async def on(self, node: Postgres, statement: str, tenant: int = 42) -> list[Any]:
        """Run the statement on the node as an administrator, and return its rows."""

        def run() -> list[Any]:
            with psycopg.connect(node.dsn("fe"), autocommit=True) as conn:
                return conn.execute(self.named(statement, tenant).encode()).fetchall()

        return await trio.to_thread.run_sync(run)

    async def port_of(self, tenant: int) -> int:
        """Where a tenant's rows are."""
        ((port,),) = await self.on(self.cluster, _WHERE, tenant)
        return int(port)

    async def until(self, holds: Callable[[], Awaitable[bool]]) -> None:
        """Ask until it holds."""
        with trio.fail_after(4 * PATIENCE):
            while not await holds():  # noqa: ASYNC110  (the server sends no notification)
                await trio.sleep(0.3)


@asynccontextmanager
async def rehearsing(folder: Path) -> AsyncIterator[tuple[Rehearsal, Load]]:
    """A cluster of a coordinator and two workers, a third that is none of it yet, and load."""
    watchman = Watchman()
    cluster = Nodes(folder, watchman, citus.programs() or Path(), workers=3, members=3)
    try:
        await cluster.make()
        await cluster.make_database("fe")
        async with open_database(cluster.dsn("fe"), engine=CITUS, max_size=2) as db:
            load = Load([await make_tenant(db) for _ in range(6)])
        async with trio.open_nursery() as nursery:
            nursery.start_soon(load.run, lambda: cluster.dsn("fe"))
            await load.goes_on()
            yield Rehearsal(cluster), load
            nursery.cancel_scope.cancel()
    finally:
        with trio.CancelScope(shield=True):
            await cluster.close()
        watchman.close()


async def test_the_cluster_is_kept_as_the_page_says(cluster_folder: Path) -> None:
    async with rehearsing(cluster_folder) as (page, load):
        await a_node_is_added(page, load)
        await a_tenant_gets_its_own_node(page, load)
        await a_worker_is_lost(page, load)
        await the_coordinator_is_lost(page, load)
        acknowledged = set(load.acknowledged)  # before it is asked what is there: the load goes on
        kept = await page.on(page.cluster, "SELECT tenant_id, submission_id FROM submissions")
        assert acknowledged - set(kept) == set()
        assert len(acknowledged) > 20


async def a_node_is_added(page: Rehearsal, load: Load) -> None:
    add, rebalance, status = statements("Adding a node")
    await page.on(page.cluster, add)
    await page.on(page.cluster, rebalance)

    async def over() -> bool:
        ((state, _),) = await page.on(page.cluster, status)
        assert state != "failed"
        return bool(state == "finished")

    await page.until(over)
    await load.goes_on()
    async with open_database(page.cluster.dsn("fe"), role=WORKER, engine=CITUS, max_size=1) as db:
        seen = await db.run(contents)
    assert len(seen) == 3
    assert all(node.answers and node.shards > 0 for node in seen)
    assert all((node.tables or {})["outbox"][0] > 0 for node in seen)


async def a_tenant_gets_its_own_node(page: Rehearsal, load: Load) -> None:
    largest, isolate, move = statements("A tenant of its own node")
    ((tenant, many), *_) = await page.on(page.cluster, largest)
    assert many > 0
    await page.on(page.cluster, isolate, tenant)
    if await page.port_of(tenant) == page.ports["node3"]:
        move = move.replace("node3", "node2")  # it is there already
    await page.on(page.cluster, move, tenant)
    await load.goes_on()


async def a_worker_is_lost(page: Rehearsal, load: Load) -> None:
    health, whose, update, synced, recover, left = statements("A worker is lost")
    page.ports["node1"] = await page.port_of(load.tenants[0])
    lost = next(worker for worker in page.cluster.workers if worker.port == page.ports["node1"])
    await lost.end(signal.SIGKILL)
    assert await page.on(page.cluster, health)
    waiting = {tenant for tenant, _ in await page.on(page.cluster, whose)}
    assert load.tenants[0] in waiting
    assert waiting < set(load.tenants), "the tenants of other nodes are among them"
    async with open_database(page.cluster.dsn("fe"), role=WORKER, engine=CITUS, max_size=1) as db:
        assert [node.answers for node in await db.run(contents)].count(False) == 1
    refused, served = load.refused, len(load.acknowledged)
    with trio.fail_after(PATIENCE):
        while load.refused == refused or len(load.acknowledged) == served:  # noqa: ASYNC110  (it watches what another task was told)
            await trio.sleep(0.05)
    # Its standby has what it had, and is elsewhere.
    lost.port = page.ports["node4"] = free_port()
    await lost.start()
    await page.on(page.cluster, update)
    page.ports["node1"] = lost.port

    async def all_know() -> bool:
        return await page.on(page.cluster, synced) == [(True,)]

    await page.until(all_know)
    await load.goes_on()
    await page.on(page.cluster, recover)
    await page.until(lambda: nothing_left(page, left))


async def the_coordinator_is_lost(page: Rehearsal, load: Load) -> None:
    *_, recover, left = statements("A worker is lost")
    host, restore_point = statements("The coordinator is lost")
    await page.cluster.end(signal.SIGKILL)
    page.cluster.port = page.ports["node5"] = free_port()
    await page.cluster.start()
    await page.on(page.cluster, host)
    await load.goes_on()
    await page.on(page.cluster, recover)
    await page.until(lambda: nothing_left(page, left))
    await page.on(page.cluster, restore_point)
    await load.goes_on()


async def nothing_left(page: Rehearsal, left: str) -> bool:
    """Whether no node has anything prepared of a minute ago."""
    found = [row for node in (page.cluster, *page.cluster.workers) for row in await page.on(node, left)]
    return all((datetime.now(UTC) - prepared).total_seconds() < 5 for _, prepared in found)
