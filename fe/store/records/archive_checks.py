"""Evidence that is missing in the archive, a page at a time, and the results of checks (docs/archive.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from fe.ecf.catalogue import Environment
from fe.ecf.ids import id_after, moment_of
from fe.identifiers import TenantId
from fe.store.postgres.arrays import texts
from fe.store.postgres.db import Conn
from fe.store.records.archive import ISSUED, RECEIVED, VOIDED, PackageChain
from fe.store.records.archive_looks import archived, given_up, verdicts, voidings

_CHECK_DUE = """
    SELECT c.tenant_id, c.environment
      FROM archive_chains AS c
     WHERE c.checked_at IS NULL OR c.checked_at < %(before)s
     ORDER BY c.tenant_id, c.environment
     LIMIT 1000
"""


async def chains_to_check(conn: Conn, before: datetime) -> list[PackageChain]:
    """Name chains that were not checked since `before`, at most 1,000."""
    rows = await (await conn.execute(_CHECK_DUE, {"before": before})).fetchall()
    return [PackageChain(tenant_id, Environment(environment)) for tenant_id, environment in rows]


@dataclass(frozen=True, slots=True)
class MissingEvidence:
    """Evidence in no stored package: how much, and the time of the oldest that no package has planned."""

    count: int = 0
    unplanned_since: datetime | None = None

    def __add__(self, other: "MissingEvidence") -> "MissingEvidence":
        times = [one.unplanned_since for one in (self, other) if one.unplanned_since is not None]
        return MissingEvidence(self.count + other.count, min(times, default=None))


@dataclass(frozen=True, slots=True)
class CheckedPage:
    """The missing of one page, and where the next one begins; None at the end."""

    missing: MissingEvidence
    after: Any


async def _missing(conn: Conn, values: Mapping[str, Any], part: str, ended: Mapping[UUID, datetime]) -> MissingEvidence:
    """Count evidence that is in no stored package, of some with the time of its end."""
    planned = await archived(conn, values, part, list(ended))
    unplanned = [at for one, at in ended.items() if one not in planned]
    return MissingEvidence(len(ended) - sum(one.is_stored for one in planned.values()), min(unplanned, default=None))


_RECEIVED = """
    SELECT r.received_id
      FROM received AS r
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s
       AND r.received_id >= %(since)s AND r.received_id < uuid_floor(%(until)s)
     ORDER BY r.received_id
     LIMIT %(page)s
"""


@dataclass(frozen=True, slots=True)
class CheckedPeriod:
    """Evidence of a chain that ended in a period, to be looked at in pages of about `page` rows."""

    environment: Environment
    since: datetime
    until: datetime
    page: int

    def values(self, tenant_id: TenantId) -> dict[str, Any]:
        """Return the parameters of the statements."""
        values = {"tenant": tenant_id, "environment": self.environment, "page": self.page}
        return values | {"since": self.since, "until": self.until}


async def missing_verdicts(conn: Conn, tenant_id: TenantId, period: CheckedPeriod, since: datetime) -> CheckedPage:
    """Count the missing receipts with a verdict, from one time on."""
    values = period.values(tenant_id)
    found, end = await verdicts(conn, values, since, period.page)
    return CheckedPage(await _missing(conn, values, ISSUED, dict(found)), end)


async def missing_received(conn: Conn, tenant_id: TenantId, period: CheckedPeriod, since: UUID) -> CheckedPage:
    """Count the missing receipts of suppliers, from one id on."""
    values = period.values(tenant_id) | {"since": since}
    ids: list[UUID] = [one for (one,) in await (await conn.execute(_RECEIVED, values)).fetchall()]
    missing = await _missing(conn, values, RECEIVED, {one: moment_of(one) for one in ids})
    return CheckedPage(missing, id_after(ids[-1]) if len(ids) == period.page else None)


async def missing_given_up(conn: Conn, tenant_id: TenantId, period: CheckedPeriod, after: UUID) -> CheckedPage:
    """Count the missing receipts that ended as `error` after they were signed, after one id."""
    values = period.values(tenant_id)
    found, following = await given_up(conn, values, after, period.page)
    ended = {one: at for one, at in found if period.since <= at < period.until}
    return CheckedPage(await _missing(conn, values, ISSUED, ended), following)


async def missing_voidings(conn: Conn, tenant_id: TenantId, period: CheckedPeriod) -> MissingEvidence:
    """Count the missing voidings. A tenant has few."""
    values = period.values(tenant_id)
    return await _missing(conn, values, VOIDED, {one: at for one, _, at in await voidings(conn, values)})


_REWIND = """
    UPDATE archive_chains AS c
       SET planned_until = least(c.planned_until, %(since)s), issued_until = least(c.issued_until, %(since)s)
     WHERE c.tenant_id = %(tenant)s AND c.environment = %(environment)s
"""


async def plan_again(conn: Conn, chain: PackageChain, since: datetime) -> None:
    """Rewind the marks of a chain, so that everything since a time is planned that is in no package."""
    await conn.execute(_REWIND, {"tenant": chain.tenant_id, "environment": chain.environment, "since": since})


_CHECKED = """
    UPDATE archive_chains AS c
       SET checked_at = %(at)s, missing = %(missing)s, faults = %(faults)s
     WHERE c.tenant_id = %(tenant)s AND c.environment = %(environment)s
"""


async def note_check(conn: Conn, chain: PackageChain, at: datetime, missing: int, faults: Sequence[str]) -> None:
    """Record what a check of a chain found."""
    values = {"tenant": chain.tenant_id, "environment": chain.environment, "at": at, "missing": missing}
    await conn.execute(_CHECKED, {**values, "faults": texts(list(faults))})


@dataclass(frozen=True, slots=True)
class ChainCheckResult:
    """The last check of a chain; `checked_at` None: there was none."""

    checked_at: datetime | None
    missing: int
    faults: Sequence[str]


_LAST_CHECK = """
    SELECT c.checked_at, c.missing, c.faults
      FROM archive_chains AS c
     WHERE c.tenant_id = %(tenant)s AND c.environment = %(environment)s
"""


async def last_check(conn: Conn, tenant_id: TenantId, environment: Environment) -> ChainCheckResult:
    """Return what the last check of a chain found."""
    cursor = await conn.execute(_LAST_CHECK, {"tenant": tenant_id, "environment": environment})
    row = await cursor.fetchone()
    return ChainCheckResult(None, 0, ()) if row is None else ChainCheckResult(*row)
