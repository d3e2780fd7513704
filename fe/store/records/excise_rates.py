"""Rates of the additional taxes as operators set them: dated data, the same for all tenants."""

from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from psycopg.rows import class_row

from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class ExciseRate:
    """A rate of one code from `since` to `until`, both included; `until` None: no end is foreseen."""

    code: str
    since: date
    until: date | None
    rate: Decimal
    set_at: datetime
    set_by: str


_PUT = """
    INSERT INTO excise_rates AS r (code, since, until, rate, set_at, set_by)
    VALUES (%(code)s, %(since)s, %(until)s, %(rate)s, %(set_at)s, %(set_by)s)
    ON CONFLICT (code, since) DO UPDATE
       SET until = EXCLUDED.until, rate = EXCLUDED.rate, set_at = EXCLUDED.set_at, set_by = EXCLUDED.set_by
"""


async def put(conn: Conn, rate: ExciseRate) -> None:
    """Set a rate; the one of the same code and first day is replaced."""
    await conn.execute(
        _PUT,
        {
            "code": rate.code,
            "since": rate.since,
            "until": rate.until,
            "rate": rate.rate,
            "set_at": rate.set_at,
            "set_by": rate.set_by,
        },
    )


_DELETE = "DELETE FROM excise_rates WHERE code = %(code)s AND since = %(since)s"


async def delete(conn: Conn, code: str, since: date) -> bool:
    """Take a rate back; False when there is none of that code and first day."""
    cursor = await conn.execute(_DELETE, {"code": code, "since": since})
    return cursor.rowcount == 1


_LIST = "SELECT code, since, until, rate, set_at, set_by FROM excise_rates ORDER BY code, since"


async def listed(conn: Conn) -> list[ExciseRate]:
    """List what operators set, by code and day."""
    cursor = conn.cursor(row_factory=class_row(ExciseRate))
    await cursor.execute(_LIST)
    return await cursor.fetchall()
