"""The proxy does to a connection what it says: the server's side and the client's side of each fault."""

import re
from collections.abc import Iterator

import psycopg
import pytest
import trio

from tests.faults.proxied import proxied
from tests.faults.proxy import Cut, When

INSERT = "INSERT INTO notes (text) VALUES (%s)"


@pytest.fixture
def notes(dsn: str) -> Iterator[psycopg.Connection]:
    """A way past the proxy, to a table of notes."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE TABLE notes (text text)")
        yield conn


async def run(conn: psycopg.Connection, statement: str, *values: object) -> None:
    await trio.to_thread.run_sync(lambda: conn.execute(statement.encode(), values))


def written(notes: psycopg.Connection) -> int:
    row = notes.execute("SELECT count(*) FROM notes").fetchone()
    assert row is not None
    count: int = row[0]
    return count


async def test_proxy_without_faults_changes_nothing(dsn: str, notes: psycopg.Connection) -> None:
    async with proxied(dsn) as (proxy, conn):
        for number in range(10):  # past the fifth, psycopg prepares the statement
            await run(conn, INSERT, str(number) * 10_000)

    assert written(notes) == 10
    assert not proxy.done


@pytest.mark.parametrize(("when", "rows"), [(When.BEFORE, 0), (When.AFTER, 1)])
@pytest.mark.parametrize("warm", [0, 10])
async def test_cut_before_or_after_a_statement_looks_the_same_to_the_client(
    when: When, rows: int, warm: int, dsn: str, notes: psycopg.Connection
) -> None:
    async with proxied(dsn) as (proxy, conn):
        for _ in range(warm):
            await run(conn, INSERT, "warm")
        proxy.cut_at(Cut(when, re.compile("INSERT INTO notes")))
        await run(conn, "SELECT 1")

        with pytest.raises(psycopg.OperationalError) as caught:
            await run(conn, INSERT, "in doubt")

    assert caught.value.sqlstate is None
    assert written(notes) == warm + rows
    assert proxy.done == {f"cut {when} INSERT INTO notes": 1}


async def test_armed_cut_strikes_once_and_can_be_disarmed(dsn: str, notes: psycopg.Connection) -> None:
    async with proxied(dsn) as (proxy, conn):
        proxy.cut_at(Cut(When.BEFORE, re.compile("INSERT")))
        proxy.disarm()
        await run(conn, INSERT, "one")
        proxy.cut()
        with pytest.raises(psycopg.OperationalError):
            await run(conn, INSERT, "two")

    assert written(notes) == 1


@pytest.mark.parametrize("then_cut", [False, True])
async def test_black_hole_holds_answers_until_it_ends(then_cut: bool, dsn: str, notes: psycopg.Connection) -> None:
    outcome: list[str] = []

    async def write(conn: psycopg.Connection) -> None:
        try:
            await run(conn, INSERT, "into the dark")
        except psycopg.OperationalError:
            outcome.append("broken")
        else:
            outcome.append("done")

    async with proxied(dsn) as (proxy, conn), trio.open_nursery() as dark:
        dark.start_soon(lambda: proxy.black_hole(2, then_cut=then_cut))
        await trio.sleep(0.05)
        dark.start_soon(write, conn)
        await trio.sleep(0.2)
        assert outcome == []
        assert written(notes) == 0

    assert outcome == (["broken"] if then_cut else ["done"])


async def test_slow_pieces_arrive_complete_and_once(dsn: str, notes: psycopg.Connection, nursery: trio.Nursery) -> None:
    async with proxied(dsn) as (proxy, conn):
        for number in range(5):
            nursery.start_soon(lambda: proxy.slow(0.05, delay=0.001, piece=7))
            await trio.sleep(0.01)
            # It would take far longer than the slowness lasts, which ends in its middle.
            await run(conn, INSERT, f"{number}" * 2000)
        assert proxy.done == {"trickle": 5}

    assert [row[0] for row in notes.execute("SELECT text FROM notes ORDER BY text")] == [
        f"{number}" * 2000 for number in range(5)
    ]
