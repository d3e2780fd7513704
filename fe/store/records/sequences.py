"""NCF sequences: the numbers the authority gave a tenant, per environment and prefix.

A prefix has one sequence without a name, and may have others that have one. The key of a sequence is its prefix, and of
a named one a slash and the name behind it.
"""

import re
from collections.abc import Iterator
from collections.abc import Sequence as Many
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal, LiteralString, Self
from uuid import UUID

from psycopg.errors import CheckViolation, ExclusionViolation, UniqueViolation
from psycopg.rows import scalar_row

from fe.ecf.catalogue import Environment
from fe.ecf.dates import end_of_day, last_day
from fe.identifiers import SequenceId, SubmissionId, TenantId, UserId
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import StoreError
from fe.store.postgres.rows import record_row
from fe.store.postgres.tenant_scope import Asked, fetch
from fe.store.records.tenants import User


def sequence_key(prefix: str, name: str | None) -> str:
    """Return the key of a sequence; '' and None: the one without a name."""
    return f"{prefix}/{name}" if name else prefix


class EndsWithADay:
    """A number or certificate with `expire_at` may last be used on that day, in Santo Domingo."""

    __slots__ = ()

    #: A moment of that day.
    expire_at: datetime | None

    @property
    def last_day(self) -> date | None:
        """The last day its numbers may be used on."""
        return last_day(self.expire_at) if self.expire_at is not None else None

    @property
    def ends_at(self) -> datetime | None:
        """The end of that day."""
        day = self.last_day
        return end_of_day(day) if day is not None else None


class GoesOn(EndsWithADay):
    """A range of numbers that goes on with its next range, if it has one, when it is used up or has expired."""

    __slots__ = ()

    min_number: int
    max_number: int
    current_number: int
    next_min: int | None
    next_max: int | None
    next_expire_at: datetime | None
    #: How many numbers from `current_number` on are out of use, and the end of those that begin there.
    void_left: int
    void_until: int | None

    @property
    def next_number(self) -> int:
        """The number that is drawn next, unless a submission brought it; past `max_number`: used up."""
        return self.current_number if self.void_until is None else self.void_until + 1

    @property
    def own_left(self) -> int:
        """How many numbers are left of its own range."""
        return self.max_number - self.current_number + 1 - self.void_left

    @property
    def numbers_left(self) -> int:
        """How many numbers are left, those of the next range included."""
        following = 0 if self.next_min is None or self.next_max is None else self.next_max - self.next_min + 1
        return self.own_left + following

    @property
    def next_last_day(self) -> date | None:
        """The last day of the next range."""
        return None if self.next_expire_at is None else last_day(self.next_expire_at)

    @property
    def gives_until(self) -> date | None:
        """The last day on which it or its next range gives numbers; None: no end."""
        if self.next_min is None or self.last_day is None:
            return self.last_day
        return None if self.next_last_day is None else max(self.last_day, self.next_last_day)

    def next_is_over(self, now: datetime) -> bool:
        """Return whether the last day of its next range has passed: then that never begins."""
        day = self.next_last_day
        return day is not None and end_of_day(day) <= now

    def at(self, now: datetime) -> Self:
        """Return it as a draw finds it: with the next range begun where its own is at its end.

        A next range that has expired is left out.
        """
        if self.next_min is None or self.next_max is None:
            return self
        none = {"next_min": None, "next_max": None, "next_expire_at": None}
        if self.next_is_over(now):
            return replace(self, **none)  # type: ignore[type-var]  # those that inherit are dataclasses
        if self.own_left > 0 and (self.ends_at is None or now < self.ends_at):
            return self
        begun: dict[str, int | None] = {
            "min_number": self.next_min,
            "max_number": self.next_max,
            "current_number": self.next_min,
        }
        begun |= {"void_left": 0, "void_until": None}
        return replace(self, **begun, expire_at=self.next_expire_at, **none)  # type: ignore[type-var]


@dataclass(frozen=True, slots=True)
class Sequence(GoesOn):
    """A range of numbers. `current_number` is the next to consume; `max_number` + 1 says used up."""

    tenant_id: TenantId
    environment: Environment
    prefix: str
    sequence_id: SequenceId
    min_number: int
    max_number: int
    current_number: int
    is_active: bool
    #: A moment of its last day; `last_day` and `ends_at` say what that means.
    expire_at: datetime | None
    #: Since when it gives no numbers, because another document holds `paused_for` at the authority, which it gave.
    paused_at: datetime | None = None
    paused_for: str | None = None
    #: '' of the one that a submission draws from by default.
    name: str = ""
    #: The users who draw from it when their submission names no sequence: ids, and their addresses in lower case.
    user_ids: Many[UserId] = ()
    user_emails: Many[str] = ()
    #: The agent that alone gives its numbers (docs/decisions/agents.md); the service draws none.
    agent_id: UUID | None = None
    #: The range that the authority gave ahead.
    next_min: int | None = None
    next_max: int | None = None
    next_expire_at: datetime | None = None
    #: Read by `listed` and `of_all_environments` alone.
    void_left: int = 0
    void_until: int | None = None
    #: The ranges it had, and the next one, as an array of the database is written: `former` reads it.
    former_ranges: str = "{}"
    #: The same, of those that it left by itself.
    left_ranges: str = "{}"

    @property
    def former(self) -> Many[tuple[int, int]]:
        """The first and the last number of each range that it had, the newest first, and of the next one."""
        return _ends_of(self.former_ranges)

    @property
    def left(self) -> Many[tuple[int, int]]:
        """The first and the last number of each range that it left by itself, the newest first."""
        return _ends_of(self.left_ranges)

    def has_begun(self, following: "NextRange | None") -> bool:
        """Return whether it went on to this range by itself already."""
        if following is None or not self.left:
            return False
        return (following.minimum, following.maximum) in ((self.min_number, self.max_number), *self.left)

    @property
    def key(self) -> str:
        """The key of it."""
        return sequence_key(self.prefix, self.name)

    @property
    def label(self) -> str:
        """The prefix and the name, for a person."""
        return f"{self.prefix} {self.name}".rstrip()


_SET_COLUMNS = (
    "tenant_id, environment, prefix, sequence_id, min_number, max_number, current_number, is_active, expire_at"
)
_COLUMNS = """tenant_id, environment, left(prefix, 3) AS prefix, substr(prefix, 5) AS name, sequence_id, min_number,
    max_number, current_number, is_active, expire_at, paused_at, paused_for, user_ids, user_emails, agent_id,
    next_min, next_max, next_expire_at, former_ranges, left_ranges"""
_FORMER = re.compile(r"\(([0-9]+),([0-9]+),")


def _ends_of(ranges: str) -> Many[tuple[int, int]]:
    return [(int(first), int(last)) for first, last in _FORMER.findall(ranges)]


# A range that moves takes the next number with it (interface.md#sequences), and is remembered: numbers of it may wait.
_IS_NEXT = "q.next_min = EXCLUDED.min_number AND q.next_max = EXCLUDED.max_number"
_PUT = f"""
    INSERT INTO sequences AS q ({_SET_COLUMNS}, created_at, updated_at, set_at)
    VALUES (%(tenant)s, %(environment)s, %(prefix)s, %(id)s, %(min)s, %(max)s, %(min)s, %(active)s, %(expire_at)s,
            %(at)s, %(at)s, %(at)s)
    ON CONFLICT (tenant_id, environment, prefix) DO UPDATE
       SET former_ranges = with_former_range(
               CASE WHEN {_IS_NEXT}
                    THEN without_range(q.former_ranges, q.next_min, q.next_max, q.next_expire_at)
                    ELSE q.former_ranges END,
               q.min_number, q.max_number, q.expire_at, EXCLUDED.min_number, EXCLUDED.max_number),
           next_min = CASE WHEN {_IS_NEXT} THEN NULL ELSE q.next_min END,
           next_max = CASE WHEN {_IS_NEXT} THEN NULL ELSE q.next_max END,
           next_expire_at = CASE WHEN {_IS_NEXT} THEN NULL ELSE q.next_expire_at END,
           set_at = CASE WHEN q.min_number = EXCLUDED.min_number AND q.max_number = EXCLUDED.max_number THEN q.set_at
                         ELSE EXCLUDED.set_at END,
           min_number = EXCLUDED.min_number, max_number = EXCLUDED.max_number,
           current_number = next_number_in(
               q.current_number, q.max_number, EXCLUDED.min_number, EXCLUDED.max_number),
           is_active = EXCLUDED.is_active, expire_at = EXCLUDED.expire_at, updated_at = EXCLUDED.updated_at,
           -- A new range resumes it; the same one again, as programs send at each start, does not.
           paused_at = CASE WHEN next_number_in(q.current_number, q.max_number, EXCLUDED.min_number,
                                                EXCLUDED.max_number) = q.current_number THEN q.paused_at END,
           paused_for = CASE WHEN next_number_in(q.current_number, q.max_number, EXCLUDED.min_number,
                                                 EXCLUDED.max_number) = q.current_number THEN q.paused_for END,
           resumed_at = CASE WHEN next_number_in(q.current_number, q.max_number, EXCLUDED.min_number,
                                                 EXCLUDED.max_number) = q.current_number THEN q.resumed_at
                             ELSE EXCLUDED.updated_at END
    RETURNING {_COLUMNS}
"""


async def put(
    conn: Conn,
    tenant_id: TenantId,
    environment: Environment,
    key: str,
    *,
    new_id: SequenceId,
    minimum: int,
    maximum: int,
    expire_at: datetime | None,
    is_active: bool,
    at: datetime,
) -> Sequence:
    """Create the sequence of a key (then it gets `new_id`), or change it in place (interface.md#sequences).

    What waits with a number of the range that it had before is still dated by that range's end. Raises Unchanged.
    """
    cursor = conn.cursor(row_factory=record_row(Sequence))
    with _apart():
        await cursor.execute(
            _PUT,
            {
                "tenant": tenant_id,
                "environment": environment,
                "prefix": key,
                "id": new_id,
                "min": minimum,
                "max": maximum,
                "expire_at": expire_at,
                "active": is_active,
                "at": at,
            },
        )
    sequence = await cursor.fetchone()
    assert sequence is not None
    return sequence


@dataclass(frozen=True, slots=True)
class NextRange:
    """A range that the authority gave ahead."""

    minimum: int
    maximum: int
    expire_at: datetime | None


@dataclass(frozen=True, slots=True)
class Change:
    """Changes of a sequence; None leaves a field as it is."""

    minimum: int | None = None
    maximum: int | None = None
    next_number: int | None = None
    #: With it, `expire_at` counts, None too.
    sets_expiry: bool = False
    expire_at: datetime | None = None
    is_active: bool | None = None
    #: With it, `next_range` counts, None too: then there is none.
    sets_next: bool = False
    next_range: NextRange | None = None


class Unchanged(StoreError):
    """A change was refused: by a reason of change_sequence.sql, or `overlap`, `next overlap`, `spelling`,
    `agent` or `next of agent`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


#: Reasons by the constraint that is broken.
_BROKEN = {
    "sequences_of_agents_rest": "agent",
    "sequences_of_agents_end": "next of agent",
    "sequences_next_apart": "next overlap",
}


@contextmanager
def _apart() -> Iterator[None]:
    """Translate the constraints: numbers in two ranges, two spellings, an agent's sequence that gives numbers."""
    try:
        yield
    except ExclusionViolation:
        raise Unchanged("overlap") from None
    except UniqueViolation:
        raise Unchanged("spelling") from None
    except CheckViolation as violated:
        for name, reason in _BROKEN.items():
            if name in str(violated):  # a node of a cluster names it in its message alone
                raise Unchanged(reason) from None
        raise


_CHANGE = """
    SELECT change_sequence(%(tenant)s, %(environment)s, %(prefix)s, %(min)s, %(max)s, %(next)s, %(sets_expiry)s,
                           %(expire_at)s, %(active)s, %(at)s)
"""

_ONE = f"""
    SELECT {_COLUMNS} FROM sequences
     WHERE tenant_id = %(tenant)s AND environment = %(environment)s AND prefix = %(prefix)s
"""


_LOCKED = f"{_ONE} FOR UPDATE"


async def change(
    conn: Conn, tenant_id: TenantId, environment: Environment, key: str, changes: Change, *, at: datetime
) -> Sequence:
    """Change what is named, in one step, and give the sequence as it is then. Raises Unchanged."""
    values = {
        "tenant": tenant_id,
        "environment": environment,
        "prefix": key,
        "min": changes.minimum,
        "max": changes.maximum,
        "next": changes.next_number,
        "sets_expiry": changes.sets_expiry,
        "expire_at": changes.expire_at,
        "active": changes.is_active,
        "at": at,
    }
    outcome = conn.cursor(row_factory=scalar_row)
    with _apart():
        await outcome.execute(_CHANGE, values)
    if (answer := await outcome.fetchone()) != "changed":
        raise Unchanged(str(answer))
    if changes.sets_next:
        await _set_next(conn, values, changes.next_range)
    cursor = conn.cursor(row_factory=record_row(Sequence))
    await cursor.execute(_ONE, values)
    sequence = await cursor.fetchone()
    if sequence is None:
        raise Unchanged("none")  # deleted in between
    return sequence


# A range without an expiry is named, too: former_ranges tells which numbers were the sequence's.
_SET_NEXT = """
    UPDATE sequences AS q
       SET former_ranges = CASE
               WHEN %(next_min)s::bigint IS NULL
               THEN without_range(q.former_ranges, q.next_min, q.next_max, q.next_expire_at)
               ELSE (row(%(next_min)s::bigint, %(next_max)s::bigint, %(next_expire_at)s::timestamptz)::former_range
                     || without_range(q.former_ranges, q.next_min, q.next_max, q.next_expire_at))[1:8] END,
           next_min = %(next_min)s, next_max = %(next_max)s, next_expire_at = %(next_expire_at)s,
           updated_at = %(at)s
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s AND q.prefix = %(prefix)s
"""


async def _set_next(conn: Conn, values: dict[str, object], wanted: NextRange | None) -> None:
    following = {
        "next_min": None if wanted is None else wanted.minimum,
        "next_max": None if wanted is None else wanted.maximum,
        "next_expire_at": None if wanted is None else wanted.expire_at,
    }
    with _apart():
        await conn.execute(_SET_NEXT, values | following)


async def locked(conn: Conn, tenant_id: TenantId, environment: Environment, key: str) -> Sequence | None:
    """Find and lock the sequence of a key until the transaction ends."""
    cursor = conn.cursor(row_factory=record_row(Sequence))
    values = {"tenant": tenant_id, "environment": environment, "prefix": key}
    await cursor.execute(_LOCKED, values)
    return await cursor.fetchone()


#: Columns of numbers that are out of use, of a sequence `q`.
VOID_COLUMNS: LiteralString = """(SELECT coalesce(
                       sum(least(v.last_number, q.max_number) - greatest(v.first_number, q.current_number) + 1), 0)
              FROM voided_ranges AS v
             WHERE v.tenant_id = q.tenant_id AND v.environment = q.environment AND v.prefix = left(q.prefix, 3)
               AND v.first_number <= q.max_number AND v.last_number >= q.current_number)::bigint AS void_left,
           (SELECT max(v.last_number)
              FROM voided_ranges AS v
             WHERE v.tenant_id = q.tenant_id AND v.environment = q.environment AND v.prefix = left(q.prefix, 3)
               AND v.first_number <= q.current_number AND v.last_number >= q.current_number) AS void_until"""
_LIST = f"""
    SELECT {_COLUMNS},
           {VOID_COLUMNS}
      FROM sequences AS q
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s
     ORDER BY left(q.prefix, 3), substr(q.prefix, 5)
"""


async def listed(conn: Conn, tenant_id: TenantId, environment: Environment) -> list[Sequence]:
    """List a tenant's sequences of one environment by prefix, the one without a name first."""
    cursor = conn.cursor(row_factory=record_row(Sequence))
    await cursor.execute(_LIST, {"tenant": tenant_id, "environment": environment})
    return await cursor.fetchall()


_EVERYWHERE = f"""
    SELECT {_COLUMNS},
           {VOID_COLUMNS}
      FROM sequences AS q
     WHERE q.tenant_id = %(tenant)s
     ORDER BY array_position(%(environments)s::text[], q.environment::text), left(q.prefix, 3), substr(q.prefix, 5)
"""


def of_all_environments_asked(tenant_id: TenantId) -> Asked[Sequence]:
    """Return the statement of `of_all_environments`."""
    values = {"tenant": tenant_id, "environments": list(Environment)}
    return Asked(_EVERYWHERE.encode(), values, record_row(Sequence))


async def of_all_environments(conn: Conn, tenant_id: TenantId) -> list[Sequence]:
    """List a tenant's sequences, production first, each environment as `listed` does."""
    return await fetch(conn, of_all_environments_asked(tenant_id))


def drawn_from(
    found: Many[Sequence], name: str | None, *, user_id: UserId | None = None, email: str | None = None
) -> Sequence | None:
    """Return the sequence of one prefix that a submission draws from, as sequence_to_draw_from.sql chooses it."""
    if name:
        return next((one for one in found if one.name == name), None)
    assigned = (
        one
        for one in found
        if (user_id in one.user_ids if user_id is not None else email is not None and email.lower() in one.user_emails)
    )
    return next(assigned, next((one for one in found if not one.name), None))


@dataclass(frozen=True, slots=True)
class KnownRange:
    """Numbers of a sequence: of its own range, of one that it had, or of its next one."""

    sequence: Sequence
    first: int
    last: int

    @property
    def first_e_ncf(self) -> str:
        """The first number."""
        return f"{self.sequence.prefix}{self.first:010}"

    @property
    def last_e_ncf(self) -> str:
        """The last number."""
        return f"{self.sequence.prefix}{self.last:010}"


def known_ranges(found: Many[Sequence]) -> list[KnownRange]:
    """List the ranges of all sequences of the types in `found`, in the order of their numbers.

    No number lies in two: a former range that overlaps another one is left out.
    """
    known = [KnownRange(one, one.min_number, one.max_number) for one in found]
    for one in found:
        for first, last in one.former:
            if not any(
                other.sequence.prefix == one.prefix and first <= other.last and other.first <= last for other in known
            ):
                known.append(KnownRange(one, first, last))
    return sorted(known, key=lambda each: (each.sequence.prefix, each.first))


def of_number(found: Many[Sequence], e_ncf: str | None) -> Sequence | None:
    """Return the sequence that a number lies in, else the one of its prefix that has no name."""
    mine = [one for one in found if e_ncf is not None and one.prefix == e_ncf[:3]]
    return next(
        (one for one in mine if one.min_number <= int(str(e_ncf)[3:]) <= one.max_number),
        next((one for one in mine if not one.name), None),
    )


_DELETE = """
    DELETE FROM sequences
     WHERE tenant_id = %(tenant)s AND environment = %(environment)s AND prefix = %(prefix)s
"""


async def delete(conn: Conn, tenant_id: TenantId, environment: Environment, key: str) -> bool:
    """Delete the sequence of a key; False when there is none."""
    cursor = await conn.execute(_DELETE, {"tenant": tenant_id, "environment": environment, "prefix": key})
    return cursor.rowcount == 1


# A user draws from one sequence of a prefix: the others lose those whom this one gets.
_ASSIGN = """
    UPDATE sequences AS q
       SET user_ids = CASE WHEN q.prefix = %(prefix)s THEN %(ids)s::uuid[]
                           ELSE ARRAY(SELECT u.id FROM unnest(q.user_ids) AS u (id) WHERE NOT u.id = ANY (%(ids)s)) END,
           user_emails = CASE WHEN q.prefix = %(prefix)s THEN %(emails)s::text[]
                              ELSE ARRAY(SELECT u.email
                                           FROM unnest(q.user_ids, q.user_emails) AS u (id, email)
                                          WHERE NOT u.id = ANY (%(ids)s)) END,
           updated_at = %(at)s
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s AND left(q.prefix, 3) = left(%(prefix)s, 3)
       AND (q.prefix = %(prefix)s OR q.user_ids && %(ids)s)
"""


async def assign(
    conn: Conn, tenant_id: TenantId, environment: Environment, key: str, users: Many[User], *, at: datetime
) -> Sequence:
    """Let these users, and no others, draw from a sequence by default. Raises Unchanged."""
    values = {
        "tenant": tenant_id,
        "environment": environment,
        "prefix": key,
        "ids": [user.user_id for user in users],
        "emails": [user.email.lower() for user in users],
        "at": at,
    }
    await conn.execute(_ASSIGN, values)
    cursor = conn.cursor(row_factory=record_row(Sequence))
    await cursor.execute(_ONE, values)
    sequence = await cursor.fetchone()
    if sequence is None:
        raise Unchanged("none")
    return sequence


_RESERVE = f"""
    UPDATE sequences AS q
       SET agent_id = %(agent)s, is_active = false, updated_at = %(at)s
     WHERE q.tenant_id = %(tenant)s AND q.environment = %(environment)s AND q.prefix = %(prefix)s
    RETURNING {_COLUMNS}
"""


async def reserve(
    conn: Conn, tenant_id: TenantId, environment: Environment, key: str, agent_id: UUID | None, *, at: datetime
) -> Sequence:
    """Give the numbers of a sequence to an agent alone, or with None release them. It is inactive then.

    Raises Unchanged.
    """
    cursor = conn.cursor(row_factory=record_row(Sequence))
    values = {"tenant": tenant_id, "environment": environment, "prefix": key, "agent": agent_id, "at": at}
    with _apart():
        await cursor.execute(_RESERVE, values)
    sequence = await cursor.fetchone()
    if sequence is None:
        raise Unchanged("none")
    return sequence


_UNASSIGN = """
    UPDATE sequences AS q
       SET user_ids = ARRAY(SELECT u.id FROM unnest(q.user_ids) AS u (id) WHERE u.id <> %(user)s),
           user_emails = ARRAY(SELECT u.email
                                 FROM unnest(q.user_ids, q.user_emails) AS u (id, email)
                                WHERE u.id <> %(user)s)
     WHERE q.tenant_id = %(tenant)s AND %(user)s = ANY (q.user_ids)
"""


async def unassign(conn: Conn, tenant_id: TenantId, user_id: UserId) -> None:
    """Take a user off every sequence."""
    await conn.execute(_UNASSIGN, {"tenant": tenant_id, "user": user_id})


_NAMES = """
    SELECT substr(prefix, 5) FROM sequences
     WHERE tenant_id = %(tenant)s AND environment = %(environment)s AND left(prefix, 3) = %(prefix)s
       AND length(prefix) > 3
     ORDER BY 1
"""


async def names_of(conn: Conn, tenant_id: TenantId, environment: Environment, prefix: str) -> list[str]:
    """List the names of the sequences of a prefix."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_NAMES, {"tenant": tenant_id, "environment": environment, "prefix": prefix})
    return await cursor.fetchall()


_PAUSE = "SELECT pause_sequence(%(tenant)s, %(submission)s)"


async def pause_for(conn: Conn, tenant_id: TenantId, submission_id: SubmissionId) -> Literal["paused", "known"] | None:
    """Pause the sequence that gave a submission its number, because another document holds it at the authority.

    `known`: it was paused before, or its next number was set since. None: the number was not drawn here.
    """
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_PAUSE, {"tenant": tenant_id, "submission": submission_id})
    answer: Literal["paused", "known"] | None = await cursor.fetchone()
    return answer
