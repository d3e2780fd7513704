"""Compare this process's clock with the database's, before a process starts and while it runs (fe/clock.py)."""

from contextlib import suppress
from datetime import datetime

import psycopg
import trio

from fe.clock import Clock, ClockCheck, ClockWrong, Comparison, boot_seconds, clocks_apart
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE, DatabaseUnavailable, words
from fe.store.postgres.session import connected_once

#: Round trips made; the quickest counts.
_ROUND_TRIPS = 5
#: Timeout of the first comparison of a process.
_ANSWER_SECONDS = 5.0


def compare_clocks_once(conn: psycopg.Connection, clock: Clock) -> Comparison:
    """Compare the clocks by the quickest of a few round trips. Blocks; raises psycopg.Error."""
    found = [_round_trip(conn, clock) for _ in range(_ROUND_TRIPS)]
    return min(found, key=lambda comparison: comparison.most - comparison.least)


def _round_trip(conn: psycopg.Connection, clock: Clock) -> Comparison:
    before, began = clock(), boot_seconds()
    row = conn.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    return Comparison.of(before, boot_seconds() - began, row[0])


def require_clock(dsn: str, clock: Clock) -> None:
    """Check at start that the clocks agree. Blocks. Raises ClockWrong with a remedy, or DatabaseUnavailable."""
    try:
        with connected_once(dsn) as conn:
            found = compare_clocks_once(conn, clock)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(words(error)) from error
    if found.is_wrong:
        raise ClockWrong(
            f"{clocks_apart(found.halfway)}: set the clock that is wrong and start again (ops/runbooks/clock-skew.md)"
        )


async def compare_clocks_first(db: Database, check: ClockCheck) -> None:
    """Compare the clocks before the process serves, so that it does not begin with 503 on /readyz.

    A database that does not answer now is left to `watch_database`.
    """
    with suppress(*ANY_OF_THE_DATABASE), trio.move_on_after(_ANSWER_SECONDS):
        check.compared(await db.run(compare_clocks, check))


async def compare_clocks(conn: Conn, check: ClockCheck) -> Comparison:
    """Compare the clocks in one round trip."""
    before, began = check.clock(), check.steady()
    theirs = await time_of_day(conn)
    return Comparison.of(before, check.steady() - began, theirs)


async def time_of_day(conn: Conn) -> datetime:
    """Read the server's clock."""
    row = await (await conn.execute("SELECT clock_timestamp()")).fetchone()
    assert row is not None
    now: datetime = row[0]
    return now
