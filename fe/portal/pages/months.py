"""A company's month: sums by type and rate, ITBIS, what is open, and an account of the numbers."""

from fe.accounts import month_book, months
from fe.accounts.month_book import Read
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.dates import local
from fe.ecf.texts import Language, Text
from fe.http.archives import of_month, written
from fe.http.errors import ApiError
from fe.limits import TurnTimeout
from fe.month.book import XLSX, workbook
from fe.month.period import YearMonth
from fe.offload.pool import ApartFailed
from fe.portal import receipt_words as words
from fe.portal.csv_cells import CSV_TYPE, csv_file
from fe.portal.page_types import Needs, Page
from fe.portal.pages.paper import KINDS
from fe.portal.printing import printer_of_many
from fe.portal.replies import Refused, Reply, not_found, redirect
from fe.portal.visit import Visit
from fe.store.records import month_sums, paper

#: Seconds that a workbook waits for its turn in the pool.
_PATIENCE = 20.0
_NOT_MADE = Text(
    "The workbook could not be made now; try again in a moment.",
    "El archivo de Excel no se pudo generar ahora; intente de nuevo en un momento.",
)


async def newest(visit: Visit) -> Reply:
    """Go to the month that was asked for, or to this one."""
    asked = YearMonth.read(visit.query.get("month", ""))
    return redirect(visit.within(f"months/{asked or YearMonth.of(local(visit.now).date())}"))


async def show(visit: Visit) -> Reply:
    """Show a month."""
    month = _month(visit)
    report = await visit.read_list(months.report, visit.environment, month, visit.portal.months)
    return visit.page(
        "company/month.html",
        month=month,
        today=YearMonth.of(local(visit.now).date()),
        report=report,
        totals=report.totals,
        kind=_kind,
        words=words,
        number=_number,
        papers=await visit.read(paper.of_days, visit.environment, month.first, month.last),
        paper_kinds=KINDS,
        beside=month_sums.MOST_BESIDE,
        most_by_sequence=month_sums.MOST_BY_SEQUENCE,
    )


async def export(visit: Visit) -> Reply:
    """Export the receipts issued in a month as CSV, by day of issue."""
    month = _month(visit)
    content, _ = await issued_csv(visit.read_list, visit.environment, month, visit.language)
    return visit.file(f"{visit.environment}-{month}.csv", CSV_TYPE, content)


async def issued_csv(read: Read, environment: Environment, month: YearMonth, language: Language) -> tuple[bytes, int]:
    """Write the receipts issued in a month as CSV, and tell how many there are."""
    lines, is_cut = await month_book.issued_lines(read, environment, month)
    rows = [month_book.issued_row(one, language) for one in lines]
    if is_cut:
        rows.append([month_book.MORE_LINES.said(language)])
    return csv_file([head.said(language) for head in month_book.ISSUED_HEADS], rows), len(lines)


async def export_workbook(visit: Visit) -> Reply:
    """Export the month as a workbook."""
    month = _month(visit)
    memory = visit.portal.months
    sheets = await month_book.read_sheets(visit.read_list, visit.environment, month, memory, visit.language)
    try:
        made = await visit.portal.printers.run(visit.tenant_id, workbook, sheets, within=_PATIENCE)
    except (ApartFailed, TurnTimeout):
        raise Refused(503, _NOT_MADE) from None
    return visit.file(f"{visit.environment}-{month}.xlsx", XLSX, made)


async def export_archive(visit: Visit) -> Reply:
    """Send PDF and XML of all receipts of the month, while the PDFs are made."""
    month = _month(visit)
    printer = await printer_of_many(visit)
    try:
        parts = await of_month(visit.portal.db, visit.tenant_id, visit.read_list, visit.environment, month)
    except ApiError as error:
        raise Refused(error.status, error.message) from None
    visit.until_sent.enter_context(visit.portal.archives.held(visit.tenant_id))
    stream = written(visit.portal.documents, visit.tenant_id, parts, printer, visit.language, folders=True)
    return visit.streamed(f"{visit.environment}-{month}.zip", "application/zip", stream)


def _kind(code: str) -> Text:
    return words.TYPES[EcfType(code)] if code in tuple(EcfType) else Text(code, code)


def _number(prefix: str, number: int) -> str:
    return f"{prefix}{number:010d}"


def _month(visit: Visit) -> YearMonth:
    month = YearMonth.read(visit.params["month"])
    if month is None:
        raise not_found()
    return month


_LIST = "/companies/<int:company>/<environment>/months"
PAGES = (
    Page("GET", _LIST, Needs.READ, newest),
    Page("GET", f"{_LIST}/<month>", Needs.READ, show),
    Page("GET", f"{_LIST}/<month>/csv", Needs.READ, export),
    Page("GET", f"{_LIST}/<month>/xlsx", Needs.READ, export_workbook),
    Page("GET", f"{_LIST}/<month>/zip", Needs.READ, export_archive),
)
