"""Decisions on received documents over HTTP: approving and rejecting."""

from typing import Literal, TypeVar, cast
from uuid import UUID

import trio

from fe.clock import Clock
from fe.ecf.catalogue import Environment
from fe.ecf.ids import read_id
from fe.http.calls import ApiReply, Call
from fe.http.errors import ApiError, describe
from fe.http.languages import Language, serialize_problems
from fe.http.messages import of_decision, say
from fe.http.models.approvals import APPROVAL_TAKEN, DECIDED_MANY, ApprovalTaken, DecidedItem, DecidedMany
from fe.http.models.requests import ApproveReceived, DecideReceived, RejectReceived
from fe.http.request_bodies import read_body
from fe.identifiers import TenantId
from fe.issuing.decide import decision_on, take_in
from fe.issuing.issuers import ForbiddenIssuer
from fe.issuing.prepare import Draft
from fe.issuing.submitting import Submitting
from fe.lifecycle import Stage, Status
from fe.limits import DocumentQuota
from fe.monitoring.metrics import Metrics
from fe.monitoring.submission_log import SubmissionLog
from fe.store.postgres.db import Database
from fe.store.queue.wakeups import Wakeups
from fe.store.records import approvals, received
from fe.store.records.approvals import DecisionOutcome, DecisionResult
from fe.store.records.received import ReceivedRecord

B = TypeVar("B", ApproveReceived, RejectReceived)


class ApprovalHandlers:
    """The handlers of /received/{id}/approve, /reject and /received/approvals."""

    def __init__(
        self,
        db: Database,
        submitting: Submitting,
        wakeups: Wakeups,
        quotas: DocumentQuota,
        clock: Clock,
        metrics: Metrics,
        log: SubmissionLog,
    ) -> None:
        self._db = db
        self._submitting = submitting
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

    async def decide_many(self, call: Call) -> ApiReply:
        """Decide about many, each by itself: 200, and what became of each. Repeating it is safe."""
        caller = call.identity
        raw = await call.body()
        call.limit_by(self._quotas.take(caller.tenant_id, len(raw), trio.current_time()))
        body = read_body(DecideReceived, raw)
        ids = list(dict.fromkeys(body.ids))
        call.limit_by(self._quotas.add(caller.tenant_id, len(ids) - 1, trio.current_time()))
        wanted = {text: read_id(text) for text in ids}
        found = await self._db.run_for(
            caller.tenant_id, received.of_ids, [one for one in wanted.values() if one is not None]
        )
        records = {record.received_id: record for record in found}
        asked = Draft(format="structured", as_user=body.asUser, as_user_id=body.user_id)
        items: list[DecidedItem] = []
        for text in ids:
            record = None if wanted[text] is None else records.get(cast(UUID, wanted[text]))
            try:
                items.append(await self._decide_one(call, text, record, body.reason, asked))
            except (ApiError, ForbiddenIssuer) as refused:
                said = describe(refused)
                items.append({"id": text, "statusCode": said.status, "message": said.message.said(call.language)})
        answer: DecidedMany = {"decision": body.decision, "items": items}
        if body.ignored:
            answer["warnings"] = serialize_problems(body.ignored, call.language)
        return ApiReply(200, DECIDED_MANY.write(answer))

    async def _decide_one(
        self, call: Call, text: str, record: ReceivedRecord | None, reason: str | None, asked: Draft
    ) -> DecidedItem:
        """Decide about one of many. Raises ApiError and ForbiddenIssuer."""
        if record is None:
            raise ApiError(404, say("no-received"))
        decided = await self._take_in(call, record, reason, asked)
        wrong = of_decision(decided, approved=reason is None)
        is_new = decided.outcome is DecisionOutcome.ACCEPTED
        return {
            "id": text,
            "statusCode": 409 if wrong is not None else 202 if is_new else 200,
            "message": (wrong or say("decision-taken-in" if is_new else "decided-before")).said(call.language),
            "taxLogId": str(decided.submission_id),
            "status": decided.status,
        }

    async def _take_in(self, call: Call, record: ReceivedRecord, reason: str | None, asked: Draft) -> DecisionResult:
        """Take a decision in, or tell what was decided before. Raises ApiError (403) and ForbiddenIssuer."""
        caller = call.identity
        if record.environment is not caller.environment:
            raise ApiError(403, say("received-elsewhere", environment=record.environment))
        now = self._clock()
        decision, new = decision_on(record, reason, caller.tenant_id, caller.api_key_id, now, asked=asked)
        await self._submitting.require_permission(new)
        decided = await take_in(lambda: self._db.run_for(new.tenant_id, approvals.decide, decision, new, now))
        if decided.outcome is not DecisionOutcome.ACCEPTED:  # what was decided before is perhaps not on the standby
            decided = await take_in(lambda: self._db.confirmed_for(new.tenant_id, approvals.decide, decision, new, now))
        if decided.outcome is DecisionOutcome.ACCEPTED:
            self._accepted[caller.environment].inc()
            self._wakeups.notify(Stage.SIGN)
            self._log.info(
                "a decision on a received document was accepted",
                decided.submission_id,
                request_id=call.request_id,
                e_ncf=record.e_ncf,
            )
        return decided

    async def _decide(self, call: Call, model: type[B]) -> ApiReply:
        """Take the decision in: 202; or 200 with the first one, which counts.

        A client that leaves before the commit has decided nothing; after it, asking again tells it so.
        """
        caller = call.identity
        raw = await call.body()
        call.limit_by(self._quotas.take(caller.tenant_id, len(raw), trio.current_time()))
        body: ApproveReceived | RejectReceived = read_body(model, raw or b"{}")
        record = await self._find(caller.tenant_id, call.params["received_id"])
        reason = body.reason if isinstance(body, RejectReceived) else None
        asked = Draft(
            format="structured",
            client_request_id=body.clientRequestId,
            as_user=body.asUser,
            as_user_id=body.user_id,
        )
        decided = await self._take_in(call, record, reason, asked)
        _refuse(decided, approved=reason is None)
        is_new = decided.outcome is DecisionOutcome.ACCEPTED
        answer = _serialize(record, reason is None, decided, call.language)
        if body.ignored:
            answer["warnings"] = serialize_problems(body.ignored, call.language)
        return ApiReply(202 if is_new else 200, APPROVAL_TAKEN.write(answer))

    async def _find(self, tenant_id: TenantId, text: str) -> ReceivedRecord:
        wanted = read_id(text)
        record = None if wanted is None else await self._db.run_for(tenant_id, received.one, wanted)
        if record is None:
            raise ApiError(404, say("no-received"))
        return record


def _refuse(decided: DecisionResult, *, approved: bool) -> None:
    """Raise ApiError (409) when something else was said before."""
    wrong = of_decision(decided, approved=approved)
    if wrong is not None:
        raise ApiError(409, wrong)


def _serialize(record: ReceivedRecord, approved: bool, decided: DecisionResult, language: Language) -> ApprovalTaken:
    accepted = decided.status in (Status.ACCEPTED, Status.CONDITIONAL)
    decision: Literal["approved", "rejected"] = "approved" if approved else "rejected"
    is_new = decided.outcome is DecisionOutcome.ACCEPTED
    return {
        "id": str(record.received_id),
        "environment": record.environment,
        "decision": decision,
        "approvalStatus": received.ApprovalStatus(decision) if accepted else received.ApprovalStatus.PENDING,
        "taxLogId": str(decided.submission_id),
        "status": decided.status,
        "deduped": not is_new,
        "message": (say("decision-taken-in") if is_new else say("decided-before")).said(language),
    }
