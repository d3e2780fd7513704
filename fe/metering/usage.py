"""A tenant's usage in a period, day by day: the numbers of GET /usage, for the portal and the command line."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from fe.ecf.catalogue import Environment
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.records import usage
from fe.store.records.usage import UsageDay

#: As GET /usage has them.
DAYS_DEFAULT, DAYS_MAX = 30, 180
#: Receipts that are counted while a page waits.
COUNTED_AT_ONCE = 2_000


class BadPeriod(LocalizedError):
    """Invalid period; the message may be shown to any user."""


@dataclass(frozen=True, slots=True)
class UsagePeriod:
    """Whole UTC days, both ends included; the last is over."""

    first: date
    last: date

    @property
    def days(self) -> list[date]:
        """Each day of it."""
        return [self.first + timedelta(days=n) for n in range((self.last - self.first).days + 1)]


def period(first: date | None, last: date | None, now: datetime) -> UsagePeriod:
    """Build a period from the given days; by default the thirty days until yesterday. Raises BadPeriod."""
    yesterday = now.astimezone(UTC).date() - timedelta(days=1)
    until = yesterday if last is None else min(last, yesterday)
    since = until - timedelta(days=DAYS_DEFAULT - 1) if first is None else first
    if since > until:
        raise BadPeriod(
            Text(
                "the period should begin before it ends, and before today",
                "el período debe comenzar antes de su fin, y antes de hoy",
            )
        )
    if (until - since).days >= DAYS_MAX:
        raise BadPeriod(Text(f"a period has at most {DAYS_MAX} days", f"un período tiene como máximo {DAYS_MAX} días"))
    return UsagePeriod(since, until)


async def days(conn: Conn, tenant_id: TenantId, environment: Environment, chosen: UsagePeriod) -> list[UsageDay]:
    """List each day of a period in an environment; empty days have zeros."""
    return _each(chosen, environment, await usage.days(conn, tenant_id, *_moments(chosen)))


async def days_at_hand(
    conn: Conn, tenant_id: TenantId, environment: Environment, chosen: UsagePeriod
) -> tuple[list[UsageDay], date | None]:
    """Like `days`, with a limit on counting: return the days up to the first that has too much left to count.

    Also returns that first omitted day, or None.
    """
    found, waits_from = await usage.days_at_hand(conn, tenant_id, *_moments(chosen), at_most=COUNTED_AT_ONCE)
    if waits_from is None:
        return _each(chosen, environment, found), None
    shown = UsagePeriod(chosen.first, waits_from - timedelta(days=1))
    return _each(shown, environment, found), waits_from


def _moments(chosen: UsagePeriod) -> tuple[datetime, datetime]:
    first, last = (datetime.combine(day, time.min, UTC) for day in (chosen.first, chosen.last))
    return first, last + timedelta(days=1)


def _each(chosen: UsagePeriod, environment: Environment, found: list[UsageDay]) -> list[UsageDay]:
    known = {day.day: day for day in found if day.environment == environment}
    return [known.get(day) or _nothing(day, environment) for day in chosen.days]


def _nothing(day: date, environment: Environment) -> UsageDay:
    return UsageDay(
        day=day,
        environment=environment,
        succeeded=0,
        failed=0,
        bytes_in=0,
        bytes_out=0,
        submitted=0,
        accepted=0,
        conditional=0,
        rejected=0,
        pending=0,
        average_ms=None,
        p95_ms=None,
    )
