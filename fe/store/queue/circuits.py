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


_OPEN = """
    INSERT INTO circuits AS c (environment, host, is_open, since, reason, probe_at)
    VALUES (%(environment)s, %(host)s, true, clock_timestamp(), %(reason)s, clock_timestamp() + %(probe_in)s)
    ON CONFLICT (environment, host) DO UPDATE
       SET is_open = true, since = EXCLUDED.since, reason = EXCLUDED.reason, probe_at = EXCLUDED.probe_at,
           failed_probes = 0
     WHERE NOT c.is_open
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
    UPDATE circuits
       SET is_open = false, since = clock_timestamp(), reason = '', failed_probes = 0
     WHERE environment = %(environment)s AND host = %(host)s AND is_open
"""


async def close_circuit(conn: Conn, environment: str, host: str) -> None:
    """Close a circuit: the host answered a probe."""
    await conn.execute(_CLOSE, {"environment": environment, "host": host})


_PROBE_FAILED = """
    UPDATE circuits
       SET failed_probes = failed_probes + 1, probe_at = clock_timestamp() + %(after)s, reason = %(reason)s
     WHERE environment = %(environment)s AND host = %(host)s AND is_open
"""


async def probe_failed(conn: Conn, environment: str, host: str, reason: str, after: timedelta) -> None:
    """Keep a circuit open and say when to look again."""
    await conn.execute(_PROBE_FAILED, {"environment": environment, "host": host, "reason": reason, "after": after})
