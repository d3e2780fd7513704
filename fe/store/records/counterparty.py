"""Delivery from taxpayer to taxpayer: its queue, the state of each delivery, and each send.

An accepted e-CF goes to its receiver, a decision about a received document to the issuer (authority.md#receivers). Each
is the bytes of a submission; its row begins in the transaction of the verdict (begin_deliveries.sql).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from fe.ecf.catalogue import Environment
from fe.identifiers import CertificateId, SubmissionId, TenantId
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.queue.audit import OperatorAction, record
from fe.store.queue.host_lanes import AllHosts, HostLanes
from fe.store.queue.outbox import OutboxLane
from fe.store.queue.tables import QueueRow, QueueTable


class HandingKind(StrEnum):
    """An e-CF for its receiver, or a buyer's word on one for its issuer."""

    RECEIPT = "receipt"
    APPROVAL = "approval"


class HandingState(StrEnum):
    """How it stands with handing a document on."""

    PENDING = "pending"
    #: The receiver acknowledged it as received; the issuer took the approval.
    DELIVERED = "delivered"
    #: They answered that they do not take it.
    REFUSED = "refused"
    #: The authority's directory has no address for them.
    UNLISTED = "unlisted"
    #: Out of attempts: an operator's matter.
    GAVE_UP = "gave_up"


class HandingStage(StrEnum):
    """The stage of a row."""

    #: To ask the authority's directory where it goes.
    ADDRESS = "address"
    #: To go there.
    PASS_ON = "pass_on"  # noqa: S105  (no password)


class SendOutcome(StrEnum):
    """The result of a send."""

    INTENDED = "intended"
    NOT_SENT = "not_sent"
    UNKNOWN = "unknown"
    ANSWERED = "answered"


# --- the queue --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HandingWork(QueueRow[OutboxLane | AllHosts, SubmissionId]):
    """A claimed row (docs/reference/queue-table.md). `host`: the authority's in `address`, then the counterparty's."""

    stage: HandingStage
    environment: Environment
    host: str


def _of_the_authority(stage: str, lane: OutboxLane, *row: Any) -> HandingWork:
    return HandingWork(HandingStage(stage), lane, *(*row, lane.environment, lane.host))


def _of_any_host(stage: str, lane: AllHosts, *row: Any) -> HandingWork:
    *claim, environment, host = row
    return HandingWork(HandingStage(stage), lane, *(*claim, Environment(environment), host))


COUNTERPARTY_OUTBOX: QueueTable[OutboxLane, HandingWork] = QueueTable("counterparty_outbox", _of_the_authority)

#: A host where something failed and nothing has worked out since: one at a time goes there.
_SUSPECT = """EXISTS (
                SELECT 1
                  FROM counterparty_outbox AS x
                 WHERE x.stage = 'pass_on' AND x.environment = d.environment AND x.host = d.host
                   AND x.last_error IS NOT NULL)"""


def hosts_of_counterparties(*, maximum: int, suspects: int) -> HostLanes[HandingWork]:
    """The queue as the stage `pass_on` of one process claims from it: each counterparty's host is a lane."""
    return HostLanes("counterparty_outbox", _of_any_host, maximum=maximum, suspects=suspects, suspect=_SUSPECT)


@dataclass(frozen=True, slots=True)
class Handed:
    """A document and its receiver. `content` are the signed bytes, as the authority has them."""

    kind: HandingKind
    environment: Environment
    counterparty_rnc: str
    issuer_rnc: str
    buyer_rnc: str
    e_ncf: str
    certificate_id: CertificateId
    content: bytes


_HANDED = """
    SELECT d.kind, d.environment, d.counterparty_rnc, s.issuer_rnc, s.buyer_rnc, s.e_ncf, s.certificate_id, b.content
      FROM counterparty_deliveries AS d
      JOIN submissions AS s ON s.tenant_id = d.tenant_id AND s.submission_id = d.submission_id
      JOIN submission_documents AS b
        ON b.tenant_id = d.tenant_id AND b.submission_id = d.submission_id AND b.kind = 'signed'
     WHERE d.tenant_id = %(tenant)s AND s.tenant_id = %(tenant)s AND b.tenant_id = %(tenant)s
       AND d.submission_id = %(submission)s
"""


async def handed(conn: Conn, work: HandingWork) -> Handed:
    """Read what a claimed row is about."""
    cursor = conn.cursor(row_factory=record_row(Handed))
    await cursor.execute(_HANDED, {"tenant": work.tenant_id, "submission": work.subject}, binary=True)
    found = await cursor.fetchone()
    assert found is not None, "a delivery without its submission"
    return found


_INTEND = """
    INSERT INTO counterparty_sends (tenant_id, submission_id, epoch, digest, url, intended_at)
    SELECT o.tenant_id, o.subject, o.epoch, %(digest)b, %(url)s, %(at)s
      FROM counterparty_outbox AS o
     WHERE o.tenant_id = %(tenant)s AND o.subject = %(subject)s AND o.epoch = %(epoch)s AND o.holder IS NOT NULL
"""


async def intend(conn: Conn, work: HandingWork, *, digest: bytes, url: str, at: datetime) -> bool:
    """Put on record that these bytes are about to go out; False where the claim is not ours any more."""
    cursor = await conn.execute(_INTEND, {**_claim(work), "digest": digest, "url": url, "at": at})
    return cursor.rowcount == 1


_NOTE_SEND = """
    UPDATE counterparty_sends
       SET outcome = %(outcome)s, status = %(status)s, answered_at = %(at)s
     WHERE tenant_id = %(tenant)s AND submission_id = %(subject)s AND epoch = %(epoch)s
"""


async def note_send(
    conn: Conn, work: HandingWork, outcome: SendOutcome, *, status: int | None = None, at: datetime
) -> None:
    """Put on record what became of bytes that went out, where that was not the end of it."""
    await conn.execute(_NOTE_SEND, {**_claim(work), "outcome": outcome, "status": status, "at": at})


# An acknowledgement that was believed and said no is no such thing: it was the end, until an operator began anew.
_MAY_HAVE_ARRIVED = """
    SELECT EXISTS (
        SELECT 1
          FROM counterparty_sends AS s
          JOIN counterparty_deliveries AS d ON d.tenant_id = s.tenant_id AND d.submission_id = s.submission_id
         WHERE s.tenant_id = %(tenant)s AND d.tenant_id = %(tenant)s AND s.submission_id = %(subject)s
           AND s.epoch <> %(epoch)s AND d.answer IS NULL
           AND (s.outcome IN ('intended', 'unknown')
                OR (s.outcome = 'answered' AND (s.status BETWEEN 200 AND 299 OR s.status >= 500))))
"""


async def may_have_arrived(conn: Conn, work: HandingWork) -> bool:
    """Tell whether the bytes of a row went out before this try, and may have been taken in there for all we know."""
    cursor = await conn.execute(_MAY_HAVE_ARRIVED, _claim(work))
    return await cursor.fetchone() == (True,)


_WAIT = """
    SELECT book_delivery_wait(%(tenant)s, %(subject)s, %(epoch)s, %(at)s, %(stage)s, %(host)s, %(url)s, %(after)s,
                              %(counts)s, %(error)s)
"""


async def wait(
    conn: Conn,
    work: HandingWork,
    *,
    at: datetime,
    after: timedelta,
    stage: HandingStage | None = None,
    host: str | None = None,
    url: str | None = None,
    counts: bool = True,
    error: str | None = None,
) -> bool:
    """Book that it is due again, in its stage or another one; False where the claim is not ours any more."""
    values = {"at": at, "after": after, "stage": stage or work.stage, "host": host, "url": url}
    cursor = await conn.execute(_WAIT, {**_claim(work), **values, "counts": counts, "error": error})
    return await cursor.fetchone() == (True,)


_END = """
    SELECT book_delivery_end(%(tenant)s, %(subject)s, %(epoch)s, %(at)s, %(state)s, %(reason)s, %(answer)b, %(status)s)
"""


async def end(
    conn: Conn,
    work: HandingWork,
    *,
    at: datetime,
    state: HandingState,
    reason: str | None = None,
    answer: bytes | None = None,
    status: int | None = None,
) -> bool:
    """Book that there is no further try; False where the claim is not ours any more."""
    values = {"at": at, "state": state, "reason": reason, "answer": answer, "status": status}
    cursor = await conn.execute(_END, {**_claim(work), **values})
    return await cursor.fetchone() == (True,)


def _claim(work: HandingWork) -> dict[str, Any]:
    return {"tenant": work.tenant_id, "subject": work.subject, "epoch": work.epoch}


# --- for clients ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OtherSide:
    """The state of a receipt at its buyer: its approval, and the delivery.

    `approved` is None without an answer; `state` is None without a delivery.
    """

    approved: bool | None
    approval_reason: str | None
    approved_at: datetime | None
    state: HandingState | None
    reason: str | None
    changed_at: datetime | None


_OTHER_SIDE = """
    SELECT r.approved, r.reason AS approval_reason, r.received_at AS approved_at, d.state, d.reason, d.changed_at
      FROM (VALUES (%(tenant)s::bigint, %(submission)s::uuid)) AS asked (tenant_id, submission_id)
      LEFT JOIN received_approvals AS r
        ON r.tenant_id = asked.tenant_id AND r.submission_id = asked.submission_id AND r.tenant_id = %(tenant)s
      LEFT JOIN counterparty_deliveries AS d
        ON d.tenant_id = asked.tenant_id AND d.submission_id = asked.submission_id AND d.tenant_id = %(tenant)s
       AND d.kind = 'receipt'
"""


async def other_side(conn: Conn, tenant_id: TenantId, submission_id: SubmissionId) -> OtherSide:
    """Tell what is known of the buyer of a submission, in one round trip."""
    cursor = conn.cursor(row_factory=record_row(OtherSide))
    await cursor.execute(_OTHER_SIDE, {"tenant": tenant_id, "submission": submission_id})
    found = await cursor.fetchone()
    assert found is not None
    return found


# --- for operators ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HandingRecord:
    """One delivery as operators see it. `sends` are the times its bytes may have gone out."""

    tenant: str
    tenant_id: TenantId
    submission_id: SubmissionId
    kind: HandingKind
    environment: Environment
    counterparty_rnc: str
    e_ncf: str | None
    state: HandingState
    reason: str | None
    url: str | None
    since: datetime
    changed_at: datetime
    sends: int


_LISTED = """
    SELECT d.tenant, d.tenant_id, d.submission_id, d.kind, d.environment, d.counterparty_rnc, s.e_ncf, d.state,
           d.reason, d.url, d.since, d.changed_at, d.sends
      FROM (SELECT t.name AS tenant, d.tenant_id, d.submission_id, d.kind, d.environment, d.counterparty_rnc, d.state,
                   d.reason, d.url, d.since, d.changed_at,
                   (SELECT count(*)::int
                      FROM counterparty_sends AS x
                     WHERE x.tenant_id = d.tenant_id AND x.submission_id = d.submission_id
                       AND x.outcome <> 'not_sent') AS sends
              FROM counterparty_deliveries AS d
              JOIN tenants AS t ON t.tenant_id = d.tenant_id
             WHERE d.state = ANY (%(states)s)
               AND (%(tenant)s::bigint IS NULL OR d.tenant_id = %(tenant)s)
               AND (%(submission)s::uuid IS NULL OR d.submission_id = %(submission)s)) AS d
      JOIN submissions AS s ON s.tenant_id = d.tenant_id AND s.submission_id = d.submission_id
     ORDER BY d.changed_at, d.tenant_id, d.submission_id
     LIMIT %(limit)s
"""


async def listed(
    conn: Conn,
    states: Sequence[HandingState],
    *,
    tenant_id: TenantId | None = None,
    submission_id: UUID | None = None,
    limit: int,
) -> list[HandingRecord]:
    """List deliveries in these states, those first that have been as they are for the longest time."""
    cursor = conn.cursor(row_factory=record_row(HandingRecord))
    await cursor.execute(
        _LISTED,
        {"states": [str(state) for state in states], "tenant": tenant_id, "submission": submission_id, "limit": limit},
    )
    return await cursor.fetchall()


_REPLAY = "SELECT replay_delivery(%(tenant)s, %(subject)s, %(at)s)"


async def replay(conn: Conn, action: OperatorAction, tenant_id: TenantId, submission_id: SubmissionId) -> bool:
    """Set one going again that gave up, was refused or found no address; False when it is none of those.

    Run it in a transaction: the action goes on record with it. The same bytes go out.
    """
    cursor = await conn.execute(_REPLAY, {"tenant": tenant_id, "subject": submission_id, "at": action.at})
    if await cursor.fetchone() != (True,):
        return False
    await record(conn, action, "replay", tenant_id, submission_id, {"delivery": "to the counterparty"})
    return True


_SET_SENDING = """
    UPDATE tenants SET sends_to_receivers = %(on)s WHERE tenant_id = %(tenant)s AND sends_to_receivers <> %(on)s
"""


async def send_to_receivers(conn: Conn, tenant_id: TenantId, *, on: bool) -> bool:
    """Say whether what a tenant issues is sent to its receivers, from the next verdict on; False when it was so."""
    cursor = await conn.execute(_SET_SENDING, {"tenant": tenant_id, "on": on})
    return cursor.rowcount == 1
