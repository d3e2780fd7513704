"""Compare this process's clock with the database's, before a process starts (fe/clock.py)."""

import psycopg

from fe.clock import Clock, ClockWrong, Comparison, boot_seconds, clocks_apart
from fe.store.postgres.errors import DatabaseUnavailable, words
from fe.store.postgres.session import connected_once

#: Round trips made; the quickest counts.
_ROUND_TRIPS = 5


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
