"""One-time passwords of people: the encrypted seed, which of them were taken, and the codes for when it is lost."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from psycopg.rows import class_row

from fe.identifiers import PersonId
from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class Seed:
    """The encrypted secret of one-time passwords. Without `since` it was shown but not confirmed yet."""

    secret: bytes
    since: datetime | None


_SEED = """
    SELECT totp_secret AS secret, totp_since AS since
      FROM people
     WHERE person_id = %(person)s AND totp_secret IS NOT NULL
"""


async def seed_of(conn: Conn, person_id: PersonId) -> Seed | None:
    """Give a person's seed; None where there is none."""
    cursor = conn.cursor(row_factory=class_row(Seed))
    await cursor.execute(_SEED, {"person": person_id})
    return await cursor.fetchone()


_OFFER = """
    UPDATE people SET totp_secret = %(secret)s, totp_last_step = NULL
     WHERE person_id = %(person)s AND totp_since IS NULL
"""


async def offer(conn: Conn, person_id: PersonId, secret: bytes) -> bool:
    """Keep a seed that is not in use yet, instead of one before; False where one is in use."""
    done = await conn.execute(_OFFER, {"person": person_id, "secret": secret})
    return done.rowcount == 1


_ENROL = """
    UPDATE people SET totp_since = %(at)s, totp_last_step = %(step)s
     WHERE person_id = %(person)s AND totp_since IS NULL AND totp_secret = %(secret)s
"""


async def enrol(conn: Conn, person_id: PersonId, secret: bytes, step: int, at: datetime) -> bool:
    """Take the seed that was offered into use, its first step with it; False where it is another by now."""
    done = await conn.execute(_ENROL, {"person": person_id, "secret": secret, "step": step, "at": at})
    return done.rowcount == 1


_TAKE = """
    UPDATE people SET totp_last_step = %(step)s
     WHERE person_id = %(person)s AND totp_since IS NOT NULL AND coalesce(totp_last_step, -1) < %(step)s
"""


async def take_step(conn: Conn, person_id: PersonId, step: int) -> bool:
    """Take a step, and with it all before; False where it was taken."""
    done = await conn.execute(_TAKE, {"person": person_id, "step": step})
    return done.rowcount == 1


_REMOVE = (
    "UPDATE people SET totp_secret = NULL, totp_since = NULL, totp_last_step = NULL WHERE person_id = %(person)s",
    "DELETE FROM recovery_codes WHERE person_id = %(person)s",
)


async def remove(conn: Conn, person_id: PersonId) -> None:
    """Ask this person for no one-time password any more; the codes go with it. In one transaction."""
    for statement in _REMOVE:
        await conn.execute(statement, {"person": person_id})


_FORGET_CODES = "DELETE FROM recovery_codes WHERE person_id = %(person)s"

_ADD_CODES = """
    INSERT INTO recovery_codes (person_id, code_hash)
    SELECT %(person)s, unnest(%(hashes)s::bytea[])
"""


async def replace_codes(conn: Conn, person_id: PersonId, hashes: Iterable[bytes]) -> None:
    """Keep the hashes of new codes instead of those before. In one transaction."""
    await conn.execute(_FORGET_CODES, {"person": person_id})
    await conn.execute(_ADD_CODES, {"person": person_id, "hashes": list(hashes)})


_USE_CODE = """
    UPDATE recovery_codes SET used_at = %(at)s
     WHERE person_id = %(person)s AND code_hash = %(hash)s AND used_at IS NULL
"""


async def use_code(conn: Conn, person_id: PersonId, code_hash: bytes, at: datetime) -> bool:
    """Use a code up; False where it is none, or was used."""
    done = await conn.execute(_USE_CODE, {"person": person_id, "hash": code_hash, "at": at})
    return done.rowcount == 1


_CODES_LEFT = "SELECT count(*) FROM recovery_codes WHERE person_id = %(person)s AND used_at IS NULL"


async def codes_left(conn: Conn, person_id: PersonId) -> int:
    """Count the codes that were not used."""
    cursor = await conn.execute(_CODES_LEFT, {"person": person_id})
    row = await cursor.fetchone()
    return 0 if row is None else int(row[0])
