"""The close of a day: how much a shop sold, how it was paid, and what the authority has not accepted."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal

from fe.ecf.catalogue import EcfType
from fe.ecf.dates import local
from fe.ecf.texts import Text
from fe.portal import day_close
from fe.portal import receipt_words as words
from fe.portal.csv_cells import CSV_TYPE, Cell, csv_file
from fe.portal.day_close import DayClose
from fe.portal.days import NoDay, read_day
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply, not_found, redirect
from fe.portal.visit import Visit
from fe.store.portal.day_sums import MOST
from fe.store.records.month_sums import MOST_BESIDE

_HEADS = (
    Text("Part", "Parte"),
    Text("Name", "Nombre"),
    Text("Receipts", "Cantidad"),
    Text("ITBIS", "ITBIS"),
    Text("Total", "Monto"),
    Text("First", "Primero"),
    Text("Last", "Último"),
)
_TYPE, _PAYMENT = Text("Type", "Tipo"), Text("Form of payment", "Forma de pago")
_USER, _SEQUENCE = Text("User", "Usuario"), Text("Sequence", "Secuencia")
_SUM, _OPEN = Text("Total of the day", "Total del día"), Text("Not accepted", "Sin aceptar")
_MORE = Text("more, not listed here", "más, que no se listan aquí")
_UNSIGNED = Text("not signed yet, no amount", "sin firmar todavía, sin monto")
_MORE_UNSIGNED = Text("not signed yet: more than those counted here", "sin firmar todavía: más que los contados aquí")
_NOTE = Text("Note", "Nota")
_CUT = Text(
    f"more than {MOST:,} receipts: no forms of payment, users and numbers here",
    f"más de {MOST:,} comprobantes: aquí no hay formas de pago, usuarios ni números",
)
_NOT_ALL = Text(
    "not all receipts that got their answer in the last seconds are here",
    "no están todos los comprobantes que recibieron respuesta en los últimos segundos",
)


async def chosen(visit: Visit) -> Reply:
    """Go to the day that was asked for, or to today."""
    try:
        day = read_day(visit.query.get("day", ""))
    except NoDay:
        day = None
    return redirect(visit.within(f"days/{day or local(visit.now).date()}"))


async def show(visit: Visit) -> Reply:
    """Show a day."""
    day = _day(visit)
    return visit.page(
        "company/day.html",
        close=await _read(visit, day),
        day=day,
        before=day - timedelta(days=1),
        after=day + timedelta(days=1),
        today=local(visit.now).date(),
        most=MOST,
        beside=MOST_BESIDE,
        words=words,
    )


async def export(visit: Visit) -> Reply:
    """Export the sums of a day as CSV."""
    day = _day(visit)
    rows = _rows(await _read(visit, day))
    said = [[one.said(visit.language) if isinstance(one, Text) else one for one in row] for row in rows]
    return visit.file(
        f"{visit.environment}-{day}.csv", CSV_TYPE, csv_file([head.said(visit.language) for head in _HEADS], said)
    )


def _rows(close: DayClose) -> Iterator[Sequence[Cell | Text]]:
    if close.is_cut:
        yield (_NOTE, _CUT, "", "", "", "", "")
        if close.left_out.ended:
            yield (_NOTE, _NOT_ALL, "", "", "", "", "")
    for part, sums in ((_SUM, [close.sold]), (_TYPE, close.types), (_USER, close.users)):
        yield from ((part, one.name, one.receipts, one.itbis, one.total, "", "") for one in sums)
    yield from ((_PAYMENT, one.name, one.receipts, "", one.total, "", "") for one in close.payments)
    yield from ((_SEQUENCE, one.sequence, one.receipts, "", "", one.first, one.last) for one in close.numbers)
    for line in (*close.waiting_lines, *close.refused_lines):
        state = words.status_badge(line.status).text
        yield (_OPEN, state, 1, line.itbis, line.total, line.e_ncf, line.e_ncf)
    more = close.waiting + close.refused - len(close.waiting_lines) - len(close.refused_lines)
    if more:
        yield (_OPEN, _MORE, more, "", "", "", "")
    if close.unsigned or close.left_out.waiting:
        unsigned = _MORE_UNSIGNED if close.left_out.waiting else _UNSIGNED
        yield (_OPEN, unsigned, close.unsigned, "", Decimal("0.00"), "", "")


async def _read(visit: Visit, day: date) -> DayClose:
    return await visit.read_list(day_close.read, visit.environment, day, _name_of)


def _name_of(code: str) -> Text | str:
    return words.TYPES[EcfType(code)] if code in tuple(EcfType) else code


def _day(visit: Visit) -> date:
    try:
        day = read_day(visit.params["day"])
    except NoDay:
        day = None
    if day is None:
        raise not_found()
    return day


_LIST = "/companies/<int:company>/<environment>/days"
PAGES = (
    Page("GET", _LIST, Needs.READ, chosen),
    Page("GET", f"{_LIST}/<day>", Needs.READ, show),
    Page("GET", f"{_LIST}/<day>/csv", Needs.READ, export),
)
