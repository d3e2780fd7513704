"""The attacks of bench.hostile on a small front, judged by counts of accepted and refused requests and held bytes."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
import trio

from bench.hostile import Attack, Heard, attack, attacks, behave, head
from bench.http import request
from fe.config import load_settings
from fe.http import app
from fe.http.routes import document_slots
from fe.store.postgres.db import Database
from tests.http.front import Key, Running, make_key, make_tenant, start_front, structured

OF_ADDRESS, OF_TENANT, WAITING, ALL = 20, 10, 30, 200
NAMES = [each.name for each in attacks("", "")]
#: Counts, not times; but each attack has to have done its worst.
pytestmark = pytest.mark.timeout(900)


@pytest.fixture
async def small(front_db: Database, nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch) -> Running:
    monkeypatch.setattr(app, "BODY_BYTES_OF_ONE", 2_000_000)
    monkeypatch.setattr(app, "BODY_BYTES", 4_000_000)
    monkeypatch.setattr(document_slots, "BYTES_OF_A_TENANT", 2_000_000)
    monkeypatch.setattr(document_slots, "BYTES_IN_FLIGHT", 4_000_000)
    settings = load_settings(address_connections=OF_ADDRESS, max_connections=ALL, grace_seconds=2)
    return await start_front(nursery, front_db, settings, tenant_requests=OF_TENANT, max_waiting=WAITING)


async def logged_in(front: Running, db: Database, names: Iterable[str]) -> list[str]:
    return [await front.token(await make_key(db, await make_tenant(db, name))) for name in names]


@pytest.mark.parametrize("name", NAMES)
async def test_the_good_are_served_and_the_hostile_have_their_share(
    small: Running, db: Database, key: Key, name: str
) -> None:
    hostile = await small.token(key)
    good = await logged_in(small, db, ("Uno SRL", "Dos SRL", "Tres SRL"))
    async with small.client(hostile) as client:
        tax_log_id = (await client.post("/invoices", json=structured())).json()["taxLogId"]
    what = next(each for each in attacks(hostile, tax_log_id) if each.name == name)
    what = replace(what, connections=min(what.connections, 60))
    bad, fine, most = Heard(), Heard(), Held()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(attack, small.port, what, bad)
        nursery.start_soon(most.watch, small)
        with trio.fail_after(120):
            while most.connections <= 3 and not bad.statuses:  # noqa: ASYNC110  (it has begun, whatever it comes to)
                await trio.sleep(0.01)
        async with trio.open_nursery() as tenants:
            for token in good:
                tenants.start_soon(behave_so_often, small.port, token, fine)
        nursery.cancel_scope.cancel()

    assert fine.statuses == {202: 3 * TIMES}
    assert set(bad.statuses) <= what.answers
    sources = len(what.sources)
    # The good ones, and who has logged in, leave connections that end a moment after.
    assert most.connections <= sources * OF_ADDRESS + len(good) * TIMES + 5
    assert most.bytes <= 4_000_000
    assert most.waiting <= OF_TENANT
    # The attack was refused everything above its share.
    if name == "half_heads":  # the other connections get their answers and close
        assert refusals(small, "address_connections") > 0
    if name == "long_polls":
        assert refusals(small, "tenant_long_polls") + refusals(small, "tenant_requests") > 0


TIMES = 5


async def behave_so_often(port: int, token: str, heard: Heard) -> None:
    for _ in range(TIMES):
        await behave(port, request(token), 0.01, heard, pause=0.02)


def refusals(front: Running, limit: str) -> float:
    return front.metrics.registry.get_sample_value("fe_share_refused_total", {"limit": limit}) or 0.0


class Held:
    """The most there was at once of what is bounded."""

    def __init__(self) -> None:
        self.connections = self.bytes = self.waiting = 0

    async def watch(self, front: Running) -> None:
        api = front.app.extensions["fe"]
        while True:
            now = front.metrics.registry.get_sample_value("fe_http_connections") or 0
            self.connections = max(self.connections, int(now))
            self.bytes = max(self.bytes, api.bodies.all_held)
            self.waiting = max(self.waiting, api.waiting.slots.all_held)
            await trio.sleep(0.002)


def test_every_attack_can_be_named_and_says_what_it_may_be_answered() -> None:
    assert len(set(NAMES)) == len(NAMES)
    for each in attacks("token", "id"):
        assert isinstance(each, Attack)
        assert each.answers.isdisjoint({500, 502, 504})
    assert head("GET", "/ncf", "t").endswith(b"\r\n\r\n")
