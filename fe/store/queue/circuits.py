"""Circuits: whether a host of the authority can be worked with, known to all processes alike."""

from dataclasses import dataclass
from datetime import timedelta

from psycopg.rows import class_row

from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class Circuit:
    """The circuit of a host in an environment. `age`: time in its state; `probe_due`: a probe is due."""

    environment: str
    host: str
    is_open: bool
    age: timedelta
    reason: str
    probe_due: bool
    failed_probes: int


_ALL = """
    SELECT environment, host, is_open, greatest(clock_timestamp() - since, interval '0') AS age, reason,
           is_open AND probe_at <= clock_timestamp() AS probe_due, failed_probes
      FROM circuits
"""


async def everything(conn: Conn) -> list[Circuit]:
    """Read all circuits; there are at most six."""
    cursor = conn.cursor(row_factory=class_row(Circuit))
    await cursor.execute(_ALL)
    return await cursor.fetchall()


# With the outage that pages, events and legends tell of.
_OPEN = """
    WITH opened AS (
        INSERT INTO circuits AS c (environment, host, is_open, since, reason, probe_at)
        VALUES (%(environment)s, %(host)s, true, clock_timestamp(), %(reason)s, clock_timestamp() + %(probe_in)s)
        ON CONFLICT (environment, host) DO UPDATE
           SET is_open = true, since = EXCLUDED.since, reason = EXCLUDED.reason, probe_at = EXCLUDED.probe_at,
               failed_probes = 0
         WHERE NOT c.is_open
        RETURNING c.environment, c.host, c.since, c.reason
    )
    INSERT INTO authority_outages (environment, host, began_at, reason)
    SELECT o.environment, o.host, o.since, o.reason FROM opened AS o
"""


async def open_circuit(conn: Conn, environment: str, host: str, reason: str, probe_in: timedelta) -> bool:
    """Open a circuit; False if it was open already."""
    cursor = await conn.execute(
        _OPEN,
        {"environment": environment, "host": host, "reason": reason, "probe_in": probe_in},
    )
    return cursor.rowcount == 1


_CLAIM_PROBE = """
    UPDATE circuits
       SET probe_at = clock_timestamp() + %(hold)s
     WHERE environment = %(environment)s AND host = %(host)s AND is_open AND probe_at <= clock_timestamp()
"""


async def claim_probe(conn: Conn, environment: str, host: str, hold: timedelta) -> bool:
    """Take the next probe for oneself: True for one process only. It is due again after `hold` if we vanish."""
    cursor = await conn.execute(_CLAIM_PROBE, {"environment": environment, "host": host, "hold": hold})
    return cursor.rowcount == 1


_CLOSE = """
    WITH closed AS (
        UPDATE circuits
           SET is_open = false, since = clock_timestamp(), reason = '', failed_probes = 0
         WHERE environment = %(environment)s AND host = %(host)s AND is_open
        RETURNING environment, host, since
    )
    UPDATE authority_outages AS o
       SET ended_at = greatest(c.since, o.began_at)
      FROM closed AS c
     WHERE o.environment = c.environment AND o.host = c.host AND o.ended_at IS NULL
"""


_SINCE = "SELECT c.since FROM circuits AS c WHERE c.environment = %(environment)s AND c.host = %(host)s AND c.is_open"

# Rows that were tried before it opened. Untried ones are due since they were signed, so these go before them: due since
# they were signed, too. A backlog of days is not read: what was tried then is due within the longest wait of a retry.
_DUE_SINCE_SIGNED = """
    UPDATE outbox AS o
       SET run_at = o.entered_at
     WHERE o.stage = ANY (ARRAY['send', 'reconcile']) AND o.environment = %(environment)s AND o.host = %(host)s
       AND o.run_at >= %(since)s - interval '10 minutes' AND o.run_at < %(since)s + interval '1 hour'
       AND o.run_at < 'infinity' AND o.epoch >= 0
       AND o.holder IS NULL AND o.attempt > 0
"""


async def close_circuit(conn: Conn, environment: str, host: str) -> None:
    """Close a circuit: the host answered a probe. Rows that wait for it are due in the order of signing."""
    lane = {"environment": environment, "host": host}
    since = await (await conn.execute(_SINCE, lane)).fetchone()
    if since is None:
        return
    await conn.execute(_DUE_SINCE_SIGNED, {**lane, "since": since[0]})  # before the first of them is claimed
    await conn.execute(_CLOSE, lane)


_PROBE_FAILED = """
    UPDATE circuits
       SET failed_probes = failed_probes + 1, probe_at = clock_timestamp() + %(after)s, reason = %(reason)s
     WHERE environment = %(environment)s AND host = %(host)s AND is_open
"""


async def probe_failed(conn: Conn, environment: str, host: str, reason: str, after: timedelta) -> None:
    """Keep a circuit open and say when to look again."""
    await conn.execute(_PROBE_FAILED, {"environment": environment, "host": host, "reason": reason, "after": after})
