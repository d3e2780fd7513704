"""Requests that wait for a second operator, and their outcomes."""

import json
from typing import Any

from fe.accounts import approvals
from fe.ecf.texts import LocalizedError, Text
from fe.portal.document_facts import total_in
from fe.portal.page_types import Needs, Page
from fe.portal.pages.operators.acting import acting, executed, uuid_of
from fe.portal.pages.operators.dead_letters import wake
from fe.portal.replies import CHANGED_MEANWHILE, Refused, Reply, not_found
from fe.portal.visit import Visit
from fe.store.records import pending_actions
from fe.store.records.pending_actions import PendingAction

_SHOWN = 100
_ROWS_SHOWN = 50


async def index(visit: Visit) -> Reply:
    """List requests, the latest first."""
    found = await visit.operators.run(pending_actions.latest, visit.now, limit=_SHOWN)
    return visit.page("operators/approvals.html", found=found)


async def _pending(visit: Visit) -> PendingAction:
    found = await visit.operators.run(pending_actions.find, uuid_of(visit, "action"))
    if found is None:
        raise not_found()
    return found


async def one(visit: Visit) -> Reply:
    """Show a request with its details and who decided."""
    return await _show(visit)


async def _show(visit: Visit, problem: Text | None = None) -> Reply:
    found = await _pending(visit)
    text = await visit.operators.run(pending_actions.request_of, found.action_id)
    request: dict[str, Any] = json.loads(text) if text is not None else {}
    return visit.page(
        "operators/approval.html",
        409 if problem else 200,
        found=found,
        named={str(one.subject): one for one in await approvals.named(visit.operators, request, _ROWS_SHOWN)},
        total_in=total_in,
        rows=request.pop("rows", [])[:_ROWS_SHOWN],
        request=request,
        mine=found.asked_through == "portal" and found.asked_by.lower() == visit.by_whom.lower(),
        problem=problem,
        typed=visit.form,
    )


async def approve(visit: Visit) -> Reply:
    """Agree to it, and carry it out."""
    found = await _pending(visit)
    try:
        await visit.run_operation(approvals.approve, found.action_id, _digest(visit), acting(visit), "portal")
    except LocalizedError as wrong:
        return await _show(visit, wrong.text)
    await executed(visit, found.action_id)
    wake(visit)
    return await visit.go(f"/operators/approvals/{found.action_id}", Text("It is approved.", "Está aprobado."))


async def refuse(visit: Visit) -> Reply:
    """Refuse a request, or withdraw one's own."""
    found = await _pending(visit)
    try:
        await visit.run_operation(approvals.refuse, found.action_id, _digest(visit), acting(visit))
    except LocalizedError as wrong:
        return await _show(visit, wrong.text)
    return await visit.go(f"/operators/approvals/{found.action_id}", Text("It is refused.", "Está rechazado."))


def _digest(visit: Visit) -> bytes:
    """Return the digest of the request that was shown."""
    try:
        return bytes.fromhex(visit.form.get("digest"))
    except ValueError:
        raise Refused(409, CHANGED_MEANWHILE) from None


PAGES = (
    Page("GET", "/operators/approvals", Needs.OPERATE, index),
    Page("GET", "/operators/approvals/<action>", Needs.OPERATE, one),
    Page("POST", "/operators/approvals/<action>/approve", Needs.OPERATE, approve, fresh=True),
    Page("POST", "/operators/approvals/<action>/refuse", Needs.OPERATE, refuse),
)
