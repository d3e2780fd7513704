"""Decisions of tenants about received documents: the ACECF, and its delivery to the issuer."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from fe.identifiers import SubmissionId, TenantId
from fe.lifecycle import Status
from fe.store.postgres.db import Conn
from fe.store.postgres.rows import record_row
from fe.store.records.counterparty import HandingState
from fe.store.records.submissions import NewSubmission, values_of


class DecisionOutcome(StrEnum):
    """The result of submitting a decision."""

    ACCEPTED = "accepted"
    AGAIN = "again"
    CONTRARY = "contrary"
    ELSEWHERE = "elsewhere"
    TAKEN = "taken"


@dataclass(frozen=True, slots=True)
class Decision:
    """Approved, or rejected for a reason: `reason` is there exactly where it is not approved."""

    received_id: UUID
    approved: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """The result, and the submission that carries it or stands in its way."""

    outcome: DecisionOutcome
    submission_id: SubmissionId
    status: Status


_DECIDE = """
    SELECT outcome, submission_id, status
      FROM decide_received(
        %(tenant)s, %(received)s, %(approved)s, %(reason)s, %(submission)s, %(at)s, %(environment)s, %(api_key)s,
        %(client_request)s, %(digest)s, %(format)s, %(e_ncf)s, %(issuer)s, %(buyer)s, %(as_user)s, %(as_user_id)s,
        %(original)b)
"""


async def decide(
    conn: Conn, tenant_id: TenantId, decision: Decision, new: NewSubmission, at: datetime
) -> DecisionResult:
    """Take a decision and its ACECF in, in one transaction; or tell what was decided before (decide_received.sql).

    Raises Contended when another is taken in at the same moment: to be called again.
    """
    cursor = conn.cursor(row_factory=record_row(DecisionResult))
    asked = {"received": decision.received_id, "approved": decision.approved, "reason": decision.reason}
    await cursor.execute(_DECIDE, {**values_of(new, at), **asked, "tenant": tenant_id})
    decided = await cursor.fetchone()
    assert decided is not None
    return decided


@dataclass(frozen=True, slots=True)
class Word:
    """The last decision on a document, and how it stands with the authority and with the issuer.

    `delivery_state` is None as long as nothing was begun with the issuer.
    """

    submission_id: SubmissionId
    approved: bool
    reason: str | None
    decided_at: datetime
    status: Status
    status_at: datetime
    response: dict[str, Any] | None
    delivery_state: HandingState | None
    delivery_reason: str | None
    delivery_at: datetime | None


# The decision first, and then its delivery: some engines keep the two in different places.
_WORD_ON = """
    WITH said AS MATERIALIZED (
        SELECT a.tenant_id, a.submission_id, a.approved, a.reason, a.decided_at, s.status, s.updated_at AS status_at,
               s.response
          FROM approvals AS a
          JOIN submissions AS s ON s.tenant_id = a.tenant_id AND s.submission_id = a.submission_id
         WHERE a.tenant_id = %(tenant)s AND s.tenant_id = %(tenant)s AND a.received_id = %(received)s
         ORDER BY a.round DESC
         LIMIT 1
    )
    SELECT w.submission_id, w.approved, w.reason, w.decided_at, w.status, w.status_at, w.response,
           d.state AS delivery_state, d.reason AS delivery_reason, d.changed_at AS delivery_at
      FROM said AS w
      LEFT JOIN counterparty_deliveries AS d
        ON d.tenant_id = w.tenant_id AND d.submission_id = w.submission_id AND d.tenant_id = %(tenant)s
"""


async def word_on(conn: Conn, tenant_id: TenantId, received_id: UUID) -> Word | None:
    """Tell the last decision on a received document, if there is one."""
    found = conn.cursor(row_factory=record_row(Word))
    await found.execute(_WORD_ON, {"tenant": tenant_id, "received": received_id})
    return await found.fetchone()
