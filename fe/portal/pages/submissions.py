"""A company's receipts: search, filtered list, and CSV export."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Literal
from urllib.parse import urlencode
from uuid import UUID

from fe.ecf.catalogue import EcfType
from fe.ecf.dates import local, show_day
from fe.ecf.ids import moment_of
from fe.ecf.payments import FORMS
from fe.ecf.texts import Language, Text
from fe.identifiers import SubmissionId, UserId
from fe.lifecycle import NumberFate, Place, Status
from fe.portal import receipt_words as words
from fe.portal.csv_cells import CSV_TYPE, Cell, csv_file
from fe.portal.day_close import FORM_NAMES
from fe.portal.document_facts import buyer_name_in, modified_in, name_shown, seller_in, total_in
from fe.portal.filters import Filters
from fe.portal.page_types import Needs, Page
from fe.portal.receipt.copies import NOTES
from fe.portal.replies import Reply, redirect
from fe.portal.visit import Visit
from fe.store.portal import receipts
from fe.store.portal.receipts import ReceiptFilter, ReceiptPage, ReceiptRow

_STATES: Mapping[str, Status | Literal[Place.DEAD_LETTER]] = {
    "waiting": Status.QUEUED,
    "processing": Status.PROCESSING,
    "accepted": Status.ACCEPTED,
    "conditional": Status.CONDITIONAL,
    "rejected": Status.REJECTED,
    "error": Status.ERROR,
    "dead": Place.DEAD_LETTER,
}
_FATES: Mapping[str, NumberFate] = {str(fate): fate for fate in NumberFate}
_TYPES: Mapping[str, EcfType] = {code.value: code for code in EcfType}
#: The rows of a file at most; the next file begins where one ends, by its dates.
MAX_EXPORTED = 5000


def _chosen(visit: Visit, filters: Filters) -> ReceiptFilter:
    user = filters.text("user")
    return ReceiptFilter(
        environment=visit.environment,
        since=filters.since("since"),
        until=filters.until("until"),
        state=filters.choice("state", _STATES),
        ecf_type=filters.choice("type", _TYPES),
        buyer_rnc=filters.digits("buyer"),
        user=_user(user) if user else None,
        issued_from=filters.day("issued_from"),
        issued_to=filters.day("issued_to"),
        total_from=filters.amount("total_from"),
        total_to=filters.amount("total_to"),
        text=filters.text("text") or None,
        number_fate=filters.choice("number", _FATES),
    )


def _user(typed: str) -> str | UserId:
    try:
        return UserId(UUID(typed))
    except ValueError:
        return typed


async def listed(visit: Visit) -> Reply:
    """List receipts, newest first; a search that finds one goes there, and one that finds none looks for a name."""
    filters = Filters(visit.query)
    if wanted := filters.text("q"):
        return await _search(visit, wanted)
    chosen, below = _chosen(visit, filters), filters.place()
    found = ReceiptPage(())
    if filters.problem is None:
        found = await visit.read_list(receipts.page, chosen, below=None if below is None else SubmissionId(below))
    return await _show(visit, filters, found, status=200 if filters.problem is None else 400)


async def _search(visit: Visit, wanted: str) -> Reply:
    rows = await visit.read_list(receipts.search, wanted)
    if not rows:
        return redirect(visit.within(f"submissions?{urlencode({'text': wanted})}"))
    if len(rows) == 1:
        return redirect(visit.at(f"{rows[0].environment}/submissions/{rows[0].submission_id}"))
    return await _show(visit, Filters(visit.query), ReceiptPage(rows), searched=wanted)


async def _show(
    visit: Visit, filters: Filters, found: ReceiptPage, *, status: int = 200, searched: str | None = None
) -> Reply:
    names = await names_of(visit, found.rows)
    return visit.page(
        "company/submissions.html",
        status,
        filters=filters,
        found=found,
        searched=searched,
        names=names,
        moment_of=moment_of,
        totals={row.submission_id: total_in(row.qr_code_url) for row in found.rows},
        presets=presets(local(visit.now).date()),
        shown_days=shown_days,
        states={name: words.status_badge(state).text for name, state in _STATES.items()},
        types=words.TYPES,
        fates=words.FATES,
        words=words,
    )


def presets(today: date) -> list[tuple[Text, date, date]]:
    """Periods that people ask for most."""
    yesterday = today - timedelta(days=1)
    last_month = today.replace(day=1) - timedelta(days=1)
    return [
        (Text("Today", "Hoy"), today, today),
        (Text("Yesterday", "Ayer"), yesterday, yesterday),
        (Text("This month", "Este mes"), today.replace(day=1), today),
        (Text("Last month", "Mes pasado"), last_month.replace(day=1), last_month),
    ]


def shown_days(since: str, until: str) -> str:
    """Write the chosen days as receipts do: the fields follow the browser's own format."""
    days = [_day_shown(one) for one in (since, until) if one]
    return " – ".join(dict.fromkeys(days))


def _day_shown(typed: str) -> str:
    try:
        return show_day(date.fromisoformat(typed))
    except ValueError:
        return typed


async def names_of(visit: Visit, rows: Sequence[ReceiptRow]) -> dict[SubmissionId, str]:
    """Look up buyers' names, for signed receipts."""
    return {one: name_shown(buyer_name_in(head)) for one, head in (await _heads(visit, rows)).items()}


async def _heads(visit: Visit, rows: Sequence[ReceiptRow]) -> dict[SubmissionId, bytes]:
    return await visit.read(receipts.heads, [row.submission_id for row in rows]) if rows else {}


_HEADINGS = {
    "en": (
        "Submitted",
        "Type",
        "e-NCF",
        "Status",
        "Buyer RNC",
        "Buyer",
        "Total",
        "trackId",
        "taxLogId",
        "clientRequestId",
        "Issued by user",
        "Issued",
        "ITBIS",
        "Modified NCF",
        "Form of payment",
        "Seller",
    ),
    "es": (
        "Recibido",
        "Tipo",
        "e-NCF",
        "Estado",
        "RNC comprador",
        "Comprador",
        "Monto total",
        "trackId",
        "taxLogId",
        "clientRequestId",
        "Emitido por el usuario",
        "Fecha de emisión",
        "ITBIS",
        "NCF modificado",
        "Forma de pago",
        "Vendedor",
    ),
}


async def export(visit: Visit) -> Reply:
    """Export all pages of the list as a file: at most MAX_EXPORTED rows, in several queries."""
    filters = Filters(visit.query)
    chosen = _chosen(visit, filters)
    if filters.problem is not None:
        return await _show(visit, filters, ReceiptPage(()), status=400)
    lines: list[Sequence[Cell]] = []
    below: SubmissionId | None = None
    for _ in range(MAX_EXPORTED // receipts.PAGE):
        found = await visit.read_list(receipts.page, chosen, below=below)
        heads = await _heads(visit, found.rows)
        modified = await _modified(visit, found.rows)
        lines += [
            _line(visit, row, heads.get(row.submission_id, b""), modified.get(row.submission_id)) for row in found.rows
        ]
        if found.older is None:
            break
        below = found.older
    else:
        lines.append([words.MORE_ROWS.said(visit.language)])
    name = f"{visit.environment}-{visit.now:%Y-%m-%d}.csv"
    return visit.file(name, CSV_TYPE, csv_file(_HEADINGS[visit.language], lines))


async def _modified(visit: Visit, rows: Sequence[ReceiptRow]) -> dict[SubmissionId, str | None]:
    """Look up the numbers that signed notes modify."""
    notes = [row.submission_id for row in rows if row.ecf_type in NOTES]
    found = await visit.read(receipts.tails, notes) if notes else {}
    return {one: modified_in(tail) for one, tail in found.items()}


def _paid(row: ReceiptRow, language: Language) -> str:
    """Name the forms of payment; '' where none is stated."""
    forms = (form for form in FORMS if row.amounts and f"paid{form}" in row.amounts)
    return ", ".join(FORM_NAMES[form].said(language) for form in forms)


def _line(visit: Visit, row: ReceiptRow, head: bytes, modified: str | None) -> Sequence[Cell]:
    total = total_in(row.qr_code_url)
    return (
        row.submitted_at,
        words.kind_of(row.root, row.ecf_type).said(visit.language),
        row.e_ncf or "",
        words.status_badge(row.status, is_given_up=row.is_given_up).text.said(visit.language),
        row.buyer_rnc or "",
        name_shown(buyer_name_in(head)),
        total,
        row.track_id or "",
        str(row.submission_id),
        row.client_request_id or "",
        row.as_user or "",
        row.issued_on,
        row.itbis,
        modified or "",
        _paid(row, visit.language),
        name_shown(seller_in(head)),
    )


_LIST = "/companies/<int:company>/<environment>/submissions"
PAGES = (
    Page("GET", _LIST, Needs.READ, listed),
    Page("GET", f"{_LIST}/export", Needs.READ, export),
)
