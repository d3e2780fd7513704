"""Decisions on received documents over HTTP: approving and rejecting."""

from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

import trio

from fe import failpoints
from fe.clock import Clock
from fe.ecf.catalogue import Environment
from fe.ecf.dates import show_day
from fe.http import messages
from fe.http.approval_models import APPROVAL_TAKEN, ApprovalTaken
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError
from fe.http.languages import Language
from fe.http.parameters import read_uuid
from fe.http.quotas import Quotas
from fe.http.request_bodies import read_body
from fe.http.request_models import ApproveReceived, RejectReceived
from fe.identifiers import TenantId
from fe.issuing.accept import admit
from fe.issuing.prepare import Draft
from fe.lifecycle import Stage, Status
from fe.monitoring.metrics import Metrics
from fe.monitoring.ways import SubmissionLog
from fe.store import approvals, received
from fe.store.approvals import Decision, DecisionOutcome, DecisionResult
from fe.store.postgres.db import Database
from fe.store.postgres.errors import Contended, LockNotHad
from fe.store.queue.wakeups import Wakeups
from fe.store.received import ReceivedRecord
from fe.store.submissions import NewSubmission

B = TypeVar("B", ApproveReceived, RejectReceived)

#: How often a decision is tried that met another one.
_TRIES = 3


class ApprovalHandlers:
    """The handlers of /received/{id}/approve and /reject."""

    def __init__(
        self, db: Database, wakeups: Wakeups, quotas: Quotas, clock: Clock, metrics: Metrics, log: SubmissionLog
    ) -> None:
        self._db = db
        self._wakeups = wakeups
        self._quotas = quotas
        self._clock = clock
        self._log = log
        self._accepted = {
            environment: metrics.accepted.labels(environment, "structured") for environment in Environment
        }

    async def approve(self, call: Call) -> ApiReply:
        """Approve a received document."""
        return await self._decide(call, ApproveReceived)

    async def reject(self, call: Call) -> ApiReply:
        """Reject a received document, for a reason."""
        return await self._decide(call, RejectReceived)

    async def _decide(self, call: Call, model: type[B]) -> ApiReply:
        """Take the decision in: 202; or 200 with the first one, which counts.

        A client that leaves before the commit has decided nothing; after it, asking again tells it so.
        """
        caller = call.identity
        raw = await call.body()
        self._quotas.take(caller.tenant_id, len(raw), trio.current_time())
        body: ApproveReceived | RejectReceived = read_body(model, raw or b"{}")
        record = await self._find(caller.tenant_id, call.params["received_id"])
        if record.environment is not caller.environment:
            raise ApiError(403, messages.received_elsewhere(record.environment))
        reason = body.reason if isinstance(body, RejectReceived) else None
        now = self._clock()
        new = admit(
            Draft(
                format="structured",
                payload=_acecf(record, reason),
                client_request_id=body.clientRequestId,
                as_user=body.asUser,
                as_user_id=body.user_id,
            ),
            caller.tenant_id,
            caller.environment,
            caller.api_key_id,
            now,
        )
        decided = await self._take_in(Decision(record.received_id, reason is None, reason), new, now)
        _refuse(decided, approved=reason is None)
        is_new = decided.outcome is DecisionOutcome.ACCEPTED
        if is_new:
            self._accepted[caller.environment].inc()
            self._wakeups.notify(Stage.SIGN)
            self._log.tell(
                "a decision on a received document was accepted",
                decided.submission_id,
                request_id=call.request_id,
                e_ncf=record.e_ncf,
            )
        answer = _serialize(record, reason is None, decided, call.language)
        return ApiReply(202 if is_new else 200, APPROVAL_TAKEN.write(answer))

    async def _find(self, tenant_id: TenantId, text: str) -> ReceivedRecord:
        wanted: UUID | None = read_uuid(text)
        record = None if wanted is None else await self._db.run_for(tenant_id, received.one, wanted)
        if record is None:
            raise ApiError(404, messages.NO_RECEIVED)
        return record

    async def _take_in(self, decision: Decision, new: NewSubmission, now: datetime) -> DecisionResult:
        for tries_left in reversed(range(_TRIES)):
            failpoints.reached("deciding")
            try:
                decided = await self._db.run_for(new.tenant_id, approvals.decide, decision, new, now)
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


def _refuse(decided: DecisionResult, *, approved: bool) -> None:
    """Raise ApiError (409) when something else was said before."""
    match decided.outcome:
        case DecisionOutcome.CONTRARY:
            raise ApiError(
                409,
                messages.decided_otherwise(
                    approved=not approved, tax_log_id=decided.submission_id, status=decided.status
                ),
            )
        case DecisionOutcome.ELSEWHERE:
            raise ApiError(409, messages.decision_under_way(decided.submission_id, decided.status))
        case DecisionOutcome.TAKEN:
            raise ApiError(409, messages.request_id_taken(decided.submission_id))


def _serialize(record: ReceivedRecord, approved: bool, decided: DecisionResult, language: Language) -> ApprovalTaken:
    accepted = decided.status in (Status.ACCEPTED, Status.CONDITIONAL)
    decision = "approved" if approved else "rejected"
    is_new = decided.outcome is DecisionOutcome.ACCEPTED
    return {
        "id": str(record.received_id),
        "environment": record.environment,
        "decision": "approved" if approved else "rejected",
        "approvalStatus": received.ApprovalStatus(decision) if accepted else received.ApprovalStatus.PENDING,
        "taxLogId": str(decided.submission_id),
        "status": decided.status,
        "deduped": not is_new,
        "message": (messages.DECISION_TAKEN_IN if is_new else messages.DECIDED_BEFORE).said(language),
    }
