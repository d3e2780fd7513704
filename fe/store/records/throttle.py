"""The login throttle: attempts counted in the database, the same for all processes (interface.md#limits)."""

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address, IPv6Network
from typing import Literal

from psycopg.rows import class_row, scalar_row

from fe.identifiers import ApiKeyId, PersonId
from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class AttemptLimits:
    """How many attempts there may be within the window."""

    address: int = 30
    key: int = 5


ATTEMPT_LIMITS = AttemptLimits()
WINDOW = timedelta(seconds=60)
LOCKOUT = timedelta(minutes=15)

Kind = Literal["address", "key", "person", "second factor"]


@dataclass(frozen=True, slots=True)
class Lockout:
    """An attempt that is refused: by which count, for how many seconds yet, and whether it began with this attempt."""

    kind: Kind
    retry_after: float
    began: bool


def bucket_of_address(address: IPv4Address | IPv6Address) -> bytes:
    """Name the bucket of a client address; IPv6 clients own a whole /64, so that is what counts."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return bucket_of_address(address.ipv4_mapped)
        return _name("address", str(IPv6Network((address, 64), strict=False)))
    return _name("address", str(address))


def bucket_of_key(api_key_id: ApiKeyId) -> bytes:
    """Name the bucket of a key id, whether there is such a key or not."""
    return _name("key", api_key_id)


#: Python's lower case of İ. The C library, and with it Postgres when it looks people up, makes it an i.
_DOTTED = "i\u0307"


def bucket_of_person(email: str) -> bytes:
    """Return the bucket of an address as typed, whether there is such a person or not.

    All spellings that find the same person give the same bucket.
    """
    return _name("person", email.strip().lower().replace(_DOTTED, "i"))


def bucket_of_second_factor(person_id: PersonId) -> bytes:
    """Return the bucket of a person's second factor."""
    return _name("second factor", str(person_id))


def _name(kind: Kind, what: str) -> bytes:
    return hashlib.sha256(f"{kind}:{what}".encode("utf-8", "surrogatepass")).digest()


_ATTEMPT = """
    SELECT kind, retry_after, began
      FROM login_attempt(%(address)b, %(address_limit)s, %(key)b, %(key_limit)s, %(window)s, %(lockout)s)
"""


async def attempt(
    conn: Conn, address: bytes, key: bytes | None, limits: AttemptLimits = ATTEMPT_LIMITS
) -> Lockout | None:
    """Count an attempt for an address and then, unless that is locked out, for an API key.

    Returns the lockout that refuses it, or None. Logins with the right secret count too.
    """
    cursor = conn.cursor(row_factory=class_row(Lockout))
    await cursor.execute(
        _ATTEMPT,
        {
            "address": address,
            "address_limit": limits.address,
            "key": key,
            "key_limit": limits.key,
            "window": WINDOW,
            "lockout": LOCKOUT,
        },
    )
    return await cursor.fetchone()


#: Passwords that may be tried for a person in the window, and one-time passwords in a longer one: those are short.
PERSON_LIMIT = 5
SECOND_FACTOR_LIMIT = 5
SECOND_FACTOR_WINDOW = timedelta(minutes=15)

_COUNT = """
    SELECT %(kind)s::text AS kind, c.retry_after, c.began
      FROM count_attempt(%(bucket)b, %(kind)s, %(limit)s, %(window)s, %(lockout)s) AS c
     WHERE c.retry_after IS NOT NULL
"""


async def attempt_of_person(conn: Conn, address: bytes, bucket: bytes, kind: Kind) -> Lockout | None:
    """Count an attempt for an address and then, unless that is locked out, for a person or a second factor.

    Returns the lockout that refuses it, or None. A correct attempt is forgiven afterwards (`lift`).
    """
    is_second = kind == "second factor"
    for name, counted, limit, window in (
        ("address", address, ATTEMPT_LIMITS.address, WINDOW),
        (
            kind,
            bucket,
            SECOND_FACTOR_LIMIT if is_second else PERSON_LIMIT,
            SECOND_FACTOR_WINDOW if is_second else WINDOW,
        ),
    ):
        cursor = conn.cursor(row_factory=class_row(Lockout))
        values = {"kind": name, "bucket": counted, "limit": limit, "window": window, "lockout": LOCKOUT}
        await cursor.execute(_COUNT, values)
        if (lockout := await cursor.fetchone()) is not None:
            return lockout
    return None


_LOCKED_OUT = """
    SELECT extract(EPOCH FROM a.locked_until - clock_timestamp())::double precision AS retry_after
      FROM login_attempts AS a
     WHERE a.bucket = %(bucket)b AND a.locked_until > clock_timestamp()
       AND a.locked_until <= clock_timestamp() + %(lockout)s + interval '1 s'  -- else the server's clock was ahead
"""


async def locked_out(conn: Conn, address: bytes) -> Lockout | None:
    """Look whether an address is locked out, and count nothing."""
    cursor = conn.cursor(row_factory=scalar_row)
    await cursor.execute(_LOCKED_OUT, {"bucket": address, "lockout": LOCKOUT})
    seconds = await cursor.fetchone()
    return None if seconds is None else Lockout("address", seconds, began=False)


async def lift(conn: Conn, bucket: bytes) -> bool:
    """End a lockout and forget the attempts that led to it; False when there was nothing to forget."""
    cursor = await conn.execute("DELETE FROM login_attempts WHERE bucket = %(bucket)b", {"bucket": bucket})
    return cursor.rowcount == 1


@dataclass(frozen=True, slots=True)
class LockedBucket:
    """A lockout. `who` is an existing key or person; addresses are not stored."""

    bucket: bytes
    kind: str
    locked_until: datetime
    who: str | None


# Buckets are hashes: what exists is hashed to see whether it is one of them.
_EVERY_LOCKOUT = """
    SELECT a.bucket, a.kind, a.locked_until, coalesce(k.api_key_id, p.email, f.email) AS who
      FROM login_attempts AS a
      LEFT JOIN api_keys AS k ON sha256(convert_to('key:' || k.api_key_id, 'UTF8')) = a.bucket
      LEFT JOIN people AS p ON sha256(convert_to('person:' || lower(p.email), 'UTF8')) = a.bucket
      LEFT JOIN people AS f ON sha256(convert_to('second factor:' || f.person_id, 'UTF8')) = a.bucket
     WHERE a.locked_until > clock_timestamp() AND a.locked_until <= clock_timestamp() + %(lockout)s + interval '1 s'
     ORDER BY a.locked_until DESC, a.bucket
     LIMIT %(limit)s
"""


async def every_lockout(conn: Conn, limit: int) -> list[LockedBucket]:
    """List what is locked out now, for operators, the latest first."""
    cursor = conn.cursor(row_factory=class_row(LockedBucket))
    await cursor.execute(_EVERY_LOCKOUT, {"limit": limit, "lockout": LOCKOUT})
    return await cursor.fetchall()


# Skips locked rows: an attempt in progress holds two buckets, and both would wait for each other. And no more rows than
# a statement has time for.
_PRUNE = """
    DELETE FROM login_attempts
     WHERE bucket = ANY (ARRAY(
         SELECT a.bucket
           FROM login_attempts AS a
          WHERE a.last_at < clock_timestamp() - %(window)s
            AND (a.kind <> 'second factor' OR a.last_at < clock_timestamp() - %(longer)s)
            AND (a.locked_until IS NULL OR a.locked_until < clock_timestamp())
          LIMIT 100000
            FOR UPDATE SKIP LOCKED))
"""


async def prune(conn: Conn) -> int:
    """Forget the buckets that say nothing any more; returns how many."""
    cursor = await conn.execute(_PRUNE, {"window": WINDOW, "longer": SECOND_FACTOR_WINDOW})
    return cursor.rowcount
