"""Voidings of number ranges: requests, what people read of them, and the void ranges (docs/decisions/voidings.md).

`voided_ranges` takes numbers out of use from the moment of the request: no draw gives them, no submission holds them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Final, LiteralString
from uuid import UUID

from psycopg.types.json import Jsonb

from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.voiding import NumberRange
from fe.identifiers import ClientRequestId, TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import StoreError
from fe.store.postgres.rows import record_row
from fe.store.records.voidable import Taken, first_taken

#: The stage of a voiding that waits.
VOID: Final = "void"


class VoidingState(StrEnum):
    """The state of a voiding; a waiting one is in stage `void`. Clients, people and operators read the name."""

    WAITING = "void"
    VOIDED = "voided"
    #: The authority left out numbers that it knows as used.
    PARTLY = "partly voided"
    #: The authority refused it: no number is void.
    REJECTED = "rejected"
    #: It was not sent: a number was taken meanwhile, or nothing can sign.
    REFUSED = "refused"
    #: Whether the numbers are void is not known: an operator looks.
    IN_DOUBT = "in doubt"


class RangeFate(StrEnum):
    """The state of a range. In every one its numbers are out of use."""

    ASKED = "asked"
    VOID = "void"
    #: The authority says that these numbers are used.
    USED_ELSEWHERE = "used elsewhere"


@dataclass(frozen=True, slots=True)
class NewVoiding:
    """A request. `ranges` are in order."""

    voiding_id: UUID
    environment: Environment
    issuer_rnc: str
    reason: int
    ranges: Sequence[NumberRange]
    client_request_id: ClientRequestId | None
    by_whom: str


@dataclass(frozen=True, slots=True)
class Voiding:
    """A voiding. `answer` is what the authority said, `last_error` why it waits, was refused, or is in doubt."""

    tenant_id: TenantId
    voiding_id: UUID
    environment: Environment
    state: VoidingState
    client_request_id: ClientRequestId | None
    requested_at: datetime
    requested_by: str
    issuer_rnc: str
    reason: int
    ranges: Sequence[NumberRange]
    numbers: int
    attempt: int
    unanswered: int
    signed_at: datetime | None
    finished_at: datetime | None
    last_error: str | None
    answer: Mapping[str, Any] | None


class NotVoidable(StoreError):
    """A range cannot be voided; `why`: `outside`, `voided`, or `taken` by `submission`."""

    def __init__(self, why: str, e_ncf: str, taken: Taken | None = None) -> None:
        super().__init__(why, e_ncf)
        self.why = why
        self.e_ncf = e_ncf
        self.taken = taken


_LOCK = """
    SELECT left(q.prefix, 3), q.min_number, q.max_number
      FROM sequences AS q
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s AND left(q.prefix, 3) = ANY(%(prefixes)s)
     ORDER BY q.prefix
       FOR UPDATE
"""
_FORMER = """
    SELECT left(q.prefix, 3), f.min_number, f.max_number
      FROM sequences AS q
     CROSS JOIN LATERAL unnest(q.former_ranges) AS f (min_number, max_number, expire_at)
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s AND left(q.prefix, 3) = ANY(%(prefixes)s)
"""
_INSERT = """
    INSERT INTO voidings (
        tenant_id, subject, stage, environment, run_at, entered_at, client_request_id, requested_at, requested_by,
        issuer_rnc, reason, ranges, numbers
    )
    VALUES (%(tenant)s, %(id)s, 'void', %(environment)s, clock_timestamp(), clock_timestamp(), %(request)s, %(at)s,
            %(by)s, %(issuer)s, %(reason)s, %(ranges)s, %(numbers)s)
    ON CONFLICT (tenant_id, environment, client_request_id) DO NOTHING
"""
_OVERLAP = """
    SELECT greatest(v.first_number, %(first)s)
      FROM voided_ranges AS v
     WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s AND v.prefix = %(prefix)s
       AND v.first_number <= %(last)s AND v.last_number >= %(first)s
     ORDER BY v.first_number
     LIMIT 1
"""
_RESERVE = """
    INSERT INTO voided_ranges (tenant_id, environment, prefix, first_number, last_number, voiding_id, fate, reason)
    VALUES (%(tenant)s, %(environment)s, %(prefix)s, %(first)s, %(last)s, %(id)s, 'asked', %(reason)s)
"""
_NOT_RETURNED = """
    DELETE FROM returned_numbers AS r
     WHERE r.tenant_id = %(tenant)s AND r.environment = %(environment)s AND r.prefix = %(prefix)s
       AND r.number BETWEEN %(first)s AND %(last)s
"""
# Draws would skip the range one by one; a range whose rest is void is used up.
_MOVE_ON = """
    UPDATE sequences AS q
       SET current_number = least(%(last)s, q.max_number) + 1, updated_at = %(at)s
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s AND left(q.prefix, 3) = %(prefix)s
       AND q.current_number BETWEEN %(first)s AND %(last)s AND q.current_number <= q.max_number
"""


async def wait_for_requests(conn: Conn, tenant_id: TenantId, environment: Environment, prefix: str) -> None:
    """Wait for requests of a type that are being stored, and keep others out until the transaction ends."""
    await conn.execute(_LOCK, {"tenant": tenant_id, "environment": environment, "prefixes": [prefix]})


async def request(conn: Conn, tenant_id: TenantId, new: NewVoiding, at: datetime) -> UUID:
    """Store a request and take its numbers out of use; return its id, or that of the same clientRequestId.

    Run it in a transaction. Raises NotVoidable. Draws and other requests of the types wait for it.
    """
    prefixes = sorted({one.prefix for one in new.ranges})
    given: dict[str, Any] = {
        "tenant": tenant_id,
        "environment": new.environment,
        "id": new.voiding_id,
        "request": new.client_request_id,
        "at": at,
        "by": new.by_whom,
        "issuer": new.issuer_rnc,
        "reason": new.reason,
        "ranges": Jsonb([{"prefix": one.prefix, "first": one.first, "last": one.last} for one in new.ranges]),
        "numbers": sum(one.count for one in new.ranges),
        "prefixes": prefixes,
    }
    known = await (await conn.execute(_LOCK, given)).fetchall()
    known += await (await conn.execute(_FORMER, given)).fetchall()
    if not (await conn.execute(_INSERT, given)).rowcount:
        assert new.client_request_id is not None
        found = await by_client_request(conn, tenant_id, new.environment, new.client_request_id)
        assert found is not None
        return found.voiding_id
    for one in new.ranges:
        if not any(prefix == one.prefix and low <= one.first and one.last <= high for prefix, low, high in known):
            raise NotVoidable("outside", one.first_e_ncf)
        of_range = given | {"prefix": one.prefix, "first": one.first, "last": one.last}
        overlap = await (await conn.execute(_OVERLAP, of_range)).fetchone()
        if overlap is not None:
            raise NotVoidable("voided", f"{one.prefix}{overlap[0]:010d}")
        taken = await first_taken(conn, tenant_id, new.environment, one)
        if taken is not None:
            raise NotVoidable("taken", taken.e_ncf, taken)
        for statement in (_RESERVE, _NOT_RETURNED, _MOVE_ON):
            await conn.execute(statement, of_range)
    return new.voiding_id


_COLUMNS: LiteralString = """
    SELECT v.tenant_id, v.subject, v.environment, v.stage, v.client_request_id, v.requested_at, v.requested_by,
           v.issuer_rnc, v.reason, v.ranges, v.numbers, v.attempt, v.unanswered, v.signed_at, v.finished_at,
           v.last_error, v.answer
      FROM voidings AS v
"""
_ONE: LiteralString = _COLUMNS + " WHERE v.tenant_id = %(tenant)s AND v.subject = %(voiding)s"
_BY_REQUEST: LiteralString = (
    _COLUMNS
    + " WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s AND v.client_request_id = %(request)s"
)
_LIST: LiteralString = (
    _COLUMNS
    + """ WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s
     ORDER BY v.requested_at DESC, v.subject DESC
     LIMIT %(limit)s"""
)
_DOUBTS: LiteralString = _COLUMNS + " WHERE v.stage = 'in doubt' ORDER BY v.finished_at LIMIT 200"
_DOCUMENT = "SELECT v.document FROM voidings AS v WHERE v.tenant_id = %(tenant)s AND v.subject = %(voiding)s"


async def find(conn: Conn, tenant_id: TenantId, voiding_id: UUID) -> Voiding | None:
    """Find a voiding."""
    return await _first(conn, _ONE, {"tenant": tenant_id, "voiding": voiding_id})


async def by_client_request(
    conn: Conn, tenant_id: TenantId, environment: Environment, request_id: ClientRequestId
) -> Voiding | None:
    """Find a voiding by the client's id of its request."""
    return await _first(conn, _BY_REQUEST, {"tenant": tenant_id, "environment": environment, "request": request_id})


async def newest(conn: Conn, tenant_id: TenantId, environment: Environment, limit: int = 100) -> list[Voiding]:
    """List a tenant's voidings, the newest first."""
    given = {"tenant": tenant_id, "environment": environment, "limit": limit}
    return [_voiding(row) for row in await (await conn.execute(_LIST, given)).fetchall()]


async def in_doubt(conn: Conn) -> list[Voiding]:
    """List the voidings of all tenants that an operator has to settle, the oldest first."""
    return [_voiding(row) for row in await (await conn.execute(_DOUBTS)).fetchall()]


async def document(conn: Conn, tenant_id: TenantId, voiding_id: UUID) -> bytes | None:
    """Return the signed ANECF."""
    found = await (await conn.execute(_DOCUMENT, {"tenant": tenant_id, "voiding": voiding_id}, binary=True)).fetchone()
    return None if found is None or found[0] is None else bytes(found[0])


async def _first(conn: Conn, statement: LiteralString, given: Mapping[str, Any]) -> Voiding | None:
    row = await (await conn.execute(statement, given)).fetchone()
    return None if row is None else _voiding(row)


def _voiding(row: Sequence[Any]) -> Voiding:
    tenant_id, voiding_id, environment, state, request_id, at, by, issuer, reason, ranges, *rest = row
    return Voiding(
        tenant_id,
        voiding_id,
        Environment(environment),
        VoidingState(state),
        request_id,
        at,
        by,
        issuer,
        reason,
        [NumberRange(EcfType(one["prefix"][1:]), one["first"], one["last"]) for one in ranges],
        *rest,
    )


@dataclass(frozen=True, slots=True)
class VoidRange:
    """A range of void numbers, for the 608 and for pages."""

    prefix: str
    first_number: int
    last_number: int
    fate: RangeFate
    reason: int
    voided_on: date | None
    voiding_id: UUID

    @property
    def count(self) -> int:
        """How many numbers."""
        return self.last_number - self.first_number + 1


_OF_DAYS = """
    SELECT v.prefix, v.first_number, v.last_number, v.fate, v.reason, v.voided_on, v.voiding_id
      FROM voided_ranges AS v
     WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s AND v.voided_on BETWEEN %(first)s AND %(last)s
     ORDER BY v.prefix, v.first_number
"""
_WITHIN = """
    SELECT v.prefix, v.first_number, v.last_number, v.fate, v.reason, v.voided_on, v.voiding_id
      FROM voided_ranges AS v
     WHERE v.tenant_id = %(tenant)s AND v.environment = %(environment)s AND v.prefix = %(prefix)s
       AND v.first_number <= %(last)s AND v.last_number >= %(first)s
     ORDER BY v.first_number
"""
_VOID_WITHIN = """
    SELECT x.prefix, sum(least(v.last_number, x.last) - greatest(v.first_number, x.first) + 1)::bigint
      FROM unnest(%(prefixes)s::text[], %(firsts)s::bigint[], %(lasts)s::bigint[]) AS x (prefix, first, last)
      JOIN voided_ranges AS v
        ON v.tenant_id = %(tenant)s AND v.environment = %(environment)s AND v.prefix = x.prefix
       AND v.first_number <= x.last AND v.last_number >= x.first
     WHERE v.fate = 'void'
     GROUP BY x.prefix
"""


async def voided_on(
    conn: Conn, tenant_id: TenantId, environment: Environment, first: date, last: date
) -> list[VoidRange]:
    """List the ranges that became void from one day to another."""
    cursor = conn.cursor(row_factory=record_row(VoidRange))
    given = {"tenant": tenant_id, "environment": environment, "first": first, "last": last}
    return await (await cursor.execute(_OF_DAYS, given)).fetchall()


async def within(
    conn: Conn, tenant_id: TenantId, environment: Environment, prefix: str, first: int, last: int
) -> list[VoidRange]:
    """List the ranges out of use that have numbers from `first` to `last`."""
    cursor = conn.cursor(row_factory=record_row(VoidRange))
    given = {"tenant": tenant_id, "environment": environment, "prefix": prefix, "first": first, "last": last}
    return await (await cursor.execute(_WITHIN, given)).fetchall()


async def void_within(
    conn: Conn, tenant_id: TenantId, environment: Environment, stretches: Mapping[str, tuple[int, int]]
) -> dict[str, int]:
    """Count the void numbers of stretches, by prefix; those without one are left out."""
    given = {
        "tenant": tenant_id,
        "environment": environment,
        "prefixes": list(stretches),
        "firsts": [first for first, _ in stretches.values()],
        "lasts": [last for _, last in stretches.values()],
    }
    return dict(await (await conn.execute(_VOID_WITHIN, given)).fetchall())
