"""Saying yes or no to a document that was received: the ACECF that says it, and taking both in as one."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from fe.ecf.dates import show_day
from fe.ecf.parse import writable
from fe.identifiers import ApiKeyId, TenantId
from fe.issuing.accept import admit
from fe.issuing.prepare import Draft
from fe.process import failpoints
from fe.store.postgres.errors import Contended, LockNotHad
from fe.store.records.approvals import Decision, DecisionResult
from fe.store.records.received import ReceivedRecord
from fe.store.records.submissions import NewSubmission

#: The longest reason, in characters (DetalleMotivoRechazo).
MAX_REASON = 250
#: How often a decision is tried that met another one.
_TRIES = 3


def is_reason(text: str) -> bool:
    """Return whether a text can be the reason of a rejection."""
    return bool(text.strip()) and len(text) <= MAX_REASON and writable(text)


def decision_on(
    record: ReceivedRecord,
    reason: str | None,
    tenant_id: TenantId,
    api_key_id: ApiKeyId,
    now: datetime,
    *,
    asked: Draft | None = None,
) -> tuple[Decision, NewSubmission]:
    """Make the decision and the submission that says it; without a reason it is an approval.

    `asked` has whose certificate is to sign, and what the client calls its request.
    """
    draft = replace(asked or Draft(format="structured"), payload=_acecf(record, reason))
    new = admit(draft, tenant_id, record.environment, api_key_id, now)
    return Decision(record.received_id, reason is None, reason), new


async def take_in(attempt: Callable[[], Awaitable[DecisionResult]]) -> DecisionResult:
    """Take a decision in by `attempt`, which is `approvals.decide` in a transaction: again where it met another one."""
    for tries_left in reversed(range(_TRIES)):
        failpoints.reached("deciding")
        try:
            decided = await attempt()
            break
        except Contended as error:
            if not tries_left or isinstance(error, LockNotHad):
                raise
    failpoints.reached("decided")
    return decided


def _acecf(record: ReceivedRecord, reason: str | None) -> dict[str, Any]:
    """The approval of a document, or the rejection; version and moment are filled in when it is signed."""
    detail = {
        "RNCEmisor": record.issuer_rnc,
        "eNCF": record.e_ncf,
        "FechaEmision": show_day(record.issued_on),
        "MontoTotal": f"{record.total:.2f}",
        "RNCComprador": record.buyer_rnc,
        "Estado": "1" if reason is None else "2",
    }
    if reason is not None:
        detail["DetalleMotivoRechazo"] = reason
    return {"ACECF": {"DetalleAprobacionComercial": detail}}
