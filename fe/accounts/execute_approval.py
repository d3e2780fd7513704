"""Execute approved requests once, also across crashes, and check the current state again.

Each step is a transaction that locks the request and stores its progress, so another process can resume it. Rows that
changed since the request are skipped and counted.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from fe.accounts import audited_changes
from fe.accounts.approvals import action_of, shown_terms
from fe.accounts.audited_changes import Author
from fe.accounts.provision import ProvisioningRefused
from fe.clock import Clock
from fe.identifiers import ReplayPlanId, SubmissionId, TenantId
from fe.store.postgres.db import Conn, Database
from fe.store.queue import audit, dead_letters, replay_plans
from fe.store.records import billing, pending_actions, tenants
from fe.store.records.pending_actions import PendingAction

#: Dead letters discarded per transaction, which holds the lock of the audit log.
_AT_ONCE = 50

Request = Mapping[str, Any]


async def execute_approval(db: Database, action_id: UUID, clock: Clock) -> None:
    """Execute an approved request to its end; nothing if it is done or not approved."""
    while await db.transact(_step, action_id, clock()):
        pass


async def _step(conn: Conn, action_id: UUID, now: datetime) -> bool:
    """Execute the next part; return whether more is left."""
    pending = await pending_actions.claim(conn, action_id)
    if pending is None:
        return False
    text = await pending_actions.request_of(conn, action_id)
    if text is None:
        await _end(conn, pending, {"failed": "the request is not what was agreed to"}, now)
        return False
    request = json.loads(text)
    if pending.kind == "discard":
        return await _discard(conn, pending, request, now)
    await _end(conn, pending, await _AT_ONE_BLOW[pending.kind](conn, pending, request, now), now)
    return False


async def _end(conn: Conn, pending: PendingAction, outcome: dict[str, Any], now: datetime) -> None:
    await pending_actions.advance(conn, pending.action_id, pending.row_count, outcome, now)


async def _discard(conn: Conn, pending: PendingAction, request: Request, now: datetime) -> bool:
    part = request["rows"][pending.rows_done : pending.rows_done + _AT_ONCE]
    still = await dead_letters.unchanged(conn, [_row(one) for one in part])
    done = 0
    for tenant_id, subject in still:
        fate = await dead_letters.discard(conn, action_of(pending, now), tenant_id, subject, note=request["note"])
        done += fate is not None
    outcome = {
        "discarded": pending.outcome.get("discarded", 0) + done,
        "passedOver": pending.outcome.get("passedOver", 0) + len(part) - done,
    }
    rows_done = pending.rows_done + len(part)
    is_over = rows_done >= len(request["rows"])
    await pending_actions.advance(conn, pending.action_id, rows_done, outcome, now if is_over else None)
    return not is_over


async def _replay(conn: Conn, pending: PendingAction, request: Request, now: datetime) -> dict[str, Any]:
    rows = [_row(one) for one in request["rows"]]
    still = await dead_letters.unchanged(conn, rows)
    if not still:
        return {"failed": "none of them is as it was", "passedOver": len(rows)}
    plan_id = ReplayPlanId(request["plan"])
    made = await replay_plans.make(
        conn,
        action_of(pending, now),
        plan_id,
        still,
        canary=bool(request["canary"]),
        per_second=Decimal(request["perSecond"]),
        stop_on_failure=request["stopOnFailure"],
        carried_on=pending.asked_through == "portal",
    )
    if not made:
        return {"failed": f"there is a plan {plan_id} already"}
    return {"plan": plan_id, "rows": len(still), "passedOver": len(rows) - len(still)}


async def _disable(conn: Conn, pending: PendingAction, _request: Request, now: datetime) -> dict[str, Any]:
    assert pending.tenant_id is not None
    tenant = await tenants.by_id(conn, pending.tenant_id)
    if tenant is None or tenant.disabled_since is not None:
        return {"failed": "it is disabled already"}
    try:
        by = Author(pending.asked_by, now, pending.asked_through)
        await audited_changes.disable_tenant(conn, by, tenant, action_of(pending, now))
    except ProvisioningRefused as refused:
        return {"failed": str(refused)}
    return {"disabled": True}


async def _set_terms(conn: Conn, pending: PendingAction, request: Request, now: datetime) -> dict[str, Any]:
    assert pending.tenant_id is not None
    before = shown_terms(await billing.account(conn, pending.tenant_id, locked=True))
    if before != request["before"]:
        return {"failed": "the terms were changed meanwhile"}
    price = Decimal(request["price"])
    if pending.kind == "billing enable":
        await billing.enable(
            conn,
            pending.tenant_id,
            subscription_id=request["subscription"],
            unit_price=price,
            currency=request["currency"] or "USD",
            pricing_tier=request["tier"] or "standard",
            at=now,
        )
    else:
        await billing.set_price(
            conn,
            pending.tenant_id,
            unit_price=price,
            currency=request["currency"],
            pricing_tier=request["tier"],
            at=now,
        )
    after = shown_terms(await billing.account(conn, pending.tenant_id)) or {}
    await audit.record(conn, action_of(pending, now), pending.kind, pending.tenant_id, None, after)
    return after


_AT_ONE_BLOW: Mapping[str, Callable[[Conn, PendingAction, Request, datetime], Awaitable[dict[str, Any]]]] = {
    "replay": _replay,
    "tenant disable": _disable,
    "billing enable": _set_terms,
    "billing price": _set_terms,
}


def _row(one: list[Any]) -> tuple[TenantId, SubmissionId, datetime]:
    tenant_id, subject, died_at = one
    return TenantId(tenant_id), SubmissionId(UUID(subject)), datetime.fromisoformat(died_at)
