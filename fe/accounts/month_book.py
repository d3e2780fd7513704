"""The tables of a month's workbook: totals, what was issued and received, and the account of numbers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from fe.accounts import months
from fe.accounts.months import MonthReport
from fe.ecf.catalogue import Environment
from fe.ecf.texts import Language, Text
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.month.book import Cell, MonthSheet
from fe.month.period import YearMonth
from fe.store.postgres.db import Conn
from fe.store.records import month_lines
from fe.store.records.month_lines import IssuedLine, ReceivedLine
from fe.store.records.month_memory import MonthMemory
from fe.store.records.month_sums import MOST_BESIDE

P = ParamSpec("P")
T = TypeVar("T")

#: Most receipts of a file, of those issued and of those received.
MOST_LINES = 20_000
MORE_LINES = Text("There are more: only the first 20,000 are here.", "Hay más: aquí solo están los primeros 20,000.")

_NOT_ALL_ENDED = Text(
    "Receipts that got their answer in the last seconds are not all in these sums yet.",
    "Los comprobantes que recibieron respuesta en los últimos segundos todavía no están todos en estas sumas.",
)
_NOT_ALL_OPEN = Text(
    f"More than {MOST_BESIDE:,} receipts have no answer yet: the rest are of other months or without a receipt here.",
    f"Más de {MOST_BESIDE:,} comprobantes no tienen respuesta: el resto está aquí en otros meses o sin comprobante.",
)

_STATES: Mapping[Status, Text] = {
    Status.QUEUED: Text("On its way", "Enviando a la DGII"),
    Status.PROCESSING: Text("In process at the DGII", "En proceso en la DGII"),
    Status.ACCEPTED: Text("Accepted", "Aceptado"),
    Status.CONDITIONAL: Text("Accepted with remarks", "Aceptado condicional"),
    Status.REJECTED: Text("Rejected", "Rechazado"),
    Status.ERROR: Text("Error: no verdict", "Error: sin respuesta"),
}
_ANSWERS = {True: Text("approved", "aprobado"), False: Text("rejected", "rechazado")}
_DAY, _TYPE, _STATE = Text("Issued", "Fecha de emisión"), Text("Type", "Tipo"), Text("Status", "Estado")
_RECEIPTS, _TOTAL = Text("Receipts", "Comprobantes"), Text("Total", "Monto total")
#: Amounts by tax, and their names in `tax_amounts`.
_AMOUNTS = {
    "base18": Text("Taxed at 18 %", "Gravado al 18 %"),
    "base16": Text("Taxed at 16 %", "Gravado al 16 %"),
    "base0": Text("Taxed at 0 %", "Gravado al 0 %"),
    "exempt": Text("Exempt", "Exento"),
    "itbis": Text("ITBIS", "ITBIS"),
    "itbisWithheld": Text("ITBIS withheld", "ITBIS retenido"),
    "isrWithheld": Text("ISR withheld", "ISR retenido"),
}
ISSUED_HEADS: Sequence[Text] = (
    _DAY,
    _TYPE,
    Text("e-NCF", "e-NCF"),
    _STATE,
    Text("Buyer RNC", "RNC comprador"),
    Text("Buyer", "Comprador"),
    *_AMOUNTS.values(),
    _TOTAL,
)
_RECEIVED_HEADS = (
    _DAY,
    _TYPE,
    Text("e-NCF", "e-NCF"),
    Text("Supplier RNC", "RNC suplidor"),
    Text("Supplier", "Suplidor"),
    *_AMOUNTS.values(),
    _TOTAL,
    Text("Your answer", "Su respuesta"),
)
_NUMBER_HEADS = (
    _TYPE,
    Text("First", "Primero"),
    Text("Last", "Último"),
    Text("Drawn", "Asignados"),
    Text("Accepted", "Aceptados"),
    Text("Rejected", "Rechazados"),
    Text("Failed", "Con error"),
)
_OPEN, _OTHERS = Text("Open", "Pendientes"), Text("Of other months", "De otros meses")
_OPEN_OR_OTHERS = Text("Open, or of other months", "Pendientes o de otros meses")
_WITHOUT = Text("Without a receipt", "Sin comprobante")
_GAP = Text("without a receipt", "sin comprobante")
_TOTALS = {
    "sales": Text("Sales, credit notes subtracted", "Ventas, menos notas de crédito"),
    "itbis_charged": Text("ITBIS charged", "ITBIS facturado en ventas"),
    "base18": Text("Sales taxed at 18 %", "Ventas gravadas al 18 %"),
    "base16": Text("Sales taxed at 16 %", "Ventas gravadas al 16 %"),
    "base0": Text("Sales taxed at 0 %", "Ventas gravadas al 0 %"),
    "exempt": Text("Exempt sales", "Ventas exentas"),
    "other_taxes": Text("Taxes beside ITBIS", "Otros impuestos, sin ITBIS"),
    "received": Text("Received from suppliers", "Recibido de suplidores"),
    "itbis_paid": Text("ITBIS received", "ITBIS de los recibidos"),
    "own_purchases": Text("Own purchases (E41, E43, E47)", "Compras propias (E41, E43, E47)"),
    "itbis_withheld": Text("ITBIS withheld", "ITBIS retenido"),
    "isr_withheld": Text("ISR withheld", "ISR retenido"),
}


class Read(Protocol):
    """Runs `work(conn, tenant_id, ...)` for the tenant, in its turn."""

    async def __call__(
        self, work: Callable[Concatenate[Conn, TenantId, P], Awaitable[T]], *a: P.args, **k: P.kwargs
    ) -> T:
        """Return what it returns."""


async def issued_lines(read: Read, environment: Environment, month: YearMonth) -> tuple[list[IssuedLine], bool]:
    """Read the receipts issued in a month, by day and number; and whether there are more than MOST_LINES."""
    lines: list[IssuedLine] = []
    while len(lines) < MOST_LINES:
        page = await read(month_lines.issued_lines, environment, month, lines[-1] if lines else None)
        lines += page
        if len(page) < month_lines.A_PAGE:
            return sorted(lines, key=_by_number), False
    return lines, True


def _by_number(line: IssuedLine | ReceivedLine) -> tuple[date, str]:
    return line.issued_on, line.e_ncf


async def received_lines(read: Read, environment: Environment, month: YearMonth) -> tuple[list[ReceivedLine], bool]:
    """Read the receipts received in a month, likewise."""
    lines: list[ReceivedLine] = []
    while len(lines) < MOST_LINES:
        page = await read(month_lines.received_lines, environment, month, lines[-1] if lines else None)
        lines += page
        if len(page) < month_lines.A_PAGE:
            return sorted(lines, key=_by_number), False
    return lines, True


async def read_sheets(
    read: Read,
    environment: Environment,
    month: YearMonth,
    memory: MonthMemory,
    language: Language,
    *,
    with_open: bool = True,
) -> list[MonthSheet]:
    """Read a month and lay it out; `with_open` as in `months.report`."""
    report = await read(months.report, environment, month, memory, with_open=with_open)
    issued, is_cut = await issued_lines(read, environment, month)
    received, is_cut_too = await received_lines(read, environment, month)

    def table(title: Text, heads: Sequence[Text], rows: list[Sequence[Cell]], *, is_cut: bool = False) -> MonthSheet:
        width = len(heads)
        if is_cut:
            rows.append((MORE_LINES.said(language), *[None] * (width - 1)))
        return MonthSheet(title.said(language), [head.said(language) for head in heads], rows)

    return [
        table(
            Text("Totals", "Totales"),
            (month.name, _TYPE, _STATE, _RECEIPTS, *_SUMS.values()),
            _totals(report, language),
        ),
        table(Text("Issued", "Emitidos"), ISSUED_HEADS, [issued_row(one, language) for one in issued], is_cut=is_cut),
        table(
            Text("Received", "Recibidos"),
            _RECEIVED_HEADS,
            [_received_row(one, language) for one in received],
            is_cut=is_cut_too,
        ),
        table(
            Text("Numbers", "Numeración"),
            (*_NUMBER_HEADS, *((_OPEN, _OTHERS) if with_open else (_OPEN_OR_OTHERS,)), _WITHOUT),
            _number_rows(report, language, with_open=with_open),
        ),
    ]


#: Amounts of a type and state, by the names of IssuedSum.
_SUMS = {
    "base18": _AMOUNTS["base18"],
    "base16": _AMOUNTS["base16"],
    "base0": _AMOUNTS["base0"],
    "exempt": _AMOUNTS["exempt"],
    "itbis": _AMOUNTS["itbis"],
    "itbis_withheld": _AMOUNTS["itbisWithheld"],
    "isr_withheld": _AMOUNTS["isrWithheld"],
    "total": _TOTAL,
}


def issued_row(one: IssuedLine, language: Language) -> Sequence[Cell]:
    """The row of an issued receipt under ISSUED_HEADS; empty amounts were signed by an older release."""
    return (
        one.issued_on,
        f"E{one.ecf_type}",
        one.e_ncf,
        _STATES[one.status].said(language),
        one.buyer_rnc,
        one.buyer_name,
        *_amounts(one.amounts, one.itbis),
        one.total,
    )


def _received_row(one: ReceivedLine, language: Language) -> Sequence[Cell]:
    return (
        one.issued_on,
        f"E{one.ecf_type}",
        one.e_ncf,
        one.issuer_rnc,
        one.issuer_name,
        *_amounts(one.amounts, None),
        one.total,
        None if one.approved is None else _ANSWERS[one.approved].said(language),
    )


def _amounts(amounts: Mapping[str, Any] | None, itbis: Decimal | None) -> list[Cell]:
    if amounts is None:
        return [itbis if name == "itbis" else None for name in _AMOUNTS]
    return [Decimal(amounts.get(name, "0.00")) for name in _AMOUNTS]


def _totals(report: MonthReport, language: Language) -> list[Sequence[Cell]]:
    empty = [None] * len(_SUMS)
    rows: list[Sequence[Cell]] = [
        (name.said(language), None, None, None, *empty[1:], getattr(report.totals, one))
        for one, name in _TOTALS.items()
        if one != "other_taxes" or not any(each.without_amounts for each in report.issued)
    ]
    if report.left_out.ended:
        rows.append((_NOT_ALL_ENDED.said(language), None, None, None, *empty))
    for one in report.issued:
        sums = [getattr(one, name) for name in _SUMS]
        state = _STATES[one.status].said(language)
        rows.append((Text("Issued", "Emitidos").said(language), f"E{one.ecf_type}", state, one.receipts, *sums))
    for till in report.by_sequence:
        name = Text("Accepted, by sequence", "Aceptados por secuencia").said(language)
        rows.append((name, f"{till.prefix} {till.name}".rstrip(), None, till.receipts, *empty[1:], till.total))
    for got in report.received:
        sums = [getattr(got, name) if name in ("itbis", "total") else None for name in _SUMS]
        rows.append((Text("Received", "Recibidos").said(language), f"E{got.ecf_type}", None, got.receipts, *sums))
    return rows


def _number_rows(report: MonthReport, language: Language, *, with_open: bool) -> list[Sequence[Cell]]:
    rows: list[Sequence[Cell]] = []
    for one in report.numbers:
        others = (one.still_open, one.other_months) if with_open else (one.other_months,)
        counts = (one.drawn, one.accepted, one.rejected, one.failed, *others, one.without_receipt)
        rows.append((one.prefix, one.first, one.last, *counts))
        for gap in one.gaps:
            ends = (f"{one.prefix}{number:010d}" for number in (gap.first, gap.last))
            rows.append((f"{one.prefix} {_GAP.said(language)}", *ends, *[None] * (len(counts) - 1), gap.count))
    if report.left_out.waiting:
        rows.append((_NOT_ALL_OPEN.said(language), *[None] * (len(rows[0]) - 1 if rows else 0)))
    return rows
