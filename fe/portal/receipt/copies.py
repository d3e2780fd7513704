"""A form that begins with what another receipt says: the same again, or a note that modifies it."""

from collections.abc import Mapping
from contextlib import suppress
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.dates import read_day, show_day
from fe.ecf.describe import described, every
from fe.ecf.document import Document
from fe.ecf.lines import DISCOUNT, SURCHARGE, line_amount, sub_total
from fe.ecf.money import ZERO, cents, exact, number
from fe.portal.receipt.paths import NoPlace, flatten, plain, put

NOTES = (EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE)
#: A credit note says of the receipt that it modifies whether it is older.
_YOUNG = timedelta(days=30)

#: Fields that a copy does not take over: number, dates, and computed values of lines.
_ITS_OWN = (
    *("Encabezado.Version", "Encabezado.IdDoc.eNCF", "Encabezado.IdDoc.FechaVencimientoSecuencia"),
    *("Encabezado.IdDoc.TipoeCF", "Encabezado.IdDoc.FechaLimitePago", "Encabezado.IdDoc.TotalPaginas"),
    *("Encabezado.Emisor.FechaEmision", "Encabezado.Totales", "FechaHoraFirma", "Subtotales", "Paginacion"),
    *("DetallesItems.Item.NumeroLinea", "DetallesItems.Item.MontoItem"),
    *("DetallesItems.Item.OtraMonedaDetalle.MontoItemOtraMoneda", "DescuentosORecargos.DescuentoORecargo.NumeroLinea"),
)
_NOT_IN_A_NOTE = ("InformacionReferencia", "Encabezado.IdDoc.TablaFormasPago", "Encabezado.IdDoc.TerminoPago")
_LINES = "DetallesItems.Item"
_CURRENCY = "Encabezado.OtraMoneda."
_KEPT_OF_CURRENCY = ("TipoMoneda", "TipoCambio")
_SUB_TABLES = {"DescuentoMonto": "TablaSubDescuento", "RecargoMonto": "TablaSubRecargo"}


def the_same_again(source: Document, wanted: EcfType, issuer: Mapping[str, Any]) -> dict[str, Any]:
    """The payload of a new receipt with the content of `source`, as far as the wanted type has the fields.

    `issuer` is the company's current fiscal data, which the form fills in again.
    """
    known = {one.path for one in every(described(Root.ECF, wanted)) if one.simple}
    made: dict[str, Any] = {}
    for place, _ in enumerate(source.get(_LINES) or [], 1):
        put(made, f"{_LINES}[{place}]", {})  # a line that says nothing of its own counts, too
    for path, value in flatten(dict(source.content)):
        there = plain(path)
        if there not in known or _is_its_own(source, path, there) or _is_issuers(there, value, issuer):
            continue
        with suppress(NoPlace):  # in a list behind what the wanted type does not know
            put(made, path, value)
    forms = made.get("Encabezado", {}).get("IdDoc", {}).get("TablaFormasPago", {}).get("FormaDePago", [])
    if len(forms) == 1:
        forms[0].pop("MontoPago", None)  # all that is due, of the new receipt too
    return made


def note_for(
    source: Document, wanted: EcfType, issuer: Mapping[str, Any], *, e_ncf: str | None, issued: date, today: date
) -> dict[str, Any]:
    """The payload of a note of the wanted type on the whole of `source`; what it is for, a person says."""
    made = the_same_again(source, wanted, issuer)
    for path in _NOT_IN_A_NOTE:
        *way, name = path.split(".")
        group = made
        for step in way:
            group = group.get(step, {})
        group.pop(name, None)
    written = source.get("Encabezado.Emisor.FechaEmision")
    day = (read_day(str(written)) if written else None) or issued
    _keep_amounts(made, source)
    if e_ncf is not None:
        put(made, "InformacionReferencia.NCFModificado", e_ncf)
    put(made, "InformacionReferencia.FechaNCFModificado", show_day(day))
    put(made, "Encabezado.IdDoc.TipoPago", "1")
    if wanted is EcfType.CREDIT_NOTE:
        put(made, "Encabezado.IdDoc.IndicadorNotaCredito", "0" if today - day <= _YOUNG else "1")
    return made


def returned(note: dict[str, Any], quantities: Mapping[int, Decimal]) -> None:
    """Reduce a note on the whole to lines, by their place from 1 on, with the quantities that come back.

    Discounts of lines, and discounts on the whole that are amounts, are reduced in proportion.
    """
    items = note["DetallesItems"]["Item"]
    with exact():
        before = sum(((line_amount(item) or ZERO) for item in items), ZERO)
        for place, item in enumerate(items, 1):
            issued = number(item.get("CantidadItem"))
            if place in quantities and issued and quantities[place] != issued:
                _reduce(item, quantities[place] / issued)
                item["CantidadItem"] = f"{quantities[place]:f}"
        kept = [item for place, item in enumerate(items, 1) if place in quantities]
        after = sum(((line_amount(item) or ZERO) for item in kept), ZERO)
        note["DetallesItems"]["Item"] = kept
        for row in note.get("DescuentosORecargos", {}).get("DescuentoORecargo", ()):
            amount = number(row.get("MontoDescuentooRecargo"))
            if row.get("ValorDescuentooRecargo"):
                row.pop("MontoDescuentooRecargo", None)
            elif amount is not None and before:
                row["MontoDescuentooRecargo"] = f"{cents(amount * after / before):f}"


def _reduce(item: dict[str, Any], part: Decimal) -> None:
    item.pop("MontoItem", None)
    for names in (DISCOUNT, SURCHARGE):
        if names.total in item or names.table in item:
            sent = number(item.get(names.total))
            item[names.total] = f"{cents((sub_total(item, names) if sent is None else sent) * part):f}"
            item.pop(names.table, None)


def _keep_amounts(made: dict[str, Any], source: Document) -> None:
    """Keep sent amounts of lines that differ from price times quantity, so that the note has the issued total."""
    with exact():
        for place, item in enumerate(source.get(_LINES) or [], 1):
            sent = number(item.get("MontoItem"))
            if sent is not None and sent != line_amount(item):
                put(made, f"{_LINES}[{place}].MontoItem", format(sent, "f"))


def _is_its_own(source: Document, path: str, there: str) -> bool:
    if there.startswith(_CURRENCY):
        return there.removeprefix(_CURRENCY) not in _KEPT_OF_CURRENCY
    row, _, name = path.rpartition(".")
    if name in _SUB_TABLES and source.get(f"{row}.{_SUB_TABLES[name]}"):
        return True  # the sum of what is kept beside it
    return any(there == one or there.startswith(f"{one}.") for one in _ITS_OWN)


def _is_issuers(there: str, value: str, issuer: Mapping[str, Any]) -> bool:
    group, _, name = there.rpartition(".")
    return group == "Encabezado.Emisor" and str(issuer.get(name)) == value
