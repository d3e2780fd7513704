"""Submissions as clients see them: the fields of interface.md#reading, in its order."""

from datetime import datetime
from typing import Any, Literal, TypedDict, cast

from fe.clock import iso
from fe.contingency import Milestones, Mode, latest
from fe.ecf.dates import ZONE
from fe.ecf.verdicts import explain
from fe.http.languages import Language, say_problems
from fe.http.models.approvals import Handing
from fe.http.models.delivery import serialize_handing
from fe.http.models.failures import say_response
from fe.http.models.mailing import Mailing, serialize_mailing
from fe.http.models.receipt_facts import PrintedFacts, serialize_document_facts, serialize_facts
from fe.http.models.responses import DocumentProblem, ExplainedMessage, Submission, SubmissionItem, TimelineEvent
from fe.lifecycle import NumberFate, Status
from fe.printing.labels import LEGENDS
from fe.store.records.counterparty import HandingState, OtherSide
from fe.store.records.mail import MailState
from fe.store.records.submissions import Event, Record


class _Tracked(TypedDict, total=False):
    trackId: str


class _Numbered(TypedDict, total=False):
    eNCF: str
    metadata: dict[str, str]


class _Known(_Tracked, total=False):
    """The fields of a submission that are absent without a value."""

    eNCF: str
    numberFate: NumberFate
    warnings: list[DocumentProblem]
    explained: list[ExplainedMessage]
    approvalStatus: Literal["approved", "rejected"]
    approvalReason: str | None
    approvalAt: str
    receiver: Handing
    mail: Mailing
    legend: str
    replacesNcf: str
    archived: bool
    metadata: dict[str, str]


def serialize_record(
    record: Record,
    other: OtherSide | None = None,
    language: Language = "en",
    *,
    legend: Mode | None = None,
    replaces: str | None = None,
) -> Submission:
    """Show a submission. `trackId` is absent until the authority has given one; the rest is null until it is known.

    `explained` is there when the authority has a remark, `eNCF` and `numberFate` when the document has a fiscal
    number, `warnings` when something was assumed, `approvalStatus`, `approvalReason` and `approvalAt` when the buyer
    has said something, `receiver` when it is sent there, `mail` when its buyer gets it by mail, `replacesNcf` when it
    replaces a paper receipt, `archived` when its documents left the database, `metadata` when it came with some,
    `legend` before the verdict in a contingency and where sending is deferred.
    """
    tracked: _Known = {"trackId": record.track_id} if record.track_id is not None else {}
    known: _Known = {}
    if record.e_ncf is not None:
        known = {"eNCF": record.e_ncf, "numberFate": record.number_fate}
    if record.warnings:
        # As `serialize_problems` wrote them.
        known["warnings"] = say_problems(cast(list[DocumentProblem], record.warnings), language)
    if record.status != Status.ACCEPTED and (explained := _explained(record.response, language)):
        known["explained"] = explained
    if other is not None and other.approved is not None and other.approved_at is not None:
        known["approvalStatus"] = "approved" if other.approved else "rejected"
        if not other.approved:
            known["approvalReason"] = other.approval_reason
        known["approvalAt"] = iso(other.approved_at)
    if other is not None and other.state is not None and other.changed_at is not None:
        known["receiver"] = serialize_handing(other.state, other.reason, other.changed_at)
    if (mail := serialize_mailing(record)) is not None:
        known["mail"] = mail
    if replaces is not None:
        known["replacesNcf"] = replaces
    if record.is_archived:
        known["archived"] = True
    if record.metadata is not None:
        known["metadata"] = record.metadata
    if legend is not None:
        known["legend"] = LEGENDS[legend]
    return {
        "taxLogId": str(record.submission_id),
        **tracked,
        "environment": record.environment,
        "status": record.status,
        "qrCodeUrl": record.qr_code_url,
        "securityCode": record.security_code,
        "ncfExpiration": record.ncf_expiration.strftime("%d-%m-%Y") if record.ncf_expiration else None,
        "fechaHoraFirma": _local(record.signed_at),
        "response": say_response(record.response, language),
        "submittedAt": iso(record.submitted_at),
        "updatedAt": iso(record.updated_at),
        "clientRequestId": record.client_request_id,
        **_facts(record),
        "readyToPrint": is_ready_to_print(record),
        "facts": serialize_document_facts(document_facts(record, other)),
        **known,
    }


def _explained(response: dict[str, Any] | None, language: Language) -> list[ExplainedMessage]:
    messages = (response or {}).get("mensajes")
    if not isinstance(messages, list):
        return []
    return [
        {
            "codigo": code,
            "meaning": one.meaning_es if language == "es" else one.meaning,
            "action": one.action_es if language == "es" else one.action,
        }
        for code, one in explain([message for message in messages if isinstance(message, dict)])
    ]


#: Types that the receiver may approve or reject.
_TAKE_APPROVAL = ("E31", "E33", "E34", "E44", "E45")


def takes_approval(record: Record) -> bool:
    """Tell whether the buyer may have said something of it: only of what is accepted, and of some types."""
    accepted = record.status in (Status.ACCEPTED, Status.CONDITIONAL)
    return accepted and record.e_ncf is not None and record.e_ncf.startswith(_TAKE_APPROVAL)


#: Operators, their notes, and names of machines are not shown to clients.
_INTERNAL = {"replayed": {"by", "reason"}, "discarded": {"by", "reason"}, "signed": {"process"}}


def serialize_event(event: Event) -> TimelineEvent:
    """Show one event of a submission, without what is internal to us."""
    hidden = _INTERNAL.get(event.kind, set())
    detail = {name: value for name, value in event.detail.items() if name not in hidden}
    return {"seq": event.seq, "at": iso(event.at), "kind": event.kind, "detail": detail}


def serialize_item(record: Record) -> SubmissionItem:
    """Show one item of the history."""
    tracked: _Tracked = {"trackId": record.track_id} if record.track_id is not None else {}
    numbered: _Numbered = {"eNCF": record.e_ncf} if record.e_ncf is not None else {}
    if record.metadata is not None:
        numbered["metadata"] = record.metadata
    return {
        "taxLogId": str(record.submission_id),
        **tracked,
        "environment": record.environment,
        "status": record.status,
        "qrCodeUrl": record.qr_code_url,
        "submittedAt": iso(record.submitted_at),
        "updatedAt": iso(record.updated_at),
        "clientRequestId": record.client_request_id,
        "securityCode": record.security_code,
        "fechaHoraFirma": _local(record.signed_at),
        **_facts(record),
        "readyToPrint": is_ready_to_print(record),
        "facts": serialize_document_facts(document_facts(record)),
        **numbered,
    }


def document_facts(record: Record, other: OtherSide | None = None) -> Milestones:
    """Derive the facts from what is stored."""
    handed = other.changed_at if other is not None and other.state is HandingState.DELIVERED else None
    mailed = record.mail_at if record.mail_state is MailState.SENT else None
    delivered = latest((record.delivered_at, handed, mailed))
    return Milestones(record.signed_at, record.first_answer_at, record.verdict_at, delivered, record.is_deferred)


def is_ready_to_print(record: Record) -> bool:
    """Whether a receipt has all that its paper shows, and may still be worth something."""
    return record.security_code is not None and record.status not in (Status.REJECTED, Status.ERROR)


def _facts(record: Record) -> PrintedFacts:
    return serialize_facts(record.ecf_type, record.buyer_rnc, record.facts)


def _local(moment: datetime | None) -> str | None:
    """The moment of signing as the document says it: in local time, to the second."""
    return moment.astimezone(ZONE).isoformat(timespec="seconds") if moment is not None else None
