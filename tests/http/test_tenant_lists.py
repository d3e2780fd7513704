"""The lists of a tenant use few connections, and other requests do not wait for them. Judged by concurrent reads."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trio

from fe.http import paging
from fe.http.app import PREFIX
from fe.http.paging import LISTS_AT_ONCE
from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from fe.store.records import history, received
from fe.store.records.history import HistoryPage
from fe.store.webhooks import deliveries
from tests.http.front import Key, Running, Streams, make_key, make_tenant, start_front
from tests.waiting import PATIENCE, until

ROOT = Path(__file__).resolve().parent.parent.parent
#: Long lists of one tenant, by the module that reads them.
LISTS = {
    "history": ("page", "after", "count"),
    "received": ("listed", "count"),
    "deliveries": ("listed", "count"),
    "receipts": ("page", "search"),
    "inbox": ("page",),
}


class Held:
    """Lists that are being read, each until `go_on`."""

    def __init__(self) -> None:
        self.go_on = trio.Event()
        self.now: Counter[TenantId] = Counter()
        self.most: Counter[TenantId] = Counter()

    async def read(self, _: Any, tenant_id: TenantId, *__: Any, **___: Any) -> Any:
        self.now[tenant_id] += 1
        self.most[tenant_id] = max(self.most[tenant_id], self.now[tenant_id])
        await self.go_on.wait()
        self.now[tenant_id] -= 1
        return HistoryPage([], 0)

    async def count(self, *_: Any) -> int:
        await self.read(*_)
        return 0


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Held:
    made = Held()
    monkeypatch.setattr(paging, "LIST_PATIENCE", PATIENCE)
    monkeypatch.setattr(history, "page", made.read)
    monkeypatch.setattr(received, "count", made.count)
    monkeypatch.setattr(deliveries, "count", made.count)
    return made


@pytest.fixture
async def front(nursery: trio.Nursery, front_db: Database) -> Running:
    return await start_front(nursery, front_db)


@pytest.fixture
async def key(db: Database) -> Key:
    return await make_key(db, await make_tenant(db))


def in_work(front: Running) -> float | None:
    return front.metrics.registry.get_sample_value("fe_http_in_flight")


async def test_a_tenants_lists_of_all_kinds_are_read_two_at_once_and_all_others_are_served(
    front: Running, key: Key, db: Database, held: Held
) -> None:
    other = await make_key(db, await make_tenant(db, "Otra Empresa SRL"))
    answers: list[int] = []

    async def ask(path: str) -> None:
        answers.append((await api.get(path)).status_code)

    async with front.client(await front.token(key)) as api, front.client(await front.token(other)) as neighbour:
        asked = 2 * ["/invoices", "/invoices?state=Aceptado", "/received", "/webhooks/deliveries"]
        async with trio.open_nursery() as asking:
            for path in asked:
                asking.start_soon(ask, path)
            await until(lambda: in_work(front) == len(asked))
            await until(lambda: held.now[key.tenant_id] == LISTS_AT_ONCE)
            asking.start_soon(neighbour.get, "/invoices")
            await until(lambda: held.now[other.tenant_id] == 1)
            seen = [(await one.get("/ncf")).status_code for one in (neighbour, api)]
            held.go_on.set()

    assert seen == [200, 200]
    assert held.most == {key.tenant_id: LISTS_AT_ONCE, other.tenant_id: 1}
    assert answers == [200] * len(asked), "each had its turn"


async def test_a_list_whose_turn_does_not_come_is_refused_and_counted(front: Running, key: Key, held: Held) -> None:
    async with front.client(await front.token(key)) as api, trio.open_nursery() as asking:
        for _ in range(LISTS_AT_ONCE):
            asking.start_soon(api.get, "/invoices")
        await until(lambda: held.now[key.tenant_id] == LISTS_AT_ONCE)
        front.app.extensions["fe"].lists.patience = 0.05

        refused = await api.get("/received")
        held.go_on.set()

    assert (refused.status_code, refused.json()["message"]) == (429, "Too Many Requests")
    assert refused.headers["Retry-After"] == "1"
    refusals = front.metrics.registry.get_sample_value("fe_share_refused_total", {"limit": "tenant_lists"})
    assert refusals == 1


async def test_whoever_leaves_gives_its_turn_to_the_next(
    front: Running, key: Key, held: Held, streams: Streams
) -> None:
    token = await front.token(key)
    asked = f"GET {PREFIX}/invoices HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    leaving = await streams.opened(front.port, *[asked] * LISTS_AT_ONCE)
    await until(lambda: held.now[key.tenant_id] == LISTS_AT_ONCE)

    await streams.reset(leaving)  # who has closed one side only may still read, and is answered
    await until(lambda: in_work(front) == 0)
    held.go_on.set()

    async with front.client(token) as api:
        assert (await api.get("/invoices")).status_code == 200


def reads_of_lists(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The calls that are handed what reads a list: their line and how they are written."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            given = [one for one in node.args if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)]
            is_read = any(one.attr in LISTS.get(ast.unparse(one.value), ()) for one in given)
            if is_read and ast.unparse(node.func) != "Route":  # where a handler of the same name is mounted
                yield node.lineno, ast.unparse(node.func)


def test_no_list_is_read_but_in_its_tenants_turn() -> None:
    found = [
        (path.relative_to(ROOT).as_posix(), line, how)
        for folder in ("http", "portal")
        for path in sorted((ROOT / "fe" / folder).rglob("*.py"))
        for line, how in reads_of_lists(ast.parse(path.read_text(encoding="utf-8")))
    ]

    assert {how for _, _, how in found} == {"read_in_turn", "read_page", "visit.read_list"}, found
    assert len(found) >= 10
