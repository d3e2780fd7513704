"""Submissions as clients see them: the fields of interface.md#reading, in its order."""

from datetime import datetime
from typing import Any

from fe.ecf.dates import ZONE
from fe.http.parameters import iso
from fe.lifecycle import Status
from fe.store.received import Approval
from fe.store.submissions import Event, Record


def serialize_record(record: Record) -> dict[str, Any]:
    """Show a submission. `trackId` is absent until the authority has given one; the rest is null until it is known.

    `eNCF` and `numberFate` are there when the document has a fiscal number, `warnings` when something was assumed.
    """
    fields: dict[str, Any] = {"taxLogId": str(record.submission_id)}
    if record.track_id is not None:
        fields["trackId"] = record.track_id
    fields |= {
        "environment": record.environment,
        "status": record.status,
        "qrCodeUrl": record.qr_code_url,
        "securityCode": record.security_code,
        "ncfExpiration": record.ncf_expiration.strftime("%d-%m-%Y") if record.ncf_expiration else None,
        "fechaHoraFirma": _local(record.signed_at),
        "response": record.response,
        "submittedAt": iso(record.submitted_at),
        "updatedAt": iso(record.updated_at),
        "clientRequestId": record.client_request_id,
    }
    if record.e_ncf is not None:
        fields |= {"eNCF": record.e_ncf, "numberFate": record.number_fate}
    if record.warnings:
        fields["warnings"] = record.warnings
    return fields


#: What its receiver may approve or reject.
_TAKE_APPROVAL = ("E31", "E33", "E34", "E44", "E45")


def takes_approval(record: Record) -> bool:
    """Tell whether the buyer may have said something of it: only of what is accepted, and of some types."""
    accepted = record.status in (Status.ACCEPTED, Status.CONDITIONAL)
    return accepted and record.e_ncf is not None and record.e_ncf.startswith(_TAKE_APPROVAL)


def serialize_approval(approval: Approval | None) -> dict[str, Any]:
    """Show what the buyer said; nothing where they said nothing."""
    if approval is None:
        return {}
    if approval.approved:
        return {"approvalStatus": "approved"}
    return {"approvalStatus": "rejected", "approvalReason": approval.reason}


#: Who the operator was and what they noted down is not shown to clients.
_INTERNAL = {"replayed": {"by", "reason"}, "discarded": {"by", "reason"}}


def serialize_event(event: Event) -> dict[str, Any]:
    """Show one event of a submission, without what is internal to us."""
    hidden = _INTERNAL.get(event.kind, set())
    detail = {name: value for name, value in event.detail.items() if name not in hidden}
    return {"seq": event.seq, "at": iso(event.at), "kind": event.kind, "detail": detail}


def serialize_item(record: Record) -> dict[str, Any]:
    """Show one item of the history."""
    fields: dict[str, Any] = {"taxLogId": str(record.submission_id)}
    if record.track_id is not None:
        fields["trackId"] = record.track_id
    return fields | {
        "environment": record.environment,
        "status": record.status,
        "qrCodeUrl": record.qr_code_url,
        "submittedAt": iso(record.submitted_at),
        "updatedAt": iso(record.updated_at),
        "clientRequestId": record.client_request_id,
    }


def _local(moment: datetime | None) -> str | None:
    """The moment of signing as the document says it: in local time, to the second."""
    return moment.astimezone(ZONE).isoformat(timespec="seconds") if moment is not None else None
