"""/readyz: it predicts the outcome of a request, allows any number of checks, and leaves nothing behind."""

from dataclasses import replace

import httpx
import pytest
import trio
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from fe.http.routes.health import LookPatience
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import FRONT
from tests.http.front import Running, start_front
from tests.plain_http import NO_TLS
from tests.store.race import plain
from tests.system.disk import small_disk
from tests.waiting import PATIENCE, until


async def ask(front: Running) -> tuple[int, str]:
    async with httpx.AsyncClient(verify=NO_TLS, trust_env=False, timeout=PATIENCE) as client:
        answer = await client.get(f"http://127.0.0.1:{front.port}/readyz")
    return answer.status_code, answer.json().get("message", "")


def open_connections(front: Running) -> float:
    return front.metrics.registry.get_sample_value("fe_http_connections") or 0.0


#: Each call looks for itself.
EAGER = LookPatience(kept=0.0, within=PATIENCE)
#: One look serves all calls.
LASTING = LookPatience(kept=1e6)


def pages(dsn: str) -> int:
    """How many pages the probes have taken since the last vacuum: one each."""
    with plain(dsn) as conn:
        row = conn.execute("SELECT pg_relation_size('write_probes') / 8192").fetchone()
    assert row is not None
    taken: int = row[0]
    return taken


@pytest.mark.new_database
async def test_each_look_writes_on_a_new_page_and_the_table_stays_empty(
    front_db: Database, nursery: trio.Nursery, dsn: str
) -> None:
    front = await start_front(nursery, front_db, look_patience=EAGER)
    for _ in range(4):
        assert await ask(front) == (200, "")

    assert pages(dsn) == 4
    with plain(dsn) as conn:
        assert conn.execute("SELECT count(*) FROM write_probes").fetchone() == (0,)
        conn.execute("VACUUM write_probes")
    assert pages(dsn) == 0


@pytest.mark.new_database
async def test_however_often_it_is_asked_the_database_is_looked_at_once(
    front_db: Database, nursery: trio.Nursery, dsn: str
) -> None:
    front = await start_front(nursery, front_db, look_patience=LASTING)
    async with trio.open_nursery() as askers:
        for _ in range(40):
            askers.start_soon(ask, front)

    assert pages(dsn) == 1


@pytest.mark.new_database
async def test_who_asks_and_leaves_ends_no_look_and_begins_no_other(
    front_db: Database, nursery: trio.Nursery, dsn: str
) -> None:
    front = await start_front(nursery, front_db, look_patience=LASTING)
    request = b"GET /readyz HTTP/1.1\r\nHost: a\r\n\r\n"
    with plain(dsn) as conn, conn.transaction():
        conn.execute("LOCK TABLE write_probes IN ACCESS EXCLUSIVE MODE")
        for _ in range(10):
            async with await trio.open_tcp_stream("127.0.0.1", front.port) as stream:
                await stream.send_all(request)
                await until(lambda: open_connections(front) > 0)
        async with trio.open_nursery() as asker:
            waiting: list[tuple[int, str]] = []

            async def wait_for_it() -> None:
                waiting.append(await ask(front))

            asker.start_soon(wait_for_it)

    assert waiting == [(503, "the database takes no writes")]
    assert pages(dsn) == 0


async def test_a_database_that_only_reads_is_not_ready(dsn: str, nursery: trio.Nursery) -> None:
    """A standby, or a primary that was told to: the look-up of a key works there."""
    name = sql.Identifier(str(conninfo_to_dict(dsn)["dbname"]))
    with plain(dsn) as conn:
        conn.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(name))
    async with open_database(dsn, max_size=2, role=FRONT) as db:
        front = await start_front(nursery, db, look_patience=EAGER)
        assert await ask(front) == (503, "the database takes no writes")
        with plain(make_conninfo(dsn, dbname="postgres")) as conn:
            conn.execute(sql.SQL("ALTER DATABASE {} RESET default_transaction_read_only").format(name))
            conn.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fe'")
        with trio.fail_after(60):
            while await ask(front) != (200, ""):  # noqa: ASYNC110  (only the front knows)
                await trio.sleep(0.05)


async def test_a_database_in_which_no_key_can_be_looked_up_is_not_ready(
    front_db: Database, nursery: trio.Nursery, dsn: str
) -> None:
    front = await start_front(nursery, front_db, look_patience=replace(EAGER, within=0.5))
    with plain(dsn) as conn, conn.transaction():
        conn.execute("LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE")
        assert await ask(front) == (503, "the database does not answer")


async def test_a_full_disk_is_not_ready(front_db: Database, nursery: trio.Nursery, dsn: str) -> None:
    """Really full: the rows of documents lie on a file system of a megabyte, and something else has filled it."""
    front = await start_front(nursery, front_db, look_patience=EAGER)
    with small_disk(dsn, "write_probes") as disk:
        assert await ask(front) == (200, "")
        disk.fill()
        assert await ask(front) == (503, "the database takes no writes")
        disk.clear()
        assert await ask(front) == (200, "")


async def test_front_with_a_wrong_clock_is_not_ready_until_it_is_right(
    front_db: Database, nursery: trio.Nursery
) -> None:
    faults: list[str | None] = ["the clock of this process is 30.0 s ahead of the database's"]
    front = await start_front(nursery, front_db, clock_fault=lambda: faults[-1])

    assert await ask(front) == (503, faults[0])
    faults.append(None)
    assert await ask(front) == (200, "")
