"""Answers while a synchronous standby is silent: a commit whose wait was cancelled is visible, and no promise yet.

A failover to that standby loses it. Each test cancels the wait, as a deadline or an operator does, and asks again.
"""

import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import trio
import trio.lowlevel

from fe.accounts.provision import NameTaken, create_tenant
from fe.store.postgres.db import Conn, DriverName, open_database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.postgres.roles import FRONT, RECEPTION
from tests import citus
from tests.factories.tenants import ISSUER, row, rows
from tests.faults.standby import Pair
from tests.faults.watchman import Watchman
from tests.http.front import invoice_payload, make_key, make_tenant, start_front, structured
from tests.receiving.supplier import document, read, start_reception
from tests.waiting import PATIENCE, until

pytestmark = [
    pytest.mark.skipif(citus.wanted(), reason="a pair of servers of its own, without Citus"),
    pytest.mark.timeout(300),
]

#: Long enough for an answer that waits for nothing, on a busy machine.
_A_WHILE = 3.0


@pytest.fixture
async def pair(nursery: trio.Nursery) -> AsyncIterator[Pair]:
    folder, watchman = Path(tempfile.mkdtemp(prefix="fe-standby-")), Watchman()
    pair = Pair(folder, watchman)
    try:
        await pair.make()
        await pair.make_database("fe")
        await pair.follow(nursery)
        yield pair
    finally:
        with trio.CancelScope(shield=True):
            await pair.close()
        watchman.close()
        shutil.rmtree(folder, ignore_errors=True)


@asynccontextmanager
async def silent(pair: Pair) -> AsyncIterator[None]:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(pair.silence, PATIENCE)
        await trio.lowlevel.checkpoint()
        yield
        nursery.cancel_scope.cancel()


def cancel_waits(dsn: str) -> int:
    """Cancel every wait for the standby; return how many there were."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        waiting = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
        return len(conn.execute(waiting).fetchall())


async def with_its_wait_cancelled(pair: Pair, call: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
    """Make a call whose commit waits for the standby, cancel that wait, and give the answer."""
    answers: list[httpx.Response] = []

    async def make() -> None:
        answers.append(await call())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(make)
        with trio.fail_after(PATIENCE):
            while not answers:
                await trio.to_thread.run_sync(cancel_waits, pair.dsn("fe"))
                await trio.sleep(0.05)
    return answers[0]


async def is_answered(call: Callable[[], Awaitable[Any]]) -> bool:
    with trio.move_on_after(_A_WHILE):
        await call()
        return True
    return False


async def test_repeated_call_during_a_silent_standby_waits_for_it(nursery: trio.Nursery, pair: Pair) -> None:
    async with open_database(pair.dsn("fe")) as db, open_database(pair.dsn("fe"), role=FRONT) as front_db:
        front = await start_front(nursery, front_db)
        key = await make_key(db, await make_tenant(db))
        body = structured(invoice_payload(), clientRequestId="one")
        async with front.client(await front.token(key)) as api:
            post = partial(api.post, "/invoices", json=body)
            post_batch = partial(api.post, "/invoices/batch", json={"items": [body]})
            delete = partial(api.delete, "/ncf/E31")
            sequence = {"prefix": "E31", "minSequence": 1, "maxSequence": 100, "expireAt": "2099-12-31"}
            assert (await api.post("/ncf", json=sequence)).status_code == 200
            async with silent(pair):
                taken = await with_its_wait_cancelled(pair, post)
                deleted = await with_its_wait_cancelled(pair, delete)
                assert (taken.status_code, deleted.status_code) == (503, 503)
                assert (await row(db, "SELECT count(*) FROM submissions"))["count"] == 1

                for call in (post, post_batch, delete, partial(api.get, "/invoices")):
                    assert not await is_answered(call), call

                (found,) = await rows(db, "SELECT submission_id FROM submissions")
                one = f"/invoices/{found['submission_id']}"
                assert await is_answered(partial(api.get, one)), "its taxLogId was not told before it was confirmed"

            again = await post()
            assert (again.status_code, again.json()["deduped"]) == (200, True)
            assert (await post_batch()).json()["items"][0]["statusCode"] == 200
            assert (await delete()).status_code == 404
            assert len((await api.get("/invoices")).json()["items"]) == 1


async def test_receipt_error_during_a_silent_standby_is_shown_after_confirmation(
    nursery: trio.Nursery, pair: Pair
) -> None:
    async with open_database(pair.dsn("fe")) as db, open_database(pair.dsn("fe"), role=FRONT) as front_db:
        front = await start_front(nursery, front_db)
        key = await make_key(db, await make_tenant(db))
        async with front.client(await front.token(key)) as api:
            taken = (await api.post("/invoices", json=structured(invoice_payload()))).json()
            await rows(db, "UPDATE submissions SET status = 'error'")
            show = partial(api.get, f"/invoices/{taken['taxLogId']}")
            async with silent(pair):
                assert not await is_answered(show)
            assert (await show()).json()["status"] == "error"


async def test_repeated_acknowledgement_during_a_silent_standby_waits_for_it(nursery: trio.Nursery, pair: Pair) -> None:
    async with open_database(pair.dsn("fe")) as db, open_database(pair.dsn("fe"), role=RECEPTION) as reception_db:
        reception = await start_reception(nursery, db, reception_db)
        send = partial(reception.send, document())
        async with silent(pair):
            first = await with_its_wait_cancelled(pair, send)
            assert first.status_code == 503
            assert (await row(db, "SELECT count(*) FROM received"))["count"] == 1

            assert not await is_answered(send)

        assert read(await send()).state == "0"


async def insert(conn: Conn) -> None:
    await conn.execute("INSERT INTO notes VALUES (1)")


@pytest.mark.parametrize("driver", ["trio", "trio-asyncio"])
async def test_commit_with_a_cancelled_standby_wait_does_not_count_as_done(pair: Pair, driver: DriverName) -> None:
    failed: list[DatabaseUnavailable] = []
    async with open_database(pair.dsn("fe"), driver=driver, max_size=1) as db:
        await db.run(lambda conn: conn.execute("CREATE TABLE notes (n int)"))

        async def write(how: Callable[[Any], Awaitable[None]]) -> None:
            with pytest.raises(DatabaseUnavailable, match="standby") as raised:
                await how(insert)
            failed.append(raised.value)

        async with silent(pair):
            for count, how in enumerate((db.run, db.transact), 1):
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(write, how)
                    await until(lambda: cancel_waits(pair.dsn("fe")))
                assert len(failed) == count

        await db.run(insert)  # the connection goes on, and forgets what was not confirmed


async def test_refusal_from_stored_rows_during_a_silent_standby_waits_for_it(pair: Pair) -> None:
    async with open_database(pair.dsn("fe")) as db:

        async def create() -> None:
            await db.transact(create_tenant, "one", ISSUER, today=datetime.now(UTC).date())

        async def create_unconfirmed() -> None:
            with pytest.raises(DatabaseUnavailable):
                await create()

        async with silent(pair):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(create_unconfirmed)
                await until(lambda: cancel_waits(pair.dsn("fe")))
            assert (await row(db, "SELECT count(*) FROM tenants"))["count"] == 1

            assert not await is_answered(create)

        with pytest.raises(NameTaken):
            await create()
