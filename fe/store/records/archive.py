"""Archive packages: chains that are due, and what is made, stored and time-stamped (docs/archive.md)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row

#: Parts of archived evidence: whole receipts, and what belongs to an issued one and may arrive later.
ISSUED, RECEIVED, VOIDED, ACKNOWLEDGEMENT, APPROVAL = "issued", "received", "voided", "acknowledgement", "approval"


@dataclass(frozen=True, slots=True)
class PackageChain:
    """The packages of a tenant in an environment, each of which names the one before."""

    tenant_id: TenantId
    environment: Environment


@dataclass(frozen=True, slots=True)
class Package:
    """A package. Digests, location and totals are None until it is made, `stored_at` until it was read back.

    `totals` are those of the manifest. `stamped_at`: the time that the token beside it states.
    """

    tenant_id: TenantId
    environment: Environment
    number: int
    previous: bytes | None
    day: date
    planned_at: datetime
    receipts: int
    additions: int
    manifest: bytes | None
    digest: bytes | None
    bytes: int | None
    location: str | None
    stored_at: datetime | None
    fault: str | None
    totals: Sequence[Mapping[str, Any]] | None
    stamped_at: datetime | None

    @property
    def chain(self) -> PackageChain:
        """The chain that it belongs to."""
        return PackageChain(self.tenant_id, self.environment)


_BEHIND = """
    SELECT t.tenant_id, e.environment
      FROM tenants AS t
     CROSS JOIN unnest(%(environments)s::environment[]) AS e (environment)
      LEFT JOIN archive_chains AS c ON c.tenant_id = t.tenant_id AND c.environment = e.environment
     WHERE c.tenant_id IS NULL OR c.planned_until < %(until)s
     ORDER BY t.tenant_id, e.environment
     LIMIT 1000
"""
_OPEN = "SELECT p.tenant_id, p.environment FROM archive_packages AS p WHERE p.stored_at IS NULL"


async def due(conn: Conn, until: datetime) -> list[PackageChain]:
    """Name chains that are not planned until `until`, at most 1,000, and those with a package that is not stored."""
    given = {"environments": [one.value for one in Environment], "until": until}
    rows = await (await conn.execute(_OPEN)).fetchall()
    rows += await (await conn.execute(_BEHIND, given)).fetchall()
    found = dict.fromkeys(rows)
    return [PackageChain(tenant_id, Environment(environment)) for tenant_id, environment in found]


BEGIN = """
    INSERT INTO archive_chains (tenant_id, environment, planned_until, issued_until)
    VALUES (%(tenant)s, %(environment)s, '2000-01-01Z', '2000-01-01Z')
    ON CONFLICT DO NOTHING
"""
PACKAGE_COLUMNS = """
    p.tenant_id, p.environment, p.number, p.previous, p.day, p.planned_at, p.receipts, p.additions, p.manifest,
    p.digest, p.bytes, p.location, p.stored_at, p.fault, p.totals, p.stamped_at
"""
_OPEN_OF = f"""
    SELECT {PACKAGE_COLUMNS}
      FROM archive_packages AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.stored_at IS NULL
"""


async def open_package(conn: Conn, chain: PackageChain) -> Package | None:
    """Return the package of a chain that is planned or made, and not stored."""
    cursor = conn.cursor(row_factory=record_row(Package))
    await cursor.execute(_OPEN_OF, {"tenant": chain.tenant_id, "environment": chain.environment})
    return await cursor.fetchone()


_MADE = """
    UPDATE archive_packages AS p
       SET manifest = %(manifest)b, digest = %(digest)b, bytes = %(bytes)s, location = %(location)s, made_at = %(at)s,
           totals = %(totals)s
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.number = %(number)s
       AND p.stored_at IS NULL
"""
_STORED = """
    UPDATE archive_packages AS p
       SET stored_at = %(at)s, fault = NULL
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.number = %(number)s
       AND p.digest = %(digest)b AND p.stored_at IS NULL
"""
_FAULT = """
    UPDATE archive_packages AS p
       SET fault = %(fault)s
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.stored_at IS NULL
"""
_REFUSE = """
    UPDATE archive_items AS i
       SET number = NULL, refused = %(reason)s
     WHERE i.tenant_id = %(tenant)s AND i.environment = %(environment)s AND i.number = %(number)s
       AND i.evidence_id = %(evidence)s
"""
_ONE_LESS = """
    UPDATE archive_packages AS p
       SET receipts = p.receipts - %(receipts)s, additions = p.additions - %(additions)s
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.number = %(number)s
"""


def _key(package: Package) -> dict[str, Any]:
    return {"tenant": package.tenant_id, "environment": package.environment, "number": package.number}


async def mark_made(
    conn: Conn,
    package: Package,
    *,
    manifest: bytes,
    digest: bytes,
    size: int,
    location: str,
    totals: Sequence[Mapping[str, Any]],
    at: datetime,
) -> None:
    """Record the digests of a package that was made, before it is uploaded."""
    values = {"manifest": manifest, "digest": digest, "bytes": size, "location": location, "at": at}
    values["totals"] = Jsonb(list(totals))
    await conn.execute(_MADE, _key(package) | values)


async def mark_stored(conn: Conn, package: Package, digest: bytes, at: datetime) -> None:
    """Record that the archive has the package: it was read back, and size and digest agree."""
    await conn.execute(_STORED, {**_key(package), "digest": digest, "at": at})


_UNSTAMPED = f"""
    SELECT {PACKAGE_COLUMNS}
      FROM archive_packages AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s
       AND p.stored_at IS NOT NULL AND p.stamped_at IS NULL
     ORDER BY p.number
     LIMIT 100
"""
_STAMPED = """
    UPDATE archive_packages AS p
       SET stamped_at = %(at)s
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.number = %(number)s
       AND p.stored_at IS NOT NULL AND p.stamped_at IS NULL
"""
_CHAINS_UNSTAMPED = """
    SELECT DISTINCT p.tenant_id, p.environment
      FROM archive_packages AS p
     WHERE p.stored_at IS NOT NULL AND p.stamped_at IS NULL
     ORDER BY p.tenant_id, p.environment
     LIMIT 1000
"""


async def chains_to_stamp(conn: Conn) -> list[PackageChain]:
    """Name chains with stored packages that have no time stamp, at most 1,000."""
    rows = await (await conn.execute(_CHAINS_UNSTAMPED)).fetchall()
    return [PackageChain(tenant_id, Environment(environment)) for tenant_id, environment in rows]


async def unstamped(conn: Conn, chain: PackageChain) -> list[Package]:
    """Return stored packages of a chain without a time stamp, the first 100."""
    cursor = conn.cursor(row_factory=record_row(Package))
    await cursor.execute(_UNSTAMPED, {"tenant": chain.tenant_id, "environment": chain.environment})
    return await cursor.fetchall()


async def mark_stamped(conn: Conn, package: Package, at: datetime) -> None:
    """Record the time that the token beside a package states."""
    await conn.execute(_STAMPED, {**_key(package), "at": at})


async def note_fault(conn: Conn, chain: PackageChain, fault: str) -> None:
    """Record why the open package of a chain could not be stored; begin a chain that is not begun, so it is checked."""
    values = {"tenant": chain.tenant_id, "environment": chain.environment, "fault": fault}
    await conn.execute(BEGIN, values)
    await conn.execute(_FAULT, values)


async def refuse(conn: Conn, package: Package, evidence_id: UUID, reason: str, *, is_addition: bool) -> None:
    """Take evidence out of a package because the format has no place for it. Run it in a transaction."""
    values = {**_key(package), "evidence": evidence_id, "reason": reason}
    await conn.execute(_REFUSE, values)
    await conn.execute(_ONE_LESS, {**values, "receipts": int(not is_addition), "additions": int(is_addition)})


_LISTED = f"""
    SELECT {PACKAGE_COLUMNS}
      FROM archive_packages AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.stored_at IS NOT NULL
       AND p.number < %(below)s
     ORDER BY p.number DESC
     LIMIT %(limit)s
"""
_ONE = f"""
    SELECT {PACKAGE_COLUMNS}
      FROM archive_packages AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.number = %(number)s
       AND p.stored_at IS NOT NULL
"""
#: Above every number.
_TOP = 2**62


async def listed(
    conn: Conn, tenant_id: TenantId, environment: Environment, *, limit: int, below: int | None = None
) -> list[Package]:
    """List the stored packages of a chain, newest first, those below a number."""
    cursor = conn.cursor(row_factory=record_row(Package))
    await cursor.execute(
        _LISTED,
        {"tenant": tenant_id, "environment": environment, "limit": limit, "below": _TOP if below is None else below},
    )
    return await cursor.fetchall()


_LISTED_FROM = f"""
    SELECT {PACKAGE_COLUMNS}
      FROM archive_packages AS p
     WHERE p.tenant_id = %(tenant)s AND p.environment = %(environment)s AND p.stored_at IS NOT NULL
       AND p.number > %(above)s
     ORDER BY p.number
     LIMIT %(limit)s
"""


async def listed_from(
    conn: Conn, tenant_id: TenantId, environment: Environment, above: int, *, limit: int
) -> list[Package]:
    """List the stored packages of a chain, oldest first, those above a number."""
    cursor = conn.cursor(row_factory=record_row(Package))
    await cursor.execute(
        _LISTED_FROM, {"tenant": tenant_id, "environment": environment, "limit": limit, "above": above}
    )
    return await cursor.fetchall()


async def stored(conn: Conn, tenant_id: TenantId, environment: Environment, number: int) -> Package | None:
    """Return a stored package by its number."""
    cursor = conn.cursor(row_factory=record_row(Package))
    await cursor.execute(_ONE, {"tenant": tenant_id, "environment": environment, "number": number})
    return await cursor.fetchone()


@dataclass(frozen=True, slots=True)
class ArchiveState:
    """The archive in figures, over all tenants. Times are seconds."""

    unstored_seconds: float
    unchecked_seconds: float
    missing: int
    faults: int
    refused: int


# A chain that was never checked counts from its first package.
_STATE = """
    SELECT waiting.seconds, chains.unchecked, chains.missing, chains.faults, items.refused
      FROM (SELECT coalesce(extract(EPOCH FROM now() - min(p.planned_at)), 0)::float8 AS seconds
              FROM archive_packages AS p
             WHERE p.stored_at IS NULL) AS waiting
     CROSS JOIN (SELECT coalesce(extract(EPOCH FROM now() - min(coalesce(c.checked_at, p.planned_at))), 0)::float8
                            AS unchecked,
                        coalesce(sum(c.missing), 0)::bigint AS missing,
                        coalesce(sum(cardinality(c.faults)), 0)::bigint AS faults
                   FROM archive_chains AS c
                   LEFT JOIN archive_packages AS p
                     ON p.tenant_id = c.tenant_id AND p.environment = c.environment AND p.number = 1) AS chains
     CROSS JOIN (SELECT count(*) AS refused FROM archive_items AS i WHERE i.refused IS NOT NULL) AS items
"""


async def state(conn: Conn) -> ArchiveState:
    """Sum up what waits, what is missing and what is at fault."""
    row = await (await conn.execute(_STATE)).fetchone()
    assert row is not None
    return ArchiveState(*row)
