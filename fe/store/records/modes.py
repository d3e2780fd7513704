"""Periods in which a tenant issues in another mode than the normal one, and what a receipt's paper says of them."""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Protocol
from uuid import UUID

from psycopg.rows import scalar_row

from fe.contingency import Mode
from fe.ecf.catalogue import Environment, Host
from fe.ecf.dates import ZONE, local
from fe.identifiers import TenantId
from fe.lifecycle import FINAL, Status
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class ModePeriod:
    """One period. `number` is that of the declaration or of the authorisation, `valid_until` the latter's last day."""

    period_id: UUID
    environment: Environment
    mode: Mode
    number: str | None
    valid_until: date | None
    began_at: datetime
    begun_by: str
    reason: str
    ended_at: datetime | None = None
    ended_by: str | None = None
    end_reason: str | None = None

    def authorises(self, at: datetime) -> bool:
        """Return whether it authorises deferred sending of a document that is signed at `at`, as AUTHORISES does."""
        return (
            self.mode is Mode.DEFERRED
            and self.began_at <= at
            and (self.ended_at is None or at < self.ended_at)
            and (self.valid_until is None or local(at).date() <= self.valid_until)
        )


#: Periods that a list shows.
_MOST = 100
_COLUMNS = """p.period_id, p.environment, p.mode, p.number, p.valid_until, p.began_at, p.begun_by, p.reason, p.ended_at,
           p.ended_by, p.end_reason"""
_LISTED = f"""
    SELECT {_COLUMNS}
      FROM mode_periods AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s
     ORDER BY (p.ended_at IS NULL) DESC, p.began_at DESC
     LIMIT {_MOST}
"""


async def listed(conn: Conn, tenant_id: TenantId, environment: Environment) -> list[ModePeriod]:
    """List the newest periods, the current one first."""
    cursor = conn.cursor(row_factory=record_row(ModePeriod))
    await cursor.execute(_LISTED, {"tenant": tenant_id, "environment": environment})
    return await cursor.fetchall()


_CURRENT = f"""
    SELECT {_COLUMNS}
      FROM mode_periods AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.ended_at IS NULL
"""


async def current(conn: Conn, tenant_id: TenantId, environment: Environment) -> ModePeriod | None:
    """Return the period that has no end yet; None in normal mode."""
    cursor = conn.cursor(row_factory=record_row(ModePeriod))
    await cursor.execute(_CURRENT, {"tenant": tenant_id, "environment": environment})
    return await cursor.fetchone()


#: Whether a period `p` authorises deferred sending of what `s` signs; `ModePeriod.authorises` says the same.
AUTHORISES = """p.mode = 'deferred' AND p.began_at <= s.signed_at AND coalesce(p.ended_at, 'infinity') > s.signed_at
           AND coalesce(p.valid_until, 'infinity') >= (s.signed_at AT TIME ZONE interval '-04:00')::date"""
#: A column of a query of submissions, `s`: signed while deferred sending was authorised, and without an answer.
IS_DEFERRED = f"""s.first_answer_at IS NULL
           AND EXISTS (SELECT 1
                         FROM mode_periods AS p
                        WHERE p.tenant_id = %(tenant)s AND p.environment = s.environment
                          AND {AUTHORISES}) AS is_deferred"""

_DEFERRAL = f"""
    SELECT {_COLUMNS}
      FROM mode_periods AS p
     CROSS JOIN (SELECT %(at)s::timestamptz AS signed_at) AS s
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND {AUTHORISES}
"""


async def deferral(conn: Conn, tenant_id: TenantId, environment: Environment, at: datetime) -> ModePeriod | None:
    """Return the period that authorises deferred sending of a document signed at `at`."""
    cursor = conn.cursor(row_factory=record_row(ModePeriod))
    await cursor.execute(_DEFERRAL, {"tenant": tenant_id, "environment": environment, "at": at})
    return await cursor.fetchone()


_CONTINGENCY_ON = f"""
    SELECT {_COLUMNS}
      FROM mode_periods AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.mode = 'contingency'
       AND p.began_at < %(end)s AND coalesce(p.ended_at, 'infinity') >= %(begin)s
     ORDER BY p.began_at DESC
     LIMIT 1
"""


async def contingency_on(conn: Conn, tenant_id: TenantId, environment: Environment, day: date) -> ModePeriod | None:
    """Return the declared contingency that a day in Santo Domingo lies in, its first and last day included."""
    begin = datetime.combine(day, time(), ZONE)
    cursor = conn.cursor(row_factory=record_row(ModePeriod))
    given = {"tenant": tenant_id, "environment": environment, "begin": begin, "end": begin + timedelta(days=1)}
    await cursor.execute(_CONTINGENCY_ON, given)
    return await cursor.fetchone()


_LAST_END = """
    SELECT max(p.ended_at)
      FROM mode_periods AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.mode = 'contingency'
"""


async def last_contingency_end(conn: Conn, tenant_id: TenantId, environment: Environment) -> datetime | None:
    """Return when the last declared contingency ended; None where none has."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_LAST_END, {"tenant": tenant_id, "environment": environment})
    ended_at: datetime | None = await cursor.fetchone()
    return ended_at


_END = """
    UPDATE mode_periods
       SET ended_at = %(at)s, ended_by = %(by)s, end_reason = %(reason)s
     WHERE tenant_id = %(tenant)s AND environment = %(environment)s AND ended_at IS NULL
"""


async def end(conn: Conn, tenant_id: TenantId, environment: Environment, *, by: str, reason: str, at: datetime) -> None:
    """End the current period, if there is one."""
    await conn.execute(_END, {"tenant": tenant_id, "environment": environment, "at": at, "by": by, "reason": reason})


_BEGIN = """
    INSERT INTO mode_periods (tenant_id, environment, period_id, mode, number, valid_until, began_at, begun_by, reason)
    VALUES (%(tenant)s, %(environment)s, %(period)s, %(mode)s, %(number)s, %(valid_until)s, %(began_at)s, %(by)s,
            %(reason)s)
"""


async def begin(conn: Conn, tenant_id: TenantId, period: ModePeriod) -> None:
    """Begin a period; the one before must have ended."""
    await conn.execute(
        _BEGIN,
        {
            "tenant": tenant_id,
            "environment": period.environment,
            "period": period.period_id,
            "mode": period.mode,
            "number": period.number,
            "valid_until": period.valid_until,
            "began_at": period.began_at,
            "by": period.begun_by,
            "reason": period.reason,
        },
    )


# Outages come first, by themselves: a cluster has them on the coordinator alone.
_WHILE = f"""
    WITH outages AS MATERIALIZED (
        SELECT EXISTS (SELECT 1
                         FROM authority_outages AS o
                        WHERE o.environment = %(environment)s AND o.host = %(host)s
                          AND (o.ended_at IS NULL OR (o.began_at <= s.signed_at AND o.ended_at > s.signed_at)))
            OR EXISTS (SELECT 1
                         FROM sandbox_outages AS x
                        WHERE x.tenant_id = %(tenant)s AND x.environment = %(environment)s
                          AND (x.ends_at > now() OR (x.began_at <= s.signed_at AND x.ends_at > s.signed_at)))
               AS is_away
          FROM (SELECT %(signed_at)s::timestamptz AS signed_at) AS s
    )
    SELECT CASE WHEN (SELECT o.is_away FROM outages AS o)
                  OR bool_or(p.mode = 'offline' AND p.began_at <= s.signed_at
                             AND coalesce(p.ended_at, 'infinity') > s.signed_at)
                THEN 'contingency'
                WHEN bool_or({AUTHORISES}) THEN 'deferred'
           END
      FROM mode_periods AS p
     CROSS JOIN (SELECT %(signed_at)s::timestamptz AS signed_at) AS s
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s
"""


class SignedReceipt(Protocol):
    """Fields of a submission that decide its legend."""

    @property
    def environment(self) -> Environment:
        """The environment."""

    @property
    def status(self) -> Status:
        """The status."""

    @property
    def signed_at(self) -> datetime | None:
        """When it was signed."""

    @property
    def qr_code_url(self) -> str | None:
        """The address of its QR code."""


async def mode_of_legend(db: Database, tenant_id: TenantId, receipt: SignedReceipt) -> Mode | None:
    """Return the mode whose legend a signed receipt without a verdict carries: contingency, or deferred.

    Contingency if it was signed while the tenant was offline or its host was down, or if its host is down now. Deferred
    if its sending could be deferred then: it carries that legend where the document says that it is. Of a receipt with
    a verdict the database is not asked.
    """
    if receipt.signed_at is None or receipt.status in FINAL:
        return None
    return await db.run_for(tenant_id, _mode_when_signed, receipt)


async def is_in_contingency(db: Database, tenant_id: TenantId, receipt: SignedReceipt) -> bool:
    """Return whether a signed receipt without a verdict carries the legend of contingency."""
    return await mode_of_legend(db, tenant_id, receipt) is Mode.CONTINGENCY


async def _mode_when_signed(conn: Conn, tenant_id: TenantId, receipt: SignedReceipt) -> Mode | None:
    is_summarised = "/consultatimbrefc" in (receipt.qr_code_url or "").lower()
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(
        _WHILE,
        {
            "tenant": tenant_id,
            "environment": receipt.environment,
            "host": Host.FC if is_summarised else Host.ECF,
            "signed_at": receipt.signed_at,
        },
    )
    found = await cursor.fetchone()
    return None if found is None else Mode(found)
