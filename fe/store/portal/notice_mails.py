"""Mails to owners about what needs their attention: who gets them, and what the last one said."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from psycopg.rows import class_row

from fe.ecf.catalogue import Environment
from fe.ecf.ids import first_id
from fe.identifiers import PersonId, SubmissionId, TenantId
from fe.lifecycle import Status
from fe.store.portal.standing import MAX_COUNTED
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row


@dataclass(frozen=True, slots=True)
class Owner:
    """An owner of a company who can sign in."""

    tenant_id: TenantId
    person_id: PersonId
    email: str
    language: str


#: Owners read at once.
A_BATCH = 500
_OWNERS = f"""
    SELECT m.tenant_id, m.person_id, p.email, p.language
      FROM memberships AS m
      JOIN people AS p ON p.person_id = m.person_id
     WHERE m.role = 'owner' AND p.disabled_at IS NULL AND (m.tenant_id, m.person_id) > (%(tenant)s, %(person)s)
       AND NOT EXISTS (SELECT FROM disabled_tenants AS d WHERE d.tenant_id = m.tenant_id)
     ORDER BY m.tenant_id, m.person_id
     LIMIT {A_BATCH}
"""


async def owners(conn: Conn, after: tuple[TenantId, PersonId] | None) -> list[Owner]:
    """List owners of all companies, A_BATCH at most, before a company is chosen."""
    tenant_id, person_id = after or (TenantId(0), PersonId(UUID(int=0)))
    cursor = conn.cursor(row_factory=class_row(Owner))
    await cursor.execute(_OWNERS, {"tenant": tenant_id, "person": person_id})
    return await cursor.fetchall()


@dataclass(frozen=True, slots=True)
class LastMail:
    """The owner's choice, the day of the last mail, and the keys of its notices."""

    is_on: bool = True
    sent_on: date | None = None
    told: Sequence[str] = ()


_LAST = """
    SELECT n.is_on, n.sent_on, n.told
      FROM notice_mails AS n
     WHERE n.tenant_id = %(tenant)s AND n.person_id = %(person)s
"""
_SWITCH = """
    INSERT INTO notice_mails (tenant_id, person_id, is_on) VALUES (%(tenant)s, %(person)s, %(on)s)
    ON CONFLICT (tenant_id, person_id) DO UPDATE SET is_on = EXCLUDED.is_on
"""
_CLAIM = """
    INSERT INTO notice_mails AS n (tenant_id, person_id, sent_on, told)
    VALUES (%(tenant)s, %(person)s, %(day)s, %(told)s)
    ON CONFLICT (tenant_id, person_id) DO UPDATE SET sent_on = EXCLUDED.sent_on, told = EXCLUDED.told
     WHERE n.is_on AND (n.sent_on IS NULL OR n.sent_on < EXCLUDED.sent_on)
"""
_RELEASE = """
    UPDATE notice_mails AS n
       SET sent_on = %(sent_on)s, told = %(told)s
     WHERE n.tenant_id = %(tenant)s AND n.person_id = %(person)s AND n.sent_on = %(day)s
"""


async def last(conn: Conn, tenant_id: TenantId, person_id: PersonId) -> LastMail:
    """Return what an owner chose and got."""
    cursor = conn.cursor(row_factory=class_row(LastMail))
    await cursor.execute(_LAST, {"tenant": tenant_id, "person": person_id})
    return await cursor.fetchone() or LastMail()


async def switch(conn: Conn, tenant_id: TenantId, person_id: PersonId, *, on: bool) -> None:
    """Switch an owner's mails on or off."""
    await conn.execute(_SWITCH, {"tenant": tenant_id, "person": person_id, "on": on})


async def claim(conn: Conn, tenant_id: TenantId, person_id: PersonId, day: date, told: Sequence[str]) -> bool:
    """Take the mail of a day before it is sent; False where it is switched off, or another process took it."""
    given = {"tenant": tenant_id, "person": person_id, "day": day, "told": list(told)}
    return (await conn.execute(_CLAIM, given)).rowcount == 1


async def release(conn: Conn, tenant_id: TenantId, person_id: PersonId, day: date, before: LastMail) -> None:
    """Undo a claim whose mail the relay did not take."""
    given = {"tenant": tenant_id, "person": person_id, "day": day}
    await conn.execute(_RELEASE, given | {"sent_on": before.sent_on, "told": list(before.told)})


@dataclass(frozen=True, slots=True)
class Unsuccessful:
    """A receipt that was rejected or failed."""

    submission_id: SubmissionId
    e_ncf: str | None
    status: Status
    buyer_name: str | None
    total: Decimal | None


#: Receipts that one mail names.
MOST_NAMED = 10
_UNSUCCESSFUL = f"""
    SELECT x.submission_id, x.e_ncf, x.status, x.buyer_name, x.total
      FROM (SELECT s.*
              FROM submissions AS s
             WHERE s.tenant_id = %(tenant)s AND s.environment = %(environment)s AND s.submission_id >= %(first)s
               AND s.status IN ('Rechazado', 'error')
             LIMIT {MAX_COUNTED}) AS x
     ORDER BY x.updated_at DESC, x.submission_id DESC
     LIMIT {MOST_NAMED}
"""


async def unsuccessful(
    conn: Conn, tenant_id: TenantId, environment: Environment, since: datetime
) -> list[Unsuccessful]:
    """List receipts submitted since a moment that were rejected or failed, the latest end first, MOST_NAMED at most."""
    cursor = conn.cursor(row_factory=record_row(Unsuccessful))
    await cursor.execute(_UNSUCCESSFUL, {"tenant": tenant_id, "environment": environment, "first": first_id(since)})
    return await cursor.fetchall()
