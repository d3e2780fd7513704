"""How keys are asked after while the database is away, and as soon as it is back."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
import trio
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from fe.accounts.keys import revoke_key
from fe.clock import system_clock
from fe.http.auth.authenticate import KeyPatience, KeyStates
from fe.identifiers import TenantId
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.postgres.roles import FRONT
from tests.http.front import Key, make_key, start_front
from tests.store.race import plain
from tests.waiting import PATIENCE, until


@asynccontextmanager
async def away(dsn: str) -> AsyncIterator[None]:
    """Close the connections to the database and refuse new ones while the block runs."""
    name = str(conninfo_to_dict(dsn)["dbname"])
    with plain(make_conninfo(dsn, dbname="postgres")) as server:
        server.execute(f'ALTER DATABASE "{name}" WITH ALLOW_CONNECTIONS false'.encode())
        server.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND application_name = 'fe'",
            (name,),
        )
        try:
            yield
        finally:
            server.execute(f'ALTER DATABASE "{name}" WITH ALLOW_CONNECTIONS true'.encode())


async def test_service_returns_after_a_blip_although_calls_never_pause(db: Database, dsn: str, key: Key) -> None:
    patience = KeyPatience(fresh=0.2, believed=0.4)
    answers: list[int] = []
    async with open_database(dsn, max_size=2, patience=PATIENCE, role=FRONT) as own, trio.open_nursery() as nursery:
        front = await start_front(nursery, own, key_patience=patience)
        # The callers end before the client closes its sockets.
        async with front.client(await front.token(key)) as api, trio.open_nursery() as callers:

            async def call_on() -> None:
                while True:
                    answers.append((await api.get("/ncf")).status_code)
                    await trio.sleep(patience.retry / 20)

            for _ in range(3):
                callers.start_soon(call_on)
            await until(lambda: answers.count(200) > 5)
            async with away(dsn):
                await until(lambda: answers[-60:] == [503] * 60)  # longer than the wait after a question
            await until(lambda: answers[-5:] == [200] * 5)
            callers.cancel_scope.cancel()
        nursery.cancel_scope.cancel()

    assert set(answers) == {200, 503}


class Counting(Database):
    """A database that counts what it is asked."""

    questions = 0

    async def run(self, work: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        self.questions += 1
        return await super().run(work, *args, **kwargs)


@pytest.fixture
def counting(front_db: Database) -> Counting:
    return Counting(front_db._driver)


@asynccontextmanager
async def speechless(dsn: str) -> AsyncIterator[None]:
    """Lock the table of keys while the block runs, so that every lookup of a key waits."""
    with psycopg.connect(dsn) as conn:
        conn.execute("LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE")
        yield


async def test_a_key_that_could_not_be_asked_after_holds_up_no_other_key(
    db: Database, counting: Counting, dsn: str, tenant: TenantId, key: Key
) -> None:
    other = await make_key(db, tenant)
    states = KeyStates(counting, KeyPatience(asked=0.2, retry=1e6))
    async with speechless(dsn):
        with pytest.raises(DatabaseUnavailable):
            await states.find(key.api_key_id)

    states._patience = KeyPatience(asked=PATIENCE, retry=1e6)
    found = await states.find(other.api_key_id)

    assert found is not None
    assert found.api_key_id == other.api_key_id
    with pytest.raises(DatabaseUnavailable):
        await states.find(key.api_key_id)
    assert counting.questions == 2


async def test_whoever_waits_for_an_answer_in_vain_does_not_ask_again_one_after_the_other(
    counting: Counting, dsn: str, key: Key
) -> None:
    """One question takes longer than the wait after it: measured from its beginning there would be none."""
    states = KeyStates(counting, KeyPatience(asked=2, retry=1.5))
    refused: list[int] = []

    async def ask(number: int) -> None:
        with pytest.raises(DatabaseUnavailable):
            await states.find(key.api_key_id)
        refused.append(number)

    async with speechless(dsn), trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(ask, number)

    assert len(refused) == 5
    assert counting.questions == 1


async def test_a_key_that_is_revoked_while_it_is_asked_after_is_asked_after_again(
    db: Database, front_db: Database, key: Key
) -> None:
    """Notification and query use two connections, so a row read before the revocation may arrive after its notice."""

    class Slow(Database):
        async def run(self, work: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
            answer = await super().run(work, *args, **kwargs)
            if not revoked:
                revoked.append(await db.transact(revoke_key, key.tenant_id, key.api_key_id, system_clock()))
                states.forget(key.api_key_id)
            return answer

    revoked: list[bool] = []
    states = KeyStates(Slow(front_db._driver))

    before, after = await states.find(key.api_key_id), await states.find(key.api_key_id)

    assert before is not None
    assert before.revoked_at is None
    assert after is not None
    assert after.revoked_at is not None


async def test_a_key_that_was_revoked_while_the_machine_slept_is_asked_about_when_it_wakes(
    db: Database, dsn: str, key: Key
) -> None:
    """Its notification went by a connection that is gone, and what the process waits by stood still."""
    slept = 0.0

    def told(clock: int, tell: Callable[[int], float] = time.clock_gettime) -> float:
        return tell(clock) + (slept if clock == time.CLOCK_BOOTTIME else 0.0)

    with pytest.MonkeyPatch.context() as machine:
        machine.setattr(time, "clock_gettime", told)
        states = KeyStates(db)
        known = await states.find(key.api_key_id)
        assert known is not None
        assert known.revoked_at is None
        with plain(dsn) as conn:
            conn.execute("UPDATE api_keys SET revoked_at = now() WHERE api_key_id = %s", (key.api_key_id,))
        slept = 600.0
        asked = await states.find(key.api_key_id)

    assert asked is not None
    assert asked.revoked_at is not None
