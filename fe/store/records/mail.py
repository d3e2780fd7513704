"""Mail of accepted receipts: its queue, its settings, its list of suppressed addresses (docs/decisions/mail.md).

A row begins in the transaction of the verdict (sql/functions/counterparties/begin_deliveries.sql).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Literal, LiteralString, Self
from uuid import UUID

from psycopg.types.json import Jsonb

from fe.ecf.catalogue import Environment
from fe.ecf.mail_address import MailAddress
from fe.ecf.texts import Language
from fe.identifiers import SubmissionId, TenantId
from fe.store.postgres.arrays import int8s, texts, uuids
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import LeaseLost
from fe.store.postgres.rows import record_row
from fe.store.queue.audit import OperatorAction, record
from fe.store.queue.tables import QueueRow, QueueTable

#: How the PDF and the XML come with a mail: attached, or on the page that it links.
Documents = Literal["attached", "linked"]
#: The stage of a mail that waits.
MAIL: Final = "mail"
#: Why a mail waits for the next day.
CAPPED: Final = "the tenant's mails of this day are used up"


class MailState(StrEnum):
    """The state of a mail; a waiting one is in stage `mail`. Clients, people and operators read the name."""

    WAITING = "mail"
    #: The relay took it.
    SENT = "sent"
    #: The relay refused the address or the message for good.
    REFUSED = "refused"
    #: The tenant's list has the address.
    SUPPRESSED = "suppressed"
    #: Out of tries: an operator's matter.
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class MailSettings:
    """A tenant's choice. Without one it sends no mail."""

    language: Language
    reply_to: MailAddress
    #: Most mails of one day, of the country's calendar.
    a_day: int
    documents: Documents = "attached"

    @classmethod
    def read(cls, value: dict[str, Any] | None) -> Self | None:
        """Read the column `tenants.mail`."""
        if value is None:
            return None
        return cls(
            "en" if value["language"] == "en" else "es",
            MailAddress(value["replyTo"]),
            int(value["aDay"]),
            "linked" if value.get("documents") == "linked" else "attached",
        )

    def written(self) -> dict[str, Any]:
        """Return the value of the column."""
        return {
            "language": self.language,
            "replyTo": self.reply_to,
            "aDay": self.a_day,
            "documents": self.documents,
        }


@dataclass(frozen=True, slots=True)
class MailChoice:
    """Whether a tenant sends mail, its settings, also while it sends none, and the operator's limit."""

    enabled: bool = False
    settings: MailSettings | None = None
    #: Most mails of one day that the operator allows; 0 forbids them, None: no limit.
    limit: int | None = None

    @property
    def cap(self) -> int:
        """Most mails of a day that are sent."""
        return 0 if self.in_force is None else self.in_force.a_day

    @property
    def in_force(self) -> MailSettings | None:
        """The settings to send by; None: no mail is sent."""
        if not self.enabled or self.settings is None or self.limit == 0:
            return None
        if self.limit is None:
            return self.settings
        return replace(self.settings, a_day=min(self.settings.a_day, self.limit))


# --- the queue --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MailLane:
    """The mails of one environment. All go to one relay."""

    environment: Environment
    host: str = ""

    @property
    def group(self) -> str:
        """Each environment is alone in its group."""
        return self.environment

    @property
    def takes_all(self) -> bool:
        """The test environments never take the last quarter of the slots."""
        return self.environment is Environment.ECF


LANES: Final = tuple(MailLane(environment) for environment in Environment)


MailWork = QueueRow[MailLane, SubmissionId]
MAILS: QueueTable[MailLane, MailWork] = QueueTable("mails", QueueRow)


@dataclass(frozen=True, slots=True)
class MailInput:
    """The receipt of a mail and its tenant's choice. `signed` are the bytes that the authority accepted."""

    e_ncf: str
    status: str
    security_code: str | None
    qr_code_url: str | None
    signed: bytes
    #: The address that came with the submission.
    notify: str | None
    settings: MailSettings | None


# Two statements: a cluster has the first table on a node, the others on the coordinator.
_RECEIPT = """
    SELECT s.e_ncf, s.status::text, s.security_code, s.qr_code_url, d.content
      FROM submissions AS s
      JOIN submission_documents AS d
        ON d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id AND d.kind = 'signed'
     WHERE s.tenant_id = %(tenant)s AND s.submission_id = %(subject)s AND d.tenant_id = %(tenant)s
       AND s.status IN ('Aceptado', 'Aceptado Condicional')
"""
_CHOICE = """
    SELECT t.mail, t.mail_limit, r.address
      FROM tenants AS t
      LEFT JOIN mail_recipients AS r
        ON r.tenant_id = t.tenant_id AND r.tenant_id = %(tenant)s AND r.submission_id = %(subject)s
     WHERE t.tenant_id = %(tenant)s
"""


async def input_of(conn: Conn, work: MailWork) -> MailInput | None:
    """Read what a try needs; None where the submission is not an accepted receipt."""
    given = {"tenant": work.tenant_id, "subject": work.subject}
    receipt = await (await conn.execute(_RECEIPT, given, binary=True)).fetchone()
    if receipt is None:
        return None
    mail, limit, notify = await (await conn.execute(_CHOICE, given)).fetchone() or (None, None, None)
    e_ncf, status, security_code, qr_code_url, signed = receipt
    settings = MailChoice(mail is not None, MailSettings.read(mail), limit).in_force
    return MailInput(e_ncf, status, security_code, qr_code_url, bytes(signed), notify, settings)


# The statement's snapshot shows the row as it was before.
_BEGIN = """
    SELECT outcome, message_id,
           EXISTS (SELECT FROM mails AS m
                    WHERE m.tenant_id = %(tenant)s AND m.subject = %(subject)s AND m.message_id IS NOT NULL)
      FROM begin_mail(%(tenant)s, %(subject)s, %(epoch)s, %(address)s, %(message_id)s, %(day)s, %(a_day)s)
"""


async def begin(
    conn: Conn, work: MailWork, *, address: MailAddress, message_id: str, day: date, a_day: int
) -> tuple[str, str, bool]:
    """Note the try durably; return its outcome (begin_mail.sql), the first try's Message-ID, and if there was one.

    Raises LeaseLost.
    """
    given = {"tenant": work.tenant_id, "subject": work.subject, "epoch": work.epoch}
    given |= {"address": address, "message_id": message_id, "day": day, "a_day": a_day}
    found = await (await conn.execute(_BEGIN, given)).fetchone()
    assert found is not None
    outcome, kept, is_again = found
    if outcome == "lost":
        raise LeaseLost(work.subject, work.epoch)
    return outcome, kept, is_again


# Each is fenced by its claim.
_UNCOUNT = """
    WITH counted AS (
        SELECT m.counted_on
          FROM mails AS m
         WHERE m.tenant_id = %(tenant)s AND m.subject = %(subject)s AND m.epoch = %(epoch)s AND m.holder IS NOT NULL
           FOR NO KEY UPDATE
    ), uncounted AS (
        UPDATE mails AS m
           SET counted_on = NULL
          FROM counted
         WHERE m.tenant_id = %(tenant)s AND m.subject = %(subject)s
    )
    UPDATE mail_days AS d
       SET mails = d.mails - 1
      FROM counted
     WHERE d.tenant_id = %(tenant)s AND d.day = counted.counted_on
"""
_REST = """
    UPDATE mails
       SET stage = %(state)s, run_at = 'infinity', finished_at = %(at)s, holder = NULL, deaths = 0, code = %(code)s,
           last_error = %(reason)s, address = coalesce(address, %(address)s)
     WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND epoch = %(epoch)s AND holder IS NOT NULL
"""
_DROP = """
    DELETE FROM mails
     WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND epoch = %(epoch)s AND holder IS NOT NULL
"""
_RETRY = """
    UPDATE mails
       SET run_at = clock_timestamp() + %(after)s, attempt = attempt - %(back)s, holder = NULL, deaths = 0,
           last_error = %(reason)s
     WHERE tenant_id = %(tenant)s AND subject = %(subject)s AND epoch = %(epoch)s AND holder IS NOT NULL
"""


async def uncount(conn: Conn, work: MailWork) -> None:
    """Undo the count of a try that sent nothing. No effect where the claim was lost."""
    await conn.execute(_UNCOUNT, {"tenant": work.tenant_id, "subject": work.subject, "epoch": work.epoch})


async def rest(
    conn: Conn,
    work: MailWork,
    *,
    at: datetime,
    state: MailState,
    reason: str | None = None,
    code: int | None = None,
    address: str | None = None,
) -> bool:
    """End a mail; False, and nothing written, where the claim was lost."""
    return await _write(conn, _REST, work, at=at, state=state.value, reason=reason, code=code, address=address)


async def drop(conn: Conn, work: MailWork) -> bool:
    """Delete a mail that has no recipient. False as for `rest`."""
    return await _write(conn, _DROP, work)


async def retry(conn: Conn, work: MailWork, *, after: timedelta, reason: str, counts: bool) -> bool:
    """Make it due again after a while; without `counts` the attempt is given back. False as for `rest`."""
    return await _write(conn, _RETRY, work, after=after, reason=reason, back=int(not counts))


async def _write(conn: Conn, statement: LiteralString, work: MailWork, **values: Any) -> bool:
    fence = {"tenant": work.tenant_id, "subject": work.subject, "epoch": work.epoch}
    return (await conn.execute(statement, fence | values)).rowcount == 1


# --- addresses that come with submissions -----------------------------------------------------------------------------

# Each row's tenant is named to row-level security by what becomes its tenant_id, as in accept_submissions.
_KEEP = """
    INSERT INTO mail_recipients (tenant_id, submission_id, address)
    SELECT name_tenant(x.tenant), x.submission, x.address
      FROM unnest(%(tenants)b::bigint[], %(submissions)b::uuid[], %(addresses)b::text[])
           AS x (tenant, submission, address)
"""


async def keep_recipients(conn: Conn, asked: Sequence[tuple[TenantId, SubmissionId, MailAddress]]) -> None:
    """Keep the addresses of submissions, in the transaction that accepts them."""
    await conn.execute(
        _KEEP,
        {
            "tenants": int8s([tenant_id for tenant_id, *_ in asked]),
            "submissions": uuids([submission_id for _, submission_id, _ in asked]),
            "addresses": texts([address for *_, address in asked]),
        },
    )


# --- for clients, people and operators --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MailRecord:
    """A mail and what became of it. `code` and `reason` are the relay's answer, `finished_at` None while it waits."""

    tenant_id: TenantId
    subject: UUID
    state: MailState
    address: str | None
    message_id: str | None
    attempt: int
    code: int | None
    reason: str | None
    entered_at: datetime
    finished_at: datetime | None


_COLUMNS: LiteralString = """m.tenant_id, m.subject, m.stage AS state, m.address, m.message_id, m.attempt, m.code,
           m.last_error AS reason, m.entered_at, m.finished_at"""
_LISTED = f"""
    SELECT {_COLUMNS}
      FROM mails AS m
     WHERE m.stage = ANY (%(states)s) AND (%(tenant)s::bigint IS NULL OR m.tenant_id = %(tenant)s)
     ORDER BY m.entered_at, m.tenant_id, m.subject
     LIMIT %(limit)s
"""


async def listed(
    conn: Conn,
    states: Sequence[MailState],
    *,
    tenant_id: TenantId | None = None,
    limit: int = 100,
) -> list[MailRecord]:
    """List mails in these states, the oldest first."""
    cursor = conn.cursor(row_factory=record_row(MailRecord))
    await cursor.execute(_LISTED, {"states": [state.value for state in states], "tenant": tenant_id, "limit": limit})
    return await cursor.fetchall()


# A condition for each column of the index of due rows before the tenant.
_OF_WAITING: LiteralString = "m.stage = 'mail' AND m.environment IN ('testecf', 'certecf', 'ecf') AND m.host = ''"
_WAITING = f"""
    SELECT count(*)
      FROM mails AS m
     WHERE {_OF_WAITING} AND m.run_at < 'infinity' AND (%(tenant)s::bigint IS NULL OR m.tenant_id = %(tenant)s)
"""
_RELEASE = f"""
    UPDATE mails AS m
       SET run_at = clock_timestamp()
     WHERE {_OF_WAITING} AND m.run_at < 'infinity' AND m.run_at > clock_timestamp() AND m.tenant_id = %(tenant)s
       AND m.holder IS NULL AND m.counted_on IS NULL
"""


async def waiting(conn: Conn, tenant_id: TenantId | None = None) -> int:
    """Count the mails that wait."""
    (found,) = await (await conn.execute(_WAITING, {"tenant": tenant_id})).fetchone() or (0,)
    return int(found)


async def release(conn: Conn, tenant_id: TenantId) -> None:
    """Make a tenant's mails due that the cap of a day put off."""
    await conn.execute(_RELEASE, {"tenant": tenant_id})


# Off, the settings rest in `mail_off`: the verdict looks at `mail` alone.
_SET = """
    UPDATE tenants
       SET mail = CASE WHEN %(on)s THEN %(settings)s::jsonb END,
           mail_off = CASE WHEN NOT %(on)s THEN coalesce(%(settings)s::jsonb, mail, mail_off) END
     WHERE tenant_id = %(tenant)s
"""
_SET_LIMIT = "UPDATE tenants SET mail_limit = %(limit)s WHERE tenant_id = %(tenant)s"
_CHOSEN = """
    SELECT t.mail IS NOT NULL, coalesce(t.mail, t.mail_off), t.mail_limit
      FROM tenants AS t
     WHERE t.tenant_id = %(tenant)s
"""


async def set_settings(conn: Conn, tenant_id: TenantId, settings: MailSettings | None, *, enabled: bool = True) -> None:
    """Set a tenant's settings, and switch its mail on or off; it applies from the next verdict on.

    None switches it off and keeps the settings that there are.
    """
    written = None if settings is None else Jsonb(settings.written())
    given = {"tenant": tenant_id, "settings": written, "on": enabled and settings is not None}
    await conn.execute(_SET, given)


async def set_limit(conn: Conn, tenant_id: TenantId, limit: int | None) -> None:
    """Limit a tenant's mails of a day; 0 forbids them, None ends the limit."""
    await conn.execute(_SET_LIMIT, {"tenant": tenant_id, "limit": limit})


async def choice_of(conn: Conn, tenant_id: TenantId) -> MailChoice:
    """Return what a tenant has chosen."""
    found = await (await conn.execute(_CHOSEN, {"tenant": tenant_id})).fetchone()
    return MailChoice() if found is None else MailChoice(found[0], MailSettings.read(found[1]), found[2])


_SUPPRESS = """
    INSERT INTO mail_suppressions (tenant_id, address, reason, since)
    VALUES (%(tenant)s, lower(%(address)s), %(reason)s, %(at)s)
    ON CONFLICT DO NOTHING
"""
_ALLOW = """
    DELETE FROM mail_suppressions AS x
     WHERE x.tenant_id = %(tenant)s AND x.address = lower(%(address)s) AND (%(all)s OR x.reason <> 'operator')
"""
_SUPPRESSED = """
    SELECT x.address, x.reason, x.since
      FROM mail_suppressions AS x
     WHERE x.tenant_id = %(tenant)s
     ORDER BY x.since DESC, x.address
     LIMIT %(limit)s
"""


async def suppress(conn: Conn, tenant_id: TenantId, address: str, reason: str, at: datetime) -> bool:
    """Put an address on a tenant's list; False where it was there. `reason`: refused, tenant or operator."""
    given = {"tenant": tenant_id, "address": address, "reason": reason, "at": at}
    return (await conn.execute(_SUPPRESS, given)).rowcount == 1


async def allow(conn: Conn, tenant_id: TenantId, address: str, *, every: bool = True) -> bool:
    """Take an address off a tenant's list; False where it was not there. Without `every`, no operator's entry."""
    return (await conn.execute(_ALLOW, {"tenant": tenant_id, "address": address, "all": every})).rowcount == 1


async def suppressed(conn: Conn, tenant_id: TenantId, limit: int = 1000) -> list[tuple[str, str, datetime]]:
    """List a tenant's suppressed addresses with reason and moment, the newest first."""
    return await (await conn.execute(_SUPPRESSED, {"tenant": tenant_id, "limit": limit})).fetchall()


_REPLAY = """
    UPDATE mails AS m
       SET stage = 'mail', run_at = clock_timestamp(), attempt = 0, deaths = 0, entered_at = clock_timestamp(),
           finished_at = NULL
     WHERE m.tenant_id = %(tenant)s AND m.subject = %(subject)s AND m.stage IN ('refused', 'suppressed', 'failed')
"""


async def replay(conn: Conn, action: OperatorAction, tenant_id: TenantId, submission_id: SubmissionId) -> bool:
    """Send a mail again that was refused, suppressed or failed; False when it is none of those.

    Run it in a transaction: the action goes on record with it.
    """
    if (await conn.execute(_REPLAY, {"tenant": tenant_id, "subject": submission_id})).rowcount != 1:
        return False
    await record(conn, action, "replay", tenant_id, submission_id, {"mail": "to the buyer"})
    return True


_ADDRESS_AGAIN = """
    INSERT INTO mail_recipients AS r (tenant_id, submission_id, address)
    VALUES (%(tenant)s, %(subject)s, %(address)s)
    ON CONFLICT (tenant_id, submission_id) DO UPDATE SET address = excluded.address
"""
_RESEND = """
    INSERT INTO mails AS m (tenant_id, subject, stage, environment, run_at, address)
    VALUES (%(tenant)s, %(subject)s, 'mail', %(environment)s, clock_timestamp(), %(address)s)
    ON CONFLICT (tenant_id, subject) DO UPDATE
       SET stage = 'mail', run_at = clock_timestamp(), attempt = 0, deaths = 0, entered_at = clock_timestamp(),
           finished_at = NULL, last_error = NULL, address = excluded.address, counted_on = NULL
     WHERE m.stage <> 'mail'
"""


async def resend(
    conn: Conn, tenant_id: TenantId, submission_id: SubmissionId, environment: Environment, address: MailAddress
) -> bool:
    """Send an accepted receipt to this address, counted anew; False while its mail waits.

    Run it in a transaction.
    """
    given = {"tenant": tenant_id, "subject": submission_id, "environment": environment.value, "address": address}
    if (await conn.execute(_RESEND, given)).rowcount != 1:
        return False
    await conn.execute(_ADDRESS_AGAIN, given)
    return True
