"""One receipt: state and advice, history, and documents with problems at their lines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from fe.contingency import Milestones, latest
from fe.ecf.catalogue import Root
from fe.ecf.json_text import write_json
from fe.ecf.qr_code import qr_code
from fe.ecf.texts import Text
from fe.http.messages import say
from fe.http.models.failures import say_response
from fe.http.models.serializers import serialize_event
from fe.http.routes.printing import standing_as
from fe.identifiers import SubmissionId
from fe.issuing.sharing import ShareLink
from fe.lifecycle import NumberFate, Status
from fe.portal import receipt_words as words
from fe.portal.credited import credited_of
from fe.portal.document_content import READING, content_of
from fe.portal.document_facts import Facts, facts_of, name_shown, total_in
from fe.portal.document_view import marked, show_document
from fe.portal.page_types import Needs, Page
from fe.portal.pages.receipt_mail import MailStanding, mail_of
from fe.portal.printing import options_asked, pdf_reply
from fe.portal.receipt_advice import VALID, AdvisedStep, advice_on, explained, fix_of, meaning_of, next_step
from fe.portal.replies import Refused, Reply, not_found, redirect
from fe.portal.sequence_forms import page_of
from fe.portal.visit import Visit
from fe.store.portal import receipt as store
from fe.store.portal.receipt import ReceiptRecord, Relative
from fe.store.postgres.db import Conn
from fe.store.queue import pauses
from fe.store.records import counterparty, modes, sequences, shared_receipts, submissions
from fe.store.records.counterparty import HandingState, OtherSide
from fe.store.records.mail import MailState
from fe.store.records.submissions import Event
from fe.store.webhooks import deliveries
from fe.store.webhooks.deliveries import DeliveryFilter, DeliveryRecord

#: An event is written with the verdict, and its delivery has its moment.
_AROUND = timedelta(seconds=1)
#: How long the page of a pending receipt loads itself again.
_REFRESHED = timedelta(minutes=10)
#: Characters shown of a value in a receipt's history.
_LONGEST = 200
#: Roots of receipts, which can be issued again.
ISSUED = (Root.ECF, Root.RFCE)
_FILES: Mapping[str, Text] = {
    "signed": Text("Signed XML", "XML firmado"),
    "sent": Text("Summary that was sent (RFCE)", "Resumen enviado (RFCE)"),
    "original": Text("As handed in", "Tal como se envió"),
}


_SHARED = Text("The receipt has a link for its buyer.", "El comprobante tiene un enlace para su comprador.")
_REVOKED = Text("No link leads to the receipt any more.", "Ningún enlace lleva ya al comprobante.")
_SUBJECT = Text("{issuer}: electronic receipt {number}", "{issuer}: comprobante electrónico {number}")


@dataclass(frozen=True, slots=True)
class _Happening:
    at: datetime
    kind: str
    shown: Sequence[tuple[str, str]]


async def show(visit: Visit) -> Reply:
    """Show a receipt with all that is known of it."""
    receipt = await _find(visit)
    if receipt.environment is not visit.environment:
        return redirect(visit.at(f"{receipt.environment}/submissions/{receipt.submission_id}"))
    if receipt.status in (Status.QUEUED, Status.ERROR):  # like the API: 404 if it will not be sent
        confirmed = await visit.portal.db.confirmed_for(visit.tenant_id, submissions.are_there, [receipt])
        if not confirmed:
            raise not_found()
    documents = await visit.documents(receipt.submission_id)
    timeline = await visit.read(submissions.timeline, receipt.submission_id)
    other_side = await visit.read(counterparty.other_side, receipt.submission_id)
    kind = "signed" if "signed" in documents else "original"
    is_xml = kind == "signed" or receipt.format != "structured"
    facts = facts_of(documents[kind], is_xml=is_xml)
    view = show_document(documents[kind], is_xml=is_xml)
    response = say_response(receipt.response, visit.language) or {}
    is_given_up = response.get("status") == "dead_letter"
    problems = _problems(receipt, response)
    modified, others = await _relatives(visit, receipt, facts)
    codes = _explained(receipt)
    mailed = await mail_of(visit, receipt, facts)
    is_pending = not is_given_up and receipt.status in (Status.QUEUED, Status.PROCESSING)
    return visit.page(
        "company/submission.html",
        receipt=receipt,
        is_given_up=is_given_up,
        response=response,
        explained=codes,
        action=await _action(visit, receipt, [code for code, *_ in codes], modified, others),
        is_pending=is_pending,
        is_refreshed=is_pending and visit.now - receipt.submitted_at < _REFRESHED,
        is_paused=is_pending and await visit.read(pauses.is_paused, visit.environment),
        problems=problems,
        fix_of=fix_of,
        facts=facts,
        total=total_in(receipt.qr_code_url) or facts.amount,
        content=content_of(documents[kind], visit.language) if kind == "signed" else None,
        reading=READING,
        number=_number_said(receipt, others),
        modified=modified,
        credited=await credited_of(visit, receipt),
        others=others,
        other_side=other_side,
        mailed=mailed,
        happened=_happened(receipt, other_side, mailed),
        is_sharable=_is_sharable(visit, receipt),
        shared=await _shared(visit, receipt, facts),
        timeline=[_happening(event) for event in timeline],
        deliveries=await _deliveries(visit, receipt, timeline),
        qr=_qr(receipt.qr_code_url),
        kind=kind,
        files=[(name, label) for name, label in _FILES.items() if name in documents],
        view=view,
        marks=marked(view, problems),
        words=words,
        name_shown=name_shown,
    )


def _happened(receipt: ReceiptRecord, other: OtherSide, mailed: MailStanding | None) -> Milestones:
    """Derive the facts of the document: each apart from the others."""
    handed = other.changed_at if other.state is HandingState.DELIVERED else None
    sent = mailed.at if mailed is not None and mailed.badge is words.MAILS[MailState.SENT] else None
    delivered = latest((handed, sent))
    return Milestones(receipt.signed_at, receipt.first_answer_at, receipt.verdict_at, delivered, receipt.is_deferred)


async def file(visit: Visit) -> Reply:
    """Give a document of a receipt, to the byte."""
    kind = visit.params["kind"]
    receipt = await _find(visit)
    documents = await visit.documents(receipt.submission_id)
    if receipt.environment is not visit.environment or kind not in documents:
        raise not_found()
    is_json = kind == "original" and receipt.format != "xml"
    name = f"{receipt.issuer_rnc or ''}{receipt.e_ncf or receipt.submission_id}"
    suffix = "" if kind == "signed" else f"-{kind}"
    ending, content_type = ("json", "application/json") if is_json else ("xml", "application/xml")
    return visit.file(f"{name}{suffix}.{ending}", content_type, documents[kind])


async def printed(visit: Visit) -> Reply:
    """Print a receipt as PDF."""
    receipt = await _find(visit)
    if receipt.environment is not visit.environment:
        raise not_found()
    documents = await visit.documents(receipt.submission_id)
    if "signed" not in documents:
        raise Refused(409, say("not-signed-yet"))
    in_contingency = await modes.is_in_contingency(visit.portal.db, visit.tenant_id, receipt)
    options = standing_as(await options_asked(visit), receipt, in_contingency=in_contingency)
    return await pdf_reply(visit, documents["signed"], options, receipt.e_ncf or "e-CF")


async def share(visit: Visit) -> Reply:
    """Share a receipt with its buyer by a link."""
    receipt = await _find(visit)
    sharing = visit.portal.sharing

    async def do(conn: Conn) -> None:
        link = None
        if sharing is not None and _is_sharable(visit, receipt):
            link = await sharing.share(conn, visit.tenant_id, receipt.submission_id, visit.now)
        if link is None:
            raise Refused(409, say("not-shareable"))
        await visit.note(conn, "receipt shared", str(receipt.submission_id), None, {"eNCF": receipt.e_ncf})

    await visit.change(do)
    return await visit.go(visit.within(f"submissions/{receipt.submission_id}"), _SHARED)


async def revoke(visit: Visit) -> Reply:
    """End every link to a receipt."""
    receipt = await _find(visit)

    async def do(conn: Conn) -> None:
        if await shared_receipts.revoke(conn, visit.tenant_id, receipt.submission_id):
            await visit.note(conn, "receipt share revoked", str(receipt.submission_id), {"eNCF": receipt.e_ncf}, None)

    await visit.change(do)
    return await visit.go(visit.within(f"submissions/{receipt.submission_id}"), _REVOKED)


def _is_sharable(visit: Visit, receipt: ReceiptRecord) -> bool:
    is_accepted = receipt.status in (Status.ACCEPTED, Status.CONDITIONAL) and receipt.root == Root.ECF
    return visit.portal.sharing is not None and is_accepted


@dataclass(frozen=True, slots=True)
class _Shared:
    link: ShareLink
    #: Opens WhatsApp and the mail program with the link.
    whatsapp: str
    mail: str


async def _shared(visit: Visit, receipt: ReceiptRecord, facts: Facts) -> _Shared | None:
    sharing = visit.portal.sharing
    if sharing is None or not _is_sharable(visit, receipt):
        return None
    link = await visit.read(sharing.link_of, receipt.submission_id)
    if link is None:
        return None
    issuer = name_shown(visit.company.tenant.name)
    subject = _SUBJECT.fill(issuer=issuer, number=receipt.e_ncf or "").said(visit.language)
    total = total_in(receipt.qr_code_url) or facts.amount
    shown = "" if total is None else f", RD$ {total:,.2f}"
    said = quote(f"{subject}{shown}: {link.url}", safe="")
    to = quote(facts.buyer_mail or "", safe="@")
    return _Shared(link, f"https://wa.me/?text={said}", f"mailto:{to}?subject={quote(subject, safe='')}&body={said}")


async def _find(visit: Visit) -> ReceiptRecord:
    found = await visit.read(store.one, SubmissionId(visit.params["submission"]))
    if found is None:
        raise not_found()
    return found


def _problems(receipt: ReceiptRecord, response: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = response.get("problems")
    every = [*(found if isinstance(found, list) else ()), *(receipt.warnings or ())]
    return [problem for problem in every if isinstance(problem, dict)]


def _explained(receipt: ReceiptRecord) -> list[tuple[str, Any, Text, Text]]:
    """List each code of a verdict with the authority's words, its meaning and the advice on it."""
    codes = explained(receipt)
    messages = (receipt.response or {}).get("mensajes", ()) if codes else ()
    values = {str(one.get("codigo", "")): one.get("valor") for one in reversed(messages) if isinstance(one, dict)}
    is_valid = receipt.status is Status.CONDITIONAL
    return [
        (
            code,
            values[code],
            meaning_of(code, Text(known.meaning, known.meaning_es)),
            VALID if is_valid else advice_on(code).text,
        )
        for code, known in codes
    ]


async def _action(
    visit: Visit,
    receipt: ReceiptRecord,
    codes: Sequence[str],
    modified: Relative | None,
    others: Sequence[Relative],
) -> tuple[Text, str] | None:
    """The one action after a rejection or an error: the words of its button, and where it leads."""
    if not visit.company.writes or receipt.root not in ISSUED:
        return None
    prefix = (receipt.e_ncf or "")[:3]
    sequence = sequences.of_number(await visit.read(sequences.listed, visit.environment), receipt.e_ncf)
    match next_step(receipt, codes, sequence):
        case None:
            return None
        case AdvisedStep.SEQUENCE:
            there = page_of(sequence) if sequence is not None else "sequences"
            name = sequence.label if sequence is not None else prefix
            return Text(f"Open the sequence {name}", f"Abrir la secuencia {name}"), visit.within(there)
        case AdvisedStep.NUMBER if others:
            said = Text("Look for the receipts of this number", "Buscar los comprobantes de este número")
            return said, f"{visit.within('submissions')}?q={receipt.e_ncf}"
        case AdvisedStep.COMPANY if visit.company.owns:
            return Text("Open the company data", "Abrir los datos de la empresa"), visit.at("settings")
        case AdvisedStep.CERTIFICATES:
            return Text("Open the certificates", "Abrir los certificados"), visit.at("certificates")
        case AdvisedStep.MODIFIED if modified is not None:
            said = Text("Open the modified receipt", "Abrir el comprobante que modifica")
            return said, visit.within(f"submissions/{modified.submission_id}")
    copied = f"{visit.within('new/copy')}?from={receipt.submission_id}"
    return Text("Correct and issue again", "Corregir y emitir de nuevo"), copied


async def _relatives(visit: Visit, receipt: ReceiptRecord, facts: Facts) -> tuple[Relative | None, Sequence[Relative]]:
    """Find the receipt that a note modifies, and others with this number."""
    others: Sequence[Relative] = ()
    if receipt.e_ncf is not None:
        same = await visit.read(store.of_number, receipt.environment, receipt.e_ncf)
        others = [one for one in same if one.submission_id != receipt.submission_id]
    if facts.modified is None:
        return None, others
    about = await visit.read(store.of_number, receipt.environment, facts.modified)
    issued = [one for one in about if one.root in ("ECF", "RFCE")]
    return (issued[0] if issued else None), others


def _number_said(receipt: ReceiptRecord, others: Sequence[Relative]) -> Text:
    """Describe the state of the number: a returned one is free until another receipt of the issuer takes it."""
    is_taken = any(
        one.number_fate is not NumberFate.REUSABLE
        for one in others
        if one.root in ("ECF", "RFCE") and one.issuer_rnc in (None, receipt.issuer_rnc)
    )
    if receipt.number_fate is NumberFate.REUSABLE and is_taken:
        return words.TAKEN_SINCE
    return words.FATES[receipt.number_fate]


def _happening(event: Event) -> _Happening:
    detail = serialize_event(event)["detail"]
    shown = [(name, _plain(value)) for name, value in detail.items() if name != "problems" and value is not None]
    return _Happening(event.at, event.kind, shown)


def _plain(value: object) -> str:
    text = value if isinstance(value, str) else write_json(value).decode()
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


async def _deliveries(visit: Visit, receipt: ReceiptRecord, timeline: Sequence[Event]) -> Sequence[DeliveryRecord]:
    """Find the webhook event of a submission, which is created when it ends."""
    ends = [event.at for event in timeline if event.kind in ("verdict", "error", "discarded")]
    if not ends:
        return ()
    chosen = DeliveryFilter(about=str(receipt.submission_id), since=ends[-1] - _AROUND, until=ends[-1] + _AROUND)
    return await visit.read_list(deliveries.listed, chosen, limit=10)


def _qr(url: str | None) -> Markup | None:
    """Draw the QR code of a printed receipt as SVG: black on white in every colour scheme, sized by the CSS."""
    if url is None:
        return None
    # One mask for all: readers take any.
    drawn = qr_code(url, mask=2).svg_inline(
        scale=4, dark="#000", light="#fff", svgclass=None, lineclass=None, omitsize=True, title="QR"
    )
    return Markup(drawn)  # noqa: S704  (made by segno, of modules alone: nothing of the address is in it)


_ONE = "/companies/<int:company>/<environment>/submissions/<uuid:submission>"
PAGES = (
    Page("GET", _ONE, Needs.READ, show),
    Page("GET", f"{_ONE}/pdf", Needs.READ, printed),
    Page("GET", f"{_ONE}/<kind>", Needs.READ, file),
    Page("POST", f"{_ONE}/share", Needs.WRITE, share),
    Page("POST", f"{_ONE}/share/revoke", Needs.WRITE, revoke),
)
