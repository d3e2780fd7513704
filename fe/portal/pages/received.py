"""Receipts received from suppliers: find, read, approve or reject."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import partial
from uuid import UUID

from fe.accounts import received_facts
from fe.ecf.catalogue import EcfType
from fe.ecf.dates import local
from fe.ecf.ids import moment_of
from fe.ecf.texts import Text
from fe.http.messages import of_decision, say
from fe.issuing.decide import MAX_REASON, is_reason
from fe.lifecycle import Status
from fe.portal import receipt_words as words
from fe.portal.answer_time import time_left
from fe.portal.csv_cells import CSV_TYPE, Cell, csv_file
from fe.portal.document_content import READING, content_of
from fe.portal.document_facts import name_shown
from fe.portal.document_view import show_document
from fe.portal.filters import Filters
from fe.portal.page_types import Needs, Page
from fe.portal.pages.received_decisions import REASONS, WHY, take_decision
from fe.portal.pages.submissions import presets, shown_days
from fe.portal.printing import options_asked, pdf_reply
from fe.portal.replies import Refused, Reply, not_found, redirect
from fe.portal.visit import Visit
from fe.receiving.assess import SENT_TO_RECEIVERS
from fe.store.portal import inbox
from fe.store.portal.inbox import InboxPage
from fe.store.records import approvals, received, waiting
from fe.store.records.approvals import DecisionOutcome, Word
from fe.store.records.received import ApprovalStatus, ReceivedFilter, ReceivedRecord
from fe.store.records.waiting import WaitingPage

_STATES: Mapping[str, ApprovalStatus] = {status.value: status for status in ApprovalStatus}
_TYPES: Mapping[str, EcfType] = {code.value: code for code in sorted(SENT_TO_RECEIVERS)}
_NONE_WAIT = WaitingPage([])
#: The rows of a file at most; the next file begins where one ends, by its dates.
MAX_EXPORTED = 5000

_TAKEN_IN = Text(
    "Your decision is on its way to the DGII and then to the issuer.",
    "Su respuesta se está enviando a la DGII y luego al emisor.",
)


def _chosen(visit: Visit, filters: Filters) -> ReceivedFilter:
    return ReceivedFilter(
        since=filters.since("since"),
        until=filters.until("until"),
        e_ncf=filters.text("number").upper() or None,
        issuer_rnc=filters.digits("issuer"),
        environment=visit.environment,
        ecf_type=filters.choice("type", _TYPES),
        issued_from=filters.day("issued_from"),
        issued_to=filters.day("issued_to"),
        total_from=filters.amount("total_from"),
        total_to=filters.amount("total_to"),
        text=filters.text("text") or None,
        status=filters.choice("state", _STATES),
    )


async def listed(visit: Visit) -> Reply:
    """List received receipts, newest first; above them, on the first page, those that wait for an answer."""
    filters = Filters(visit.query)
    chosen = _chosen(visit, filters)
    if filters.problem is not None:
        return await _show(visit, filters, InboxPage(()), 400)
    found = await visit.read_list(inbox.page, chosen, below=filters.place())
    waits = _NONE_WAIT
    if not filters.again() and not filters.place():
        waits = await visit.read_list(waiting.page, visit.environment, after=_after(visit.query.get("after", "")))
    shown = {row.received_id for row in waits.rows}
    others = [row for row in found.rows if row.received_id not in shown]
    return await _show(visit, filters, replace(found, rows=others), waits=waits)


def _after(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


async def _show(
    visit: Visit, filters: Filters, found: InboxPage, status: int = 200, waits: WaitingPage = _NONE_WAIT
) -> Reply:
    ids = list({row.received_id for row in (*waits.rows, *found.rows)})
    return visit.page(
        "company/received_list.html",
        status,
        filters=filters,
        found=found,
        waits=waits,
        facts=await visit.read_list(received_facts.complete, ids) if ids else {},
        time_left=partial(time_left, now=visit.now, days=visit.portal.settings.approval_days),
        types=_TYPES.values(),
        presets=presets(local(visit.now).date()),
        shown_days=shown_days,
        states={name: words.DECISIONS[state].text for name, state in _STATES.items()},
        words=words,
        name_shown=name_shown,
        kind=_kind,
        moment_of=moment_of,
    )


def _kind(record: ReceivedRecord) -> Text:
    known = record.ecf_type in tuple(EcfType)
    return words.TYPES[EcfType(record.ecf_type)] if known else Text(record.ecf_type, record.ecf_type)


_HEADINGS = {
    "en": (
        "Received",
        "Type",
        "e-NCF",
        "Issuer RNC",
        "Issuer",
        "Issued",
        "Total",
        "Decision",
        "Id",
        "ITBIS",
        "Security code",
        "Signed",
    ),
    "es": (
        "Recibido",
        "Tipo",
        "e-NCF",
        "RNC emisor",
        "Emisor",
        "Emitido",
        "Monto total",
        "Decisión",
        "Id",
        "ITBIS",
        "Código de seguridad",
        "Firmado",
    ),
}


async def export(visit: Visit) -> Reply:
    """Export the list as a file: MAX_EXPORTED rows at most."""
    filters = Filters(visit.query)
    chosen = _chosen(visit, filters)
    if filters.problem is not None:
        return await _show(visit, filters, InboxPage(()), 400)
    lines: list[Sequence[Cell]] = []
    below: UUID | None = None
    for _ in range(MAX_EXPORTED // inbox.PAGE):
        found = await visit.read_list(inbox.page, chosen, below=below)
        facts = await visit.read_list(received_facts.complete, [row.received_id for row in found.rows])
        lines += [_line(visit, row, facts.get(row.received_id, {})) for row in found.rows]
        below = found.older
        if below is None:
            break
    else:
        lines.append([words.MORE_ROWS.said(visit.language)])
    name = f"received-{visit.environment}-{visit.now:%Y-%m-%d}.csv"
    return visit.file(name, CSV_TYPE, csv_file(_HEADINGS[visit.language], lines))


def _line(visit: Visit, row: ReceivedRecord, facts: Mapping[str, str]) -> Sequence[Cell]:
    return (
        row.received_at,
        _kind(row).said(visit.language),
        row.e_ncf,
        row.issuer_rnc,
        name_shown(row.issuer_name),
        row.issued_on,
        row.total,
        words.DECISIONS[row.approval_status].text.said(visit.language),
        str(row.received_id),
        Decimal(facts["itbis"]) if "itbis" in facts else None,
        facts.get("securityCode"),
        facts.get("signedAt"),
    )


async def show(visit: Visit) -> Reply:
    """Show one receipt with the state of its decision."""
    record = await _find(visit)
    if record.environment is not visit.environment:
        return redirect(visit.at(f"{record.environment}/received/{record.received_id}"))
    return await _show_one(visit, record)


async def _show_one(visit: Visit, record: ReceivedRecord, problem: Text | None = None, status: int = 200) -> Reply:
    word = await visit.read(approvals.word_on, record.received_id)
    document, _ = await visit.read(received.documents, record.received_id)
    return visit.page(
        "company/received.html",
        status,
        record=record,
        word=word,
        may_decide=visit.company.answers and _is_open(record, word),
        problem=problem,
        reason=visit.form.get("reason"),
        longest=MAX_REASON,
        next_waiting=await visit.read(waiting.next_after, record.environment, record.received_id),
        facts=(await visit.read(received_facts.complete, [record.received_id])).get(record.received_id, {}),
        time_left=partial(time_left, now=visit.now, days=visit.portal.settings.approval_days),
        content=content_of(document, visit.language),
        reading=READING,
        reasons=REASONS,
        view=show_document(document, is_xml=True),
        words=words,
        name_shown=name_shown,
        kind=_kind,
        state_of=_state_of,
    )


def _state_of(record: ReceivedRecord, word: Word | None) -> words.Badge:
    """The state of a decision: one that is on its way counts, though the authority has not accepted it yet."""
    if record.approval_status is ApprovalStatus.PENDING and word is not None and not _is_open(record, word):
        taken = ApprovalStatus.APPROVED if word.approved else ApprovalStatus.REJECTED
        return words.TAKEN_DECISIONS[taken]
    return words.DECISIONS[record.approval_status]


def _is_open(record: ReceivedRecord, word: Word | None) -> bool:
    """Return whether a decision is still possible."""
    failed = word is None or word.status in (Status.REJECTED, Status.ERROR)
    return failed and record.approval_status is ApprovalStatus.PENDING


async def file(visit: Visit) -> Reply:
    """Return the document, or its acknowledgement, byte for byte."""
    record = await _find(visit)
    kind = visit.params["kind"]
    if record.environment is not visit.environment or kind not in ("document", "acknowledgement"):
        raise not_found()
    document, said = await visit.read(received.documents, record.received_id)
    name = f"{record.issuer_rnc}{record.e_ncf}"
    if kind == "document":
        return visit.file(f"{name}.xml", "application/xml", document)
    return visit.file(f"{name}-acknowledgement.xml", "application/xml", said)


async def printed(visit: Visit) -> Reply:
    """Print a receipt as PDF."""
    record = await _find(visit)
    if record.environment is not visit.environment:
        raise not_found()
    document, _ = await visit.read(received.documents, record.received_id)
    ecf, fc = visit.portal.settings.authority_ecf_url, visit.portal.settings.authority_fc_url
    options = (await options_asked(visit)).of_received(record.environment, ecf_host=ecf, fc_host=fc)
    return await pdf_reply(visit, document, options, record.e_ncf)


async def approve(visit: Visit) -> Reply:
    """Approve a receipt: the issuer is notified once the authority has accepted it."""
    return await _decide(visit, None)


async def reject(visit: Visit) -> Reply:
    """Reject it, for a reason."""
    reason = visit.form.get("reason")
    if not is_reason(reason):
        return await _show_one(visit, await _find(visit), WHY, 400)
    return await _decide(visit, reason)


async def _decide(visit: Visit, reason: str | None) -> Reply:
    record = await _find(visit)
    if record.environment is not visit.environment:
        raise not_found()
    decided = await take_decision(visit, record, reason, once=True)
    wrong = of_decision(decided, approved=reason is None)
    if wrong is not None:
        raise Refused(409, wrong)
    is_new = decided.outcome is DecisionOutcome.ACCEPTED
    return await visit.go(
        visit.within(f"received/{record.received_id}"), _TAKEN_IN if is_new else say("decided-before")
    )


async def _find(visit: Visit) -> ReceivedRecord:
    found = await visit.read(received.one, visit.params["received"])
    if found is None:
        raise not_found()
    return found


_LIST = "/companies/<int:company>/<environment>/received"
_ONE = f"{_LIST}/<uuid:received>"
PAGES = (
    Page("GET", _LIST, Needs.READ, listed),
    Page("GET", f"{_LIST}/export", Needs.READ, export),
    Page("GET", _ONE, Needs.READ, show),
    Page("GET", f"{_ONE}/pdf", Needs.READ, printed),
    Page("GET", f"{_ONE}/<kind>", Needs.READ, file),
    Page("POST", f"{_ONE}/approve", Needs.ANSWER, approve),
    Page("POST", f"{_ONE}/reject", Needs.ANSWER, reject),
)
