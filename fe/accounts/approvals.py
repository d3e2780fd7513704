"""Approvals: large or costly operations need a second operator.

The request is stored complete, with its digest; the approver names the digest of the request that was shown.
`fe/accounts/execute_approval.py` then executes exactly this request.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from fe.ecf.ids import new_id
from fe.ecf.texts import LocalizedError, Text
from fe.identifiers import ReplayPlanId, SubmissionId, TenantId
from fe.store.postgres.db import Conn, Database
from fe.store.queue import audit, dead_letters
from fe.store.queue.audit import OperatorAction
from fe.store.queue.dead_letters import DeadLetter, DeadLetterFilter
from fe.store.records import pending_actions
from fe.store.records.billing import Account, PricingTier
from fe.store.records.pending_actions import Decision, Kind, PendingAction, Through
from fe.store.records.tenants import Tenant

#: How long a request can be approved.
LIFE = timedelta(hours=24)

GONE = Text("There is no such request.", "No existe esa solicitud.")
DECIDED = Text(
    "It was decided already, or its time is over: look at it as it is now.",
    "Ya se decidió, o su plazo venció: véala como está ahora.",
)
SAME_PERSON = Text(
    "You asked for it yourself: another operator has to approve it.",
    "Usted mismo lo solicitó: otro operador debe aprobarlo.",
)
OTHER_WAY = Text(
    "The request was made elsewhere (command line or portal), where people have other names: approve it there.",
    "Se solicitó por otra vía (línea de comandos o portal), donde los nombres son otros: apruébelo allí.",
)


class DecisionRefused(LocalizedError):
    """The request cannot be decided like this."""


def frozen(found: Sequence[DeadLetter]) -> list[list[Any]]:
    """Identify dead letters with the time of death, so that a later death counts as another."""
    return [[one.tenant_id, str(one.subject), one.died_at.isoformat()] for one in found]


async def named(db: Database, request: Mapping[str, Any], limit: int = 100) -> list[DeadLetter]:
    """Find the dead letters of a request that still exist."""
    subjects = [SubmissionId(UUID(subject)) for _, subject, _ in request.get("rows", ())[:limit]]
    return await db.run(dead_letters.listed, DeadLetterFilter(subjects=subjects), limit) if subjects else []


def replay_request(
    rows: list[list[Any]], plan_id: ReplayPlanId, *, canary: bool, per_second: Decimal, stop_on_failure: bool
) -> dict[str, Any]:
    """Describe the replay of these rows at this pace, as this plan."""
    return {
        "rows": rows,
        "plan": plan_id,
        "canary": int(canary),  # the release before reads a number of canaries
        "perSecond": str(per_second),
        "stopOnFailure": stop_on_failure,
    }


def discard_request(rows: list[list[Any]], note: str | None) -> dict[str, Any]:
    """Describe giving up these rows, with the note for their clients."""
    return {"rows": rows, "note": note}


def terms_request(
    before: Account | None,
    *,
    price: Decimal,
    currency: str | None,
    tier: PricingTier | None,
    subscription: str | None = None,
) -> dict[str, Any]:
    """Describe a change of billing terms."""
    return {
        "before": shown_terms(before),
        "price": str(price),
        "currency": currency,
        "tier": tier,
        "subscription": subscription,
    }


def shown_terms(account: Account | None) -> dict[str, Any] | None:
    """Terms as they stand in records; None where there were none."""
    if account is None:
        return None
    return {
        "enabled": account.enabled,
        "subscriptionId": account.subscription_id,
        "unitPrice": None if account.unit_price is None else str(account.unit_price),
        "currency": account.currency,
        "pricingTier": account.pricing_tier,
    }


async def ask(
    conn: Conn,
    kind: Kind,
    request: dict[str, Any],
    by: OperatorAction,
    through: Through,
    *,
    tenant: Tenant | None = None,
    alone: bool,
) -> UUID:
    """Store a request in the caller's transaction; `alone`: it needs no second operator."""
    row_count = len(request.get("rows", ())) or 1
    action_id = new_id(by.at)
    tenant_id: TenantId | None = None if tenant is None else tenant.tenant_id
    await pending_actions.ask(
        conn,
        action_id,
        kind,
        tenant_id,
        json.dumps(request, sort_keys=True, ensure_ascii=False),
        row_count=row_count,
        by_whom=by.by_whom,
        through=through,
        reason=by.reason,
        at=by.at,
        expires_at=by.at + LIFE,
        alone=alone,
    )
    if not alone:
        await audit.record(conn, by, f"ask {kind}", tenant_id, None, {"request": str(action_id), "rows": row_count})
    return action_id


async def approve(conn: Conn, action_id: UUID, digest: bytes, by: OperatorAction, through: Through) -> PendingAction:
    """Approve the request that was shown, as another person than its author. Raises DecisionRefused."""
    found = await _find(conn, action_id)
    if found.asked_through != through:
        raise DecisionRefused(OTHER_WAY)
    if _name(found.asked_by) == _name(by.by_whom):
        raise DecisionRefused(SAME_PERSON)
    return await _decide(conn, found, "approved", digest, by)


async def refuse(conn: Conn, action_id: UUID, digest: bytes, by: OperatorAction) -> PendingAction:
    """Refuse a request, or withdraw one's own. Raises DecisionRefused."""
    return await _decide(conn, await _find(conn, action_id), "refused", digest, by)


async def _decide(
    conn: Conn, found: PendingAction, decision: Decision, digest: bytes, by: OperatorAction
) -> PendingAction:
    if not await pending_actions.decide(conn, found.action_id, decision, by.by_whom, by.at, digest):
        raise DecisionRefused(DECIDED)
    verb = "approve" if decision == "approved" else "refuse"
    detail = {"request": str(found.action_id), "askedBy": found.asked_by, "rows": found.row_count}
    await audit.record(conn, by, f"{verb} {found.kind}", found.tenant_id, None, detail)
    return await _find(conn, found.action_id)


async def _find(conn: Conn, action_id: UUID) -> PendingAction:
    found = await pending_actions.find(conn, action_id)
    if found is None:
        raise DecisionRefused(GONE)
    return found


def _name(by_whom: str) -> str:
    """Return the name of a person without the claimed name in brackets behind it."""
    return by_whom.partition(" (")[0].lower()


def action_of(pending: PendingAction, at: datetime) -> OperatorAction:
    """Return the action of executing a request: by its author, with the original reason."""
    return OperatorAction.of(pending.asked_by, pending.reason, at)
