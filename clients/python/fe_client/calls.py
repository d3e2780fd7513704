"""Everything that can be asked of the service: of each call its parameters, and the plan of it.

`Fe` has these as methods that block, `AsyncFe` as methods to be awaited.
"""

import base64
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from difflib import get_close_matches
from typing import Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack, cast, get_args
from urllib.parse import quote

from fe_client.errors import (
    AnswerLostError,
    FeError,
    NotThereError,
    NoVerdictYetError,
    ReusedIdError,
    ServerAwayError,
    ThrottledError,
    UnavailableError,
)
from fe_client.models import (
    AcceptedSubmission,
    ApprovalTaken,
    ArchiveList,
    AskedRange,
    AuthorityHealth,
    BatchItem,
    BillingPeriod,
    ChangedSequence,
    CustomerItem,
    CustomerRequest,
    DecidedItem,
    Deduped,
    Deleted,
    Delivery,
    DeliveryAgain,
    DeliveryDetail,
    EntryDeleted,
    ExpenseAnswer,
    ExpenseRequest,
    FailedRequestAnswer,
    ImportAnswer,
    InvoicePreview,
    Lease,
    LeaseRequest,
    MailSettingsAnswer,
    MailSettingsRequest,
    ModeAnswer,
    MonthAnswer,
    NewSequence,
    NewStructuredInvoice,
    NewXmlInvoice,
    NumberSequence,
    PaperContent,
    PaperEnteredAnswer,
    PaperRangeAnswer,
    PaperRangeDeleted,
    PaperRangesAnswer,
    PaperReceiptAnswer,
    PaperReceiptRequest,
    PaperReceiptsAnswer,
    PrintSettingsAnswer,
    PrintSettingsRequest,
    ProductItem,
    ProductRequest,
    ProposalsAnswer,
    PurchasesAnswer,
    ReceivedItem,
    ReceivedXml,
    Recovery,
    RecurringAnswer,
    RecurringDeleted,
    RecurringRequest,
    RecurringSummary,
    ReplacementsAnswer,
    RevokedAnswer,
    SandboxApproval,
    SandboxOutage,
    SandboxReceipt,
    Sequences,
    SharedAnswer,
    Simulate,
    StatusAnswer,
    Submission,
    SubmissionItem,
    SubmissionXml,
    TaxpayerAnswer,
    Timeline,
    Token,
    UsageReport,
    Validation,
    VoidedAnswer,
    VoidingAnswer,
    VoidingsAnswer,
    Webhook,
    WebhookDeleted,
    WebhookRequest,
    Webhooks,
)
from fe_client.plans import Plan, Sink, Sleep, retry_after, written
from fe_client.session import Session, found

T = TypeVar("T")

#: A receipt: the payload of a structured one (annotate it as `Ecf31` and its like, and a type checker knows it), or
#: finished XML as a text.
Document: TypeAlias = str | Mapping[str, Any]
Moment: TypeAlias = str | date | datetime
Roll: TypeAlias = Literal["80mm", "58mm"]
Layout: TypeAlias = Literal["letter", "a4"] | Roll
Language: TypeAlias = Literal["es", "en"]
Qr: TypeAlias = Literal["native", "raster"]
Until: TypeAlias = Literal["verdict", "signed"]

#: Final statuses.
FINAL = frozenset({"Aceptado", "Aceptado Condicional", "Rechazado", "error"})

_PDF, _TICKET, _ZIP = "application/pdf", "application/octet-stream", "application/zip"
_XML = "application/xml"
_XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_LONGEST_WAIT = 30
_ASK_AGAIN = 5.0


class ReceiptFilter(TypedDict, total=False):
    """Filters by the content of receipts, issued or received. `text` and totals need a period of at most 93 days."""

    tipo_ecf: str
    issued_from: date | str
    issued_to: date | str
    total_from: str
    total_to: str
    text: str


def _chosen(given: ReceiptFilter) -> dict[str, str | None]:
    unknown = set(given) - set(ReceiptFilter.__annotations__)
    if unknown:
        raise TypeError(f"there is no filter {', '.join(sorted(unknown))}")
    return {
        "tipoEcf": given.get("tipo_ecf"),
        "issuedFrom": _moment(given.get("issued_from")),
        "issuedTo": _moment(given.get("issued_to")),
        "totalFrom": given.get("total_from"),
        "totalTo": given.get("total_to"),
        "text": given.get("text"),
    }


def login(session: Session) -> Plan[Token]:
    """Get a new token now. Every other call gets one by itself, and renews it; this tells whether the key is good."""
    return session.login()


def call(
    session: Session, method: str, path: str, body: object = None, *, query: Mapping[str, object] | None = None
) -> Plan[Any]:
    """Make any call, such as `call("PUT", "/printing", {"footer": "Gracias"})`. Returns the answer as it is.

    A GET is repeated where that may help, anything else only where nothing was sent: a method of its own knows better.
    """
    return session.call(method, path, query=query, body=body, repeatable=method == "GET")


def submit(
    session: Session,
    document: Document,
    *,
    client_request_id: str | None = None,
    as_user: str | None = None,
    as_user_id: str | None = None,
    strict: bool | None = None,
    simulate: Simulate | None = None,
    notify: str | None = None,
    sequence: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Plan[AcceptedSubmission | Deduped]:
    """Submit a receipt. It is stored once, also when the call is repeated after a lost answer; its verdict comes later.

    With a `client_request_id` of your own (your order's number) you may repeat the call yourself, tomorrow or in
    another process, without issuing twice; without one the client makes one for this call, and errors carry it. A
    receipt with problems is refused at once, unless `strict` (here, or of the client) is False. `simulate` asks a
    sandbox for an outcome. `notify` is the address that the accepted receipt is mailed to, where your mail is on.
    `sequence` is the name of the sequence that gives the number, where you have several of a type. `metadata` are your
    own labels, which come back with the submission, and which `invoices` filters by.

    Raises InvalidError with `problems`, ReusedIdError, and what every call may raise.
    """
    request_id = client_request_id or str(uuid.uuid4())
    is_strict = session.strict if strict is None else strict
    handed_in = _handed_in(document, as_user, as_user_id, simulate, is_strict, notify, sequence)
    labels = {} if metadata is None else {"metadata": dict(metadata)}
    body = {**handed_in, **labels, "clientRequestId": request_id}
    taken: AcceptedSubmission | Deduped = yield from session.call("POST", "/invoices", body=body, request_id=request_id)
    if taken.get("bodyMatched") is False:
        reused = ReusedIdError(cast(Deduped, taken))
        reused.client_request_id = request_id
        raise reused
    return taken


def submit_and_wait(
    session: Session,
    document: Document,
    *,
    timeout: float = 180.0,
    until: Until = "verdict",
    client_request_id: str | None = None,
    as_user: str | None = None,
    as_user_id: str | None = None,
    strict: bool | None = None,
    simulate: Simulate | None = None,
    notify: str | None = None,
    sequence: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> Plan[Submission]:
    """Submit a receipt as `submit` does, and wait for its verdict: `status` says what it was, `Rechazado` included.

    `until` "signed" waits for the signature alone: then it can be printed.

    Raises NoVerdictYetError after `timeout` seconds. Then it is still on its way: go on with `wait`, or call this again
    with the same `client_request_id`.
    """
    request_id = client_request_id or str(uuid.uuid4())
    ends = session.clock() + timeout
    taken = yield from submit(
        session,
        document,
        client_request_id=request_id,
        as_user=as_user,
        as_user_id=as_user_id,
        strict=strict,
        simulate=simulate,
        notify=notify,
        sequence=sequence,
        metadata=metadata,
    )
    try:
        return (yield from wait(session, taken["taxLogId"], timeout=ends - session.clock(), until=until))
    except FeError as error:
        error.client_request_id = request_id
        raise


def wait(session: Session, track_or_id: str, *, timeout: float = 180.0, until: Until = "verdict") -> Plan[Submission]:
    """Wait until a submission has its verdict, or can be printed (`until` "signed").

    Troubles on the way are borne until `timeout`. Raises NotThereError where nothing of yours has that id,
    NoVerdictYetError after `timeout` seconds, or the trouble that lasted until then.
    """
    ends = session.clock() + timeout
    more = {"until": "signed"} if _is_signed_enough(until) else {}
    while True:
        began = session.clock()
        asked = max(0, min(_LONGEST_WAIT, int(ends - began)))
        trouble: FeError | None = None
        again: float | None = None
        try:
            answer = yield from session.exchange("GET", _one(track_or_id), query={"wait": asked, **more}, wait=asked)
        except (ServerAwayError, AnswerLostError, ThrottledError, UnavailableError) as error:
            trouble = error
            again = getattr(error, "retry_after", None)
        else:
            submission: Submission | None = found(answer.body)
            if submission is None:
                raise NotThereError(200, f"nothing of yours has the id {track_or_id}")
            if submission["status"] in FINAL or (more and submission.get("readyToPrint")):
                return submission
            trouble = NoVerdictYetError(submission)
            again = retry_after(answer.headers)
        left = ends - session.clock()
        if left <= 0:
            raise trouble
        # After a whole wait ask again at once; after an early answer wait as the answer says.
        if isinstance(trouble, NoVerdictYetError) and 0 < asked <= session.clock() - began:
            continue
        yield Sleep(min(left, _ASK_AGAIN if again is None else again))


def _is_signed_enough(until: str) -> bool:
    if until not in get_args(Until):
        raise TypeError(f"until must be verdict or signed, and not {until}")
    return until == "signed"


def status(session: Session, track_or_id: str, *, wait: int = 0) -> Plan[Submission | None]:
    """Ask how it stands with a submission; None: nothing of yours has that id.

    With `wait` the service answers as soon as there is a verdict, at the latest after that many seconds (30 at most).
    """
    return session.find("GET", _one(track_or_id), query={"wait": wait or None}, wait=wait)


def xml(session: Session, track_or_id: str) -> Plan[SubmissionXml | None]:
    """Fetch the document of a submission: once signed, the legal proof. None: nothing of yours has that id."""
    return session.find("GET", f"{_one(track_or_id)}/xml")


def pdf(
    session: Session, track_or_id: str, *, layout: Layout | None = None, language: Language | None = None
) -> Plan[bytes]:
    """Print a receipt as PDF, as your settings say where the call does not.

    Raises NotThereError, and ConflictError while it is not signed.
    """
    return session.fetch(f"{_one(track_or_id)}/pdf", _PDF, layout=layout, language=language)


def pdfs(
    session: Session,
    ids: Sequence[str] | None = None,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    state: str | None = None,
    encf: str | None = None,
    client_request_id: str | None = None,
    rnc: str | None = None,
    layout: Layout | None = None,
    language: Language | None = None,
    to: Sink | None = None,
    **content: Unpack[ReceiptFilter],
) -> Plan[bytes]:
    """Print many receipts, of these ids or as `invoices` chooses them: a ZIP of each one's PDF and XML, and a manifest.

    At most 1,000. `to` is a binary file that takes the ZIP as it arrives; none of it is returned then, and a ZIP that
    breaks off is not asked for again. Raises NotThereError where an id is none of yours, or nothing is chosen.
    """
    query = {"state": state, "encf": encf, "clientRequestId": client_request_id, "rnc": rnc, **_chosen(content)}
    return _archive(session, "/invoices/pdf", ids, since, until, layout, language, to, query)


def ticket(
    session: Session,
    track_or_id: str,
    *,
    layout: Roll | None = None,
    language: Language | None = None,
    qr: Qr | None = None,
) -> Plan[bytes]:
    """Print a receipt as bytes for a receipt printer (ESC/POS); `qr` `raster` draws the code. Raises as `pdf` does."""
    return session.fetch(f"{_one(track_or_id)}/ticket", _TICKET, layout=layout, language=language, qr=qr)


def qr_png(session: Session, track_or_id: str) -> Plan[bytes]:
    """Draw a receipt's QR code as PNG. Raises as `pdf` does."""
    return session.fetch(f"{_one(track_or_id)}/qr.png", "image/png")


def qr_svg(session: Session, track_or_id: str) -> Plan[bytes]:
    """Draw a receipt's QR code as SVG. Raises as `pdf` does."""
    return session.fetch(f"{_one(track_or_id)}/qr.svg", "image/svg+xml")


def timeline(session: Session, track_or_id: str) -> Plan[Timeline | None]:
    """Read every event of a submission, oldest first. None: nothing of yours has that id."""
    return session.find("GET", f"{_one(track_or_id)}/timeline")


def share(session: Session, track_or_id: str) -> Plan[SharedAnswer]:
    """Share an accepted receipt with its buyer: `url` leads to its page. A repeat gives the same link.

    Raises NotThereError, and ConflictError where it is not accepted, or no page is served.
    """
    return session.call("POST", f"{_one(track_or_id)}/share")


def revoke_share(session: Session, track_or_id: str) -> Plan[RevokedAnswer]:
    """End every link to a receipt. Raises NotThereError."""
    return session.call("DELETE", f"{_one(track_or_id)}/share")


def validate(
    session: Session,
    document: Document,
    *,
    as_user: str | None = None,
    as_user_id: str | None = None,
    simulate: Simulate | None = None,
    sequence: str | None = None,
) -> Plan[Validation]:
    """List all problems of a receipt, without submitting it."""
    body = _handed_in(document, as_user, as_user_id, simulate, sequence=sequence)
    return session.call("POST", "/invoices/validate", body=body)


def preview(
    session: Session,
    document: Document,
    *,
    as_user: str | None = None,
    as_user_id: str | None = None,
    simulate: Simulate | None = None,
    sequence: str | None = None,
) -> Plan[InvoicePreview]:
    """Show a receipt as it would be signed now: number, totals, defaults and problems. No number is drawn."""
    body = _handed_in(document, as_user, as_user_id, simulate, sequence=sequence)
    return session.call("POST", "/invoices/preview", body=body)


def batch(session: Session, items: Iterable[Mapping[str, Any]], *, strict: bool | None = None) -> Plan[list[BatchItem]]:
    """Submit many receipts; the result has, in their order, the answer that `submit` would have given for each.

    Each is a dict with `format` and `payload` or `xml`, and best a `clientRequestId` of yours; the client adds one if
    there is none, so that a lost answer issues nothing twice. More than 500, or more than one request can hold, go in
    several requests, one after the other; an error then carries the results before it as `items`. A receipt with
    problems is refused alone, unless `strict` (here, or of the client) is False.
    """
    is_strict = session.strict if strict is None else strict
    given = [
        {
            "clientRequestId": str(uuid.uuid4()),
            **_without_none(_known("batch", item, NewStructuredInvoice, NewXmlInvoice)),
        }
        for item in items
    ]
    answered: list[BatchItem] = []
    for part in _parts(given):
        try:
            answered += yield from session.items("POST", "/invoices/batch", body={"items": part, "strict": is_strict})
        except FeError as error:
            error.items = answered
            raise
    return answered


#: Most receipts and bytes of one request; the service's own limit of bytes is 1 MiB.
_BATCH_ITEMS, _BATCH_BYTES = 500, 1_000_000


def _parts(items: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Cut a batch into requests by count and bytes. One receipt alone may be as large as it is."""
    part: list[dict[str, Any]] = []
    size = 0
    for item in items:
        length = len(written(item)) + 1
        if part and (len(part) == _BATCH_ITEMS or size + length > _BATCH_BYTES):
            yield part
            part, size = [], 0
        part.append(item)
        size += length
    if part:
        yield part


def ncf(session: Session) -> Plan[Sequences]:
    """List the number sequences that are configured, and the types there are."""
    return session.call("GET", "/ncf")


def put_ncf(session: Session, sequence: NewSequence) -> Plan[NumberSequence]:
    """Create or replace the sequence of a prefix, or the one of this `name`. Fields left out take their defaults."""
    return session.call("POST", "/ncf", body=_known("put_ncf", sequence, NewSequence))


def change_ncf(
    session: Session, prefix: str, changes: ChangedSequence, *, name: str | None = None
) -> Plan[NumberSequence]:
    """Change only the named fields of a sequence, or of the one of this name. Raises NotThereError, ConflictError."""
    body, query = _known("change_ncf", changes, ChangedSequence), _without_none({"name": name})
    return session.call("PATCH", f"/ncf/{_in_path(prefix)}", query=query, body=body)


def delete_ncf(session: Session, prefix: str, *, name: str | None = None) -> Plan[Deleted]:
    """Delete the sequence of a prefix, or the one of this name. Raises NotThereError where there is none."""
    return session.call("DELETE", f"/ncf/{_in_path(prefix)}", query=_without_none({"name": name}), repeatable=False)


def lease_agent(session: Session, agent_id: str, lease: LeaseRequest) -> Plan[Lease]:
    """Give an agent at a till its next lease. Raises ConflictError where a copy of it took one since."""
    body = _known("lease_agent", lease, LeaseRequest)
    return session.call("PUT", f"/agents/{_in_path(agent_id)}", body=body)


def received_document(session: Session, received_id: str) -> Plan[ReceivedItem | None]:
    """Show a document that a supplier issued to you. None: there is none with that id."""
    return session.find("GET", f"/received/{_in_path(received_id)}")


def received_xml(session: Session, received_id: str) -> Plan[ReceivedXml | None]:
    """Fetch it byte for byte, and the acknowledgement that was given for it. None: there is none with that id."""
    return session.find("GET", f"/received/{_in_path(received_id)}/xml")


def received_pdfs(
    session: Session,
    ids: Sequence[str] | None = None,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    encf: str | None = None,
    rnc: str | None = None,
    layout: Layout | None = None,
    language: Language | None = None,
    to: Sink | None = None,
    **content: Unpack[ReceiptFilter],
) -> Plan[bytes]:
    """Print many received documents, of these ids or as `received` chooses them, as `pdfs` does."""
    query = {"encf": encf, "rnc": rnc, **_chosen(content)}
    return _archive(session, "/received/pdf", ids, since, until, layout, language, to, query)


def received_pdf(
    session: Session, received_id: str, *, layout: Layout | None = None, language: Language | None = None
) -> Plan[bytes]:
    """Print a document that a supplier issued to you as PDF. Raises NotThereError."""
    return session.fetch(f"/received/{_in_path(received_id)}/pdf", _PDF, layout=layout, language=language)


def received_ticket(
    session: Session,
    received_id: str,
    *,
    layout: Roll | None = None,
    language: Language | None = None,
    qr: Qr | None = None,
) -> Plan[bytes]:
    """Print it as bytes for a receipt printer (ESC/POS), as `ticket` does. Raises NotThereError."""
    path = f"/received/{_in_path(received_id)}/ticket"
    return session.fetch(path, _TICKET, layout=layout, language=language, qr=qr)


def received_qr_png(session: Session, received_id: str) -> Plan[bytes]:
    """Draw its QR code as PNG. Raises NotThereError."""
    return session.fetch(f"/received/{_in_path(received_id)}/qr.png", "image/png")


def received_qr_svg(session: Session, received_id: str) -> Plan[bytes]:
    """Draw its QR code as SVG. Raises NotThereError."""
    return session.fetch(f"/received/{_in_path(received_id)}/qr.svg", "image/svg+xml")


def approve(
    session: Session,
    received_id: str,
    *,
    client_request_id: str | None = None,
    as_user: str | None = None,
    as_user_id: str | None = None,
) -> Plan[ApprovalTaken]:
    """Approve a received document. Raises NotThereError, and ConflictError where the contrary was said before."""
    body = _decision(client_request_id, as_user, as_user_id)
    path = f"/received/{_in_path(received_id)}/approve"
    return session.call("POST", path, body=body, request_id=body["clientRequestId"])


def reject(
    session: Session,
    received_id: str,
    reason: str,
    *,
    client_request_id: str | None = None,
    as_user: str | None = None,
    as_user_id: str | None = None,
) -> Plan[ApprovalTaken]:
    """Reject a received document, for a reason that its issuer and the authority read. Raises as `approve` does."""
    body = {**_decision(client_request_id, as_user, as_user_id), "reason": reason}
    path = f"/received/{_in_path(received_id)}/reject"
    return session.call("POST", path, body=body, request_id=body["clientRequestId"])


#: Ids of one request.
_DECIDED = 100


def decide(
    session: Session,
    decision: Literal["approved", "rejected"],
    ids: Sequence[str],
    *,
    reason: str | None = None,
    as_user: str | None = None,
    as_user_id: str | None = None,
) -> Plan[list[DecidedItem]]:
    """Approve or reject many received documents, 100 in a request; a rejection has a reason. Repeating it is safe.

    Each is decided by itself: `statusCode` says what became of it, as `approve` and `reject` would. An error carries
    the results of the requests before it as `items`.
    """
    said = _without_none({"reason": reason, "asUser": as_user, "asUserId": as_user_id})
    answered: list[DecidedItem] = []
    for first in range(0, len(ids), _DECIDED):
        body = {"decision": decision, "ids": list(ids[first : first + _DECIDED]), **said}
        try:
            answered += yield from session.items("POST", "/received/approvals", body=body)
        except FeError as error:
            error.items = answered
            raise
    return answered


def printing(session: Session) -> Plan[PrintSettingsAnswer]:
    """Show how your receipts are printed where a call says nothing else."""
    return session.call("GET", "/printing")


def set_printing(session: Session, settings: PrintSettingsRequest) -> Plan[PrintSettingsAnswer]:
    """Set how your receipts are printed; `logo` is base64. Members left out take defaults. Raises InvalidError."""
    return session.call("PUT", "/printing", body=_known("set_printing", settings, PrintSettingsRequest))


def import_receipts(session: Session, content: bytes, name: str = "receipts.xlsx") -> Plan[ImportAnswer]:
    """Upload an .xlsx, .ods or .csv whose rows are receipts, to be validated; the same file again is the same import.

    Raises InvalidError where it cannot be read.
    """
    body = {"name": name, "content": base64.b64encode(content).decode()}
    return session.call("POST", "/imports", body=body)


def import_status(session: Session, import_id: str) -> Plan[ImportAnswer]:
    """Ask how far an import is: its counts, and the first faults. Raises NotThereError."""
    return session.call("GET", f"/imports/{_in_path(import_id)}")


def issue_import(session: Session, import_id: str) -> Plan[ImportAnswer]:
    """Issue the valid receipts of an import, or go on with them. Raises NotThereError, ConflictError."""
    return session.call("POST", f"/imports/{_in_path(import_id)}/issue")


def import_workbook(session: Session, import_id: str) -> Plan[bytes]:
    """Fetch the file back, with errors, state and number in each row. Raises NotThereError."""
    return session.fetch(f"/imports/{_in_path(import_id)}/workbook", _TICKET)


def import_template(session: Session, prefix: str) -> Plan[bytes]:
    """Fetch the template of a type (`E31`), an .xlsx. Raises InvalidError."""
    return session.fetch(f"/imports/templates/{_in_path(prefix)}", _XLSX)


def authority(session: Session) -> Plan[AuthorityHealth]:
    """Show whether the authority answers, as the service measured it."""
    return session.call("GET", "/authority")


def service_status(session: Session) -> Plan[StatusAnswer]:
    """Show how the service itself is, now and on the last 90 days, as it measured itself."""
    return session.call("GET", "/status")


def mode(session: Session) -> Plan[ModeAnswer]:
    """Show how you issue now: normally, or in which contingency."""
    return session.call("GET", "/contingency")


def set_mode(session: Session, mode: str, reason: str) -> Plan[ModeAnswer]:
    """Say that your own line is down (`offline`) or back (`normal`). Raises InvalidError, ConflictError."""
    return session.call("POST", "/contingency", body={"mode": mode, "reason": reason})


def sandbox_receipt(session: Session, *, e_ncf: str | None = None) -> Plan[SandboxReceipt]:
    """Have the simulated supplier of a sandbox send you a receipt. Raises ConflictError where there is none."""
    body = {} if e_ncf is None else {"eNCF": e_ncf}
    return session.call("POST", "/sandbox/receipts", body=body, repeatable=False)


def sandbox_approval(
    session: Session, tax_log_id: str, decision: Literal["approved", "rejected"], *, reason: str | None = None
) -> Plan[SandboxApproval]:
    """Have the simulated buyer of a sandbox approve a receipt of yours, or reject it for a `reason`.

    Raises NotThereError, ConflictError and InvalidError.
    """
    body = {"taxLogId": tax_log_id, "decision": decision, **({} if reason is None else {"reason": reason})}
    return session.call("POST", "/sandbox/approvals", body=body)


def sandbox_outage(session: Session, seconds: int) -> Plan[SandboxOutage]:
    """Have the authority of a sandbox be away for your company, up to 600 seconds from now; 0 ends it.

    Raises InvalidError and ConflictError.
    """
    return session.call("POST", "/sandbox/outages", body={"seconds": seconds})


def paper_ranges(session: Session) -> Plan[PaperRangesAnswer]:
    """List the ranges of series B."""
    return session.call("GET", "/paper-ranges")


def add_paper_range(session: Session, first: str, last: str, expires_on: str) -> Plan[PaperRangeAnswer]:
    """Record a range of series B, both ends included. Raises InvalidError, ConflictError."""
    return session.call("POST", "/paper-ranges", body={"first": first, "last": last, "expiresOn": expires_on})


def delete_paper_range(session: Session, range_id: str) -> Plan[PaperRangeDeleted]:
    """Delete a range without receipts. Raises NotFoundError, ConflictError."""
    return session.call("DELETE", f"/paper-ranges/{_in_path(range_id)}")


def paper_receipts(
    session: Session, *, only_open: bool = False, cursor: str | None = None
) -> Plan[PaperReceiptsAnswer]:
    """List paper receipts by number, a page from `cursor` on; `only_open`: those without an accepted e-CF."""
    query = {"state": "open" if only_open else None, "cursor": cursor}
    return session.call("GET", "/paper-receipts", query=query)


def enter_paper_receipts(session: Session, receipts: Sequence[PaperReceiptRequest]) -> Plan[PaperEnteredAnswer]:
    """Enter up to 100 receipts that were issued on paper; the answer has the result of each."""
    return session.call("POST", "/paper-receipts", body={"receipts": list(receipts)})


def paper_receipt(session: Session, ncf: str) -> Plan[PaperReceiptAnswer]:
    """Show a paper receipt. Raises NotFoundError."""
    return session.call("GET", f"/paper-receipts/{_in_path(ncf)}")


def correct_paper_receipt(session: Session, ncf: str, content: PaperContent) -> Plan[PaperReceiptAnswer]:
    """Correct a paper receipt that has no e-CF. Raises InvalidError, NotFoundError, ConflictError."""
    return session.call("PUT", f"/paper-receipts/{_in_path(ncf)}", body=content)


def replace_paper_receipts(session: Session, ncfs: Sequence[str] | None = None) -> Plan[ReplacementsAnswer]:
    """Issue the e-CF of paper receipts: of those named, or of the first hundred that are open. It may be repeated."""
    return session.call("POST", "/paper-receipts/replacements", body={} if ncfs is None else {"ncfs": list(ncfs)})


def voidable(session: Session, prefix: str | None = None) -> Plan[ProposalsAnswer]:
    """List the numbers that can be voided, of one type (`E31`) or of all."""
    return session.call("GET", "/voidings/proposals", query={"prefix": prefix})


def void_numbers(
    session: Session, ranges: Sequence[AskedRange], reason: int, client_request_id: str | None = None
) -> Plan[VoidingAnswer]:
    """Void numbers for good that were never sent nor handed over. Raises InvalidError, ConflictError.

    `reason` is the kind of the 608, 1 to 8. With the same `client_request_id` it is requested once; default: a new one.
    """
    body = {"ranges": list(ranges), "reason": reason, "clientRequestId": client_request_id or str(uuid.uuid4())}
    return session.call("POST", "/voidings", body=body)


def voidings(session: Session) -> Plan[VoidingsAnswer]:
    """List the newest hundred voidings."""
    return session.call("GET", "/voidings")


def voiding(session: Session, voiding_id: str) -> Plan[VoidingAnswer]:
    """Show a voiding. Raises NotThereError."""
    return session.call("GET", f"/voidings/{_in_path(voiding_id)}")


def voiding_xml(session: Session, voiding_id: str) -> Plan[bytes]:
    """Fetch the signed ANECF of a voiding. Raises NotThereError, ConflictError."""
    return session.fetch(f"/voidings/{_in_path(voiding_id)}/xml", _XML)


def month_608(session: Session, month: str) -> Plan[VoidedAnswer]:
    """Write the 608 of a month such as `2026-11`: `content`. Raises ConflictError."""
    return session.call("GET", f"/months/{_in_path(month)}/608")


def month(session: Session, month: str) -> Plan[MonthAnswer]:
    """Sum up a month such as `2026-11`, by the days of issue in Santo Domingo."""
    return session.call("GET", f"/months/{_in_path(month)}")


def month_workbook(session: Session, month: str) -> Plan[bytes]:
    """Fetch a month as a workbook (.xlsx): totals, receipts issued and received, numbers."""
    return session.fetch(f"/months/{_in_path(month)}/xlsx", _XLSX)


def month_archive(
    session: Session,
    month: str,
    *,
    layout: Layout | None = None,
    language: Language | None = None,
    to: Sink | None = None,
) -> Plan[bytes]:
    """Fetch PDF and XML of all receipts of a month in a ZIP, issued and received; `to` as in `pdfs`.

    Raises NotThereError where there is none, and InvalidError where there are more than 5,000.
    """
    query = {"layout": layout, "language": language}
    path = f"/months/{_in_path(month)}/zip"
    answer = yield from session.exchange("GET", path, query=query, wait=600.0, media_type=_ZIP, sink=to)
    content: bytes = answer.body
    return content


def archive_packages(session: Session, *, cursor: int | None = None) -> Plan[ArchiveList]:
    """List the packages of your archive, newest first, a page from `cursor` on."""
    return session.call("GET", "/archive", query={"cursor": cursor})


def archive_time_stamp(session: Session, number: int) -> Plan[bytes]:
    """Fetch the time stamp of an archive package, an RFC 3161 token. Raises NotFoundError."""
    answer = yield from session.exchange("GET", f"/archive/{number}/tst", media_type="application/octet-stream")
    content: bytes = answer.body
    return content


def archive_package(session: Session, number: int, *, to: Sink | None = None) -> Plan[bytes]:
    """Fetch an archive package, a ZIP; `to` as in `pdfs`. Raises NotFoundError."""
    answer = yield from session.exchange("GET", f"/archive/{number}/zip", wait=600.0, media_type=_ZIP, sink=to)
    content: bytes = answer.body
    return content


def month_606(session: Session, month: str) -> Plan[PurchasesAnswer]:
    """Write the 606 of a month: `content`, or None beside the list of what it lacks."""
    return session.call("GET", f"/months/{_in_path(month)}/606")


def classify_purchases(session: Session, rnc: str, expense: ExpenseRequest) -> Plan[ExpenseAnswer]:
    """Say what the 606 asks about a supplier, once; with `eNCF`, about one of its receipts."""
    body = _known("classify_purchases", expense, ExpenseRequest)
    return session.call("PUT", f"/expenses/{_in_path(rnc)}", body=body)


def usage(session: Session, *, days: int | None = None, today: bool = False) -> Plan[UsageReport]:
    """Read the usage of whole UTC days that end yesterday: 30, or as many as said (180 at most).

    With `today` the answer also has the emissions of today in Santo Domingo, until now.
    """
    return session.call("GET", "/usage", query={"days": days, "today": "true" if today else None})


def billing(session: Session) -> Plan[BillingPeriod]:
    """Read the running month's bill so far."""
    return session.call("GET", "/billing/current-period")


def mail(session: Session) -> Plan[MailSettingsAnswer]:
    """Show whether accepted receipts are sent to their buyers by mail, and how."""
    return session.call("GET", "/mail")


def set_mail(session: Session, settings: MailSettingsRequest) -> Plan[MailSettingsAnswer]:
    """Set it. With `enabled` False alone, mail is off and the other settings stay."""
    return session.call("PUT", "/mail", body=_known("set_mail", settings, MailSettingsRequest))


def customer(session: Session, entry_id: str) -> Plan[CustomerItem]:
    """Show a customer. Raises NotThereError."""
    return session.call("GET", f"/customers/{_in_path(entry_id)}")


def put_customer(session: Session, entry_id: str, entry: CustomerRequest) -> Plan[CustomerItem]:
    """Create or change a customer. Raises ConflictError where it is not at the `version` that was named."""
    body = _known("put_customer", entry, CustomerRequest)
    return session.call("PUT", f"/customers/{_in_path(entry_id)}", body=body)


def delete_customer(session: Session, entry_id: str, *, version: int | None = None) -> Plan[EntryDeleted]:
    """Delete a customer. Raises NotThereError, and ConflictError where it is at another version."""
    path = f"/customers/{_in_path(entry_id)}"
    return session.call("DELETE", path, query={"version": version}, repeatable=False)


def taxpayer(session: Session, rnc: str) -> Plan[TaxpayerAnswer]:
    """Look an RNC or cédula up in the authority's register. Raises NotThereError."""
    return session.call("GET", f"/rnc/{_in_path(rnc)}")


def product(session: Session, entry_id: str) -> Plan[ProductItem]:
    """Show a product. Raises NotThereError."""
    return session.call("GET", f"/products/{_in_path(entry_id)}")


def put_product(session: Session, entry_id: str, entry: ProductRequest) -> Plan[ProductItem]:
    """Create or change a product. Raises ConflictError where it is not at the `version` that was named."""
    body = _known("put_product", entry, ProductRequest)
    return session.call("PUT", f"/products/{_in_path(entry_id)}", body=body)


def delete_product(session: Session, entry_id: str, *, version: int | None = None) -> Plan[EntryDeleted]:
    """Delete a product. Raises NotThereError, and ConflictError where it is at another version."""
    path = f"/products/{_in_path(entry_id)}"
    return session.call("DELETE", path, query={"version": version}, repeatable=False)


def recurring_receipt(session: Session, recurring_id: str) -> Plan[RecurringAnswer]:
    """Show a recurring receipt with its turns. Raises NotThereError."""
    return session.call("GET", f"/recurring/{_in_path(recurring_id)}")


def put_recurring(session: Session, recurring_id: str, recurring: RecurringRequest) -> Plan[RecurringAnswer]:
    """Create or change a receipt that is issued every month. Raises ConflictError where it is at another `version`."""
    body = _known("put_recurring", recurring, RecurringRequest)
    return session.call("PUT", f"/recurring/{_in_path(recurring_id)}", body=body)


def delete_recurring(session: Session, recurring_id: str, *, version: int | None = None) -> Plan[RecurringDeleted]:
    """Delete a recurring receipt. Raises NotThereError, and ConflictError where it is at another version."""
    path = f"/recurring/{_in_path(recurring_id)}"
    return session.call("DELETE", path, query={"version": version}, repeatable=False)


def decide_recurring_turn(
    session: Session, recurring_id: str, month: str, action: Literal["issue", "skip"]
) -> Plan[RecurringAnswer]:
    """Issue the turn of a month (YYYY-MM) that was not issued, or skip one. Raises NotThereError, ConflictError."""
    path = f"/recurring/{_in_path(recurring_id)}/turns/{_in_path(month)}"
    return session.call("POST", path, body={"action": action}, repeatable=False)


def webhooks(session: Session) -> Plan[Webhooks]:
    """Get the webhook endpoint."""
    return session.call("GET", "/webhooks")


def set_webhook(session: Session, webhook: WebhookRequest) -> Plan[Webhook]:
    """Set the webhook endpoint. The first answer has the `secret`, shown only then; `rotate_webhook` makes another."""
    return session.call("PUT", "/webhooks", body=_known("set_webhook", webhook, WebhookRequest))


def webhook_endpoints(session: Session) -> Plan[list[Webhook]]:
    """List every webhook endpoint of the environment, the one named `default` included."""
    return session.items("GET", "/webhooks/endpoints")


def set_webhook_endpoint(session: Session, name: str, webhook: WebhookRequest) -> Plan[Webhook]:
    """Set one of several endpoints, by its name. The first answer has its `secret`, as that of `set_webhook`."""
    body = _known("set_webhook_endpoint", webhook, WebhookRequest)
    return session.call("PUT", f"/webhooks/endpoints/{_in_path(name)}", body=body)


def delete_webhook_endpoint(session: Session, name: str) -> Plan[WebhookDeleted]:
    """Delete an endpoint: what it was not delivered ends as failed. Raises NotThereError."""
    return session.call("DELETE", f"/webhooks/endpoints/{_in_path(name)}")


def rotate_webhook(session: Session, endpoint: str | None = None) -> Plan[Webhook]:
    """Rotate the signing secret; for a day the old one signs beside it."""
    return session.call("POST", f"{_endpoint(endpoint)}/rotate", repeatable=False)


def test_webhook(session: Session, endpoint: str | None = None) -> Plan[DeliveryAgain]:  # noqa: PT028  (no test)
    """Have a test event sent to you."""
    return session.call("POST", f"{_endpoint(endpoint)}/test", repeatable=False)


def _endpoint(name: str | None) -> str:
    return "/webhooks" if name is None else f"/webhooks/endpoints/{_in_path(name)}"


def delivery(session: Session, delivery_id: str) -> Plan[DeliveryDetail | None]:
    """Show a delivery and each of its tries. None: there is none with that id."""
    return session.find("GET", f"/webhooks/deliveries/{_in_path(delivery_id)}")


def retry_delivery(session: Session, delivery_id: str) -> Plan[DeliveryAgain]:
    """Have a delivery made again, under the same id.

    Raises NotThereError, and ConflictError while it is under way or its webhook is disabled.
    """
    path = f"/webhooks/deliveries/{_in_path(delivery_id)}/retry"
    return session.call("POST", path, repeatable=False)


def recover_webhook(session: Session, since: Moment, endpoint: str | None = None) -> Plan[Recovery]:
    """Redeliver every failed event since a time. Raises ConflictError while another is at it."""
    body = _without_none({"since": _moment(since), "endpoint": endpoint})
    return session.call("POST", "/webhooks/recover", body=body, repeatable=False)


def webhook_recoveries(session: Session) -> Plan[list[Recovery]]:
    """List the latest recoveries, newest first."""
    return session.items("GET", "/webhooks/recoveries")


class Pages(Generic[T]):
    """A list that is fetched page by page, newest first: what is added meanwhile does not shift it."""

    def __init__(self, session: Session, path: str, query: Mapping[str, object]) -> None:
        """Take what is listed."""
        self._session = session
        self._path = path
        self._query = query
        self._cursor: str | None = None
        #: Whether there is nothing more to fetch.
        self.ended = False

    def fetch(self) -> Plan[list[T]]:
        """Fetch the next page, which may be empty."""
        query = {**self._query, "cursor": self._cursor}
        page = yield from self._session.call("GET", self._path, query=query)
        self._cursor = page["nextCursor"]
        self.ended = self._cursor is None
        items: list[T] = page["items"]
        return items


def invoices(
    session: Session,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    state: str | None = None,
    encf: str | None = None,
    client_request_id: str | None = None,
    rnc: str | None = None,
    as_user: str | None = None,
    metadata: Mapping[str, str] | None = None,
    number_fate: str | None = None,
    page_size: int = 200,
    **content: Unpack[ReceiptFilter],
) -> Pages[SubmissionItem]:
    """Go through your submissions, newest first, fetching as it goes.

    `since` and `until` are dates (their start and end in UTC) or timestamps of submission; `rnc` is the buyer's.
    `metadata` is one label with its value, such as `{"branch": "norte"}`; it needs a period of at most 93 days,
    as `number_fate` does.
    """
    query = {
        "from": _moment(since),
        "to": _moment(until),
        "state": state,
        "encf": encf,
        "clientRequestId": client_request_id,
        "rnc": rnc,
        "asUser": as_user,
        "numberFate": number_fate,
        **{f"metadata[{name}]": value for name, value in (metadata or {}).items()},
        "limit": page_size,
        **_chosen(content),
    }
    return Pages(session, "/invoices", query)


def received(
    session: Session,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    encf: str | None = None,
    rnc: str | None = None,
    approval_status: str | None = None,
    page_size: int = 200,
    **content: Unpack[ReceiptFilter],
) -> Pages[ReceivedItem]:
    """Go through what suppliers issued to you, newest first; `rnc` is the supplier's."""
    query = {
        "from": _moment(since),
        "to": _moment(until),
        "encf": encf,
        "rnc": rnc,
        "approvalStatus": approval_status,
        "limit": page_size,
        **_chosen(content),
    }
    return Pages(session, "/received", query)


def customers(
    session: Session, *, q: str | None = None, rnc: str | None = None, page_size: int = 200
) -> Pages[CustomerItem]:
    """Go through your customers by name; `q` has beginnings of words of the name or the RNC."""
    return Pages(session, "/customers", {"q": q, "rnc": rnc, "limit": page_size})


def products(
    session: Session, *, q: str | None = None, code: str | None = None, page_size: int = 200
) -> Pages[ProductItem]:
    """Go through your products by name; `q` has beginnings of words of the name or the code."""
    return Pages(session, "/products", {"q": q, "code": code, "limit": page_size})


def recurring(session: Session, *, page_size: int = 200) -> Pages[RecurringSummary]:
    """Go through your recurring receipts by id."""
    return Pages(session, "/recurring", {"limit": page_size})


def deliveries(
    session: Session,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    state: str | None = None,
    event: str | None = None,
    about: str | None = None,
    endpoint: str | None = None,
    page_size: int = 200,
) -> Pages[Delivery]:
    """Go through the calls of your webhooks, newest first; `about` is a received document's id or a taxLogId."""
    query = {
        "from": _moment(since),
        "to": _moment(until),
        "state": state,
        "event": event,
        "about": about,
        "endpoint": endpoint,
        "limit": page_size,
    }
    return Pages(session, "/webhooks/deliveries", query)


def requests(
    session: Session,
    *,
    since: Moment | None = None,
    until: Moment | None = None,
    key: str | None = None,
    status: int | str | None = None,
    request_id: str | None = None,
    page_size: int = 200,
) -> Pages[FailedRequestAnswer]:
    """Go through your failed requests of the last 30 days, newest first; `status` is 400, "4xx" or "5xx"."""
    query = {
        "from": _moment(since),
        "to": _moment(until),
        "key": key,
        "status": status,
        "requestId": request_id,
        "limit": page_size,
    }
    return Pages(session, "/requests", query)


def _handed_in(
    document: Document,
    as_user: str | None,
    as_user_id: str | None,
    simulate: Simulate | None,
    strict: bool | None = None,
    notify: str | None = None,
    sequence: str | None = None,
) -> dict[str, Any]:
    form: dict[str, Any] = {"format": "structured", "payload": document}
    if isinstance(document, str):
        form = {"format": "xml", "xml": document}
    simulated = None if simulate is None else _known("simulate", simulate, Simulate)
    more = {
        "asUser": as_user,
        "asUserId": as_user_id,
        "simulate": simulated,
        "strict": strict,
        "notify": notify,
        "sequence": sequence,
    }
    return {**form, **_without_none(more)}


def _archive(
    session: Session,
    path: str,
    ids: Sequence[str] | None,
    since: Moment | None,
    until: Moment | None,
    layout: Layout | None,
    language: Language | None,
    to: Sink | None,
    query: Mapping[str, str | None],
) -> Plan[bytes]:
    on_paper = {"from": _moment(since), "to": _moment(until), "layout": layout, "language": language}
    body = None if ids is None else {"ids": list(ids)}
    answer = yield from session.exchange(
        "POST", path, query={**on_paper, **query}, body=body, wait=600.0, media_type=_ZIP, sink=to
    )
    content: bytes = answer.body
    return content


def _decision(client_request_id: str | None, as_user: str | None, as_user_id: str | None) -> dict[str, Any]:
    request_id = client_request_id or str(uuid.uuid4())
    return {"clientRequestId": request_id, **_without_none({"asUser": as_user, "asUserId": as_user_id})}


def _known(what: str, given: Mapping[str, Any], *models: type) -> Mapping[str, Any]:
    """Refuse members that a body does not have: the service would ignore them. Raises TypeError."""
    members = {name for model in models for name in model.__annotations__}
    for name in given:
        if name not in members:
            nearest = get_close_matches(name, members, n=1)
            meant = f"did you mean {nearest[0]}?" if nearest else f"there are {', '.join(sorted(members))}"
            raise TypeError(f"{what}: there is no {name}; {meant}")
    return given


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _one(track_or_id: str) -> str:
    return f"/invoices/{_in_path(track_or_id)}"


def _in_path(value: str) -> str:
    return quote(value, safe="")


def _moment(value: Moment | None) -> str | None:
    return value.isoformat() if isinstance(value, date) else value
