"""Fill in elements that the client left out (interface.md#auto-fill).

A value that was sent is never changed or removed; only `FechaHoraFirma` is always replaced. The given document is not
touched: changed parts are copied.
"""

from collections.abc import Container, Mapping
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.currency import convert, exchange_rate, header_amounts
from fe.ecf.dates import local, read_day, show_day, show_moment
from fe.ecf.document import Document
from fe.ecf.excise import rates_for, tax_code
from fe.ecf.lines import DISCOUNT, SURCHARGE, SubTable, line_amount, sub_amount, sub_total
from fe.ecf.money import ZERO, cents, exact, number
from fe.ecf.reading import Fields, rows, section, text
from fe.ecf.schema.kinds import kind
from fe.ecf.taxes import RATES, Rates
from fe.ecf.thresholds import credit_note_age
from fe.ecf.totals import SHAPES, Tally, adjusted_indicator, adjustment_amount, adjustments, compose, says_included

Made = dict[str, Any]

VERSION = "1.0"
_EXPIRY = "FechaVencimientoSecuencia"

#: A `Totales` that says no more than these says nothing of the lines.
_BESIDE_TOTAL = {"MontoTotal", "MontoAvancePago", "SaldoAnterior"}
_FROM_TOTAL = {"MontoPeriodo", "ValorPagar"}
#: Elements of `Totales` that say what is due: the first that is there.
AMOUNTS_DUE = ("ValorPagar", "MontoPeriodo", "MontoTotal")

#: Where the ancillary documents say which version they are and when they were made.
_STAMPS = {
    Root.ACECF: ("DetalleAprobacionComercial", "FechaHoraAprobacionComercial"),
    Root.ANECF: ("Encabezado", "FechaHoraAnulacioneNCF"),
    Root.ARECF: ("DetalleAcusedeRecibo", "FechaHoraAcuseRecibo"),
}


def autofill(
    document: Document,
    *,
    issuer: Mapping[str, Any] | None,
    expiry: date | None,
    now: datetime,
    rates: Rates = RATES,
) -> Document:
    """Fill what `document` leaves out and can be derived; give a new document.

    An ECF gets Version, TipoeCF, FechaVencimientoSecuencia (types that have it, from `expiry`), Emisor (from `issuer`,
    the fields of `Emisor`) with FechaEmision (today), the lines' NumeroLinea, IndicadorFacturacion 4, discount and
    surcharge amounts and MontoItem, the amounts of percentage adjustments, IndicadorMontoGravado 0 where something is
    taxed, IndicadorNotaCredito (from the dates), Totales, the amounts of OtraMoneda, and FechaHoraFirma: `now`.
    A `Totales` without MontoTotal, or with that alone, counts as left out, and so does an `Emisor` without RNCEmisor;
    what they do say stays. A single FormaDePago without MontoPago gets the amount due. An RFCE gets Version, TipoeCF
    and Emisor, the other roots Version and the moment they were made. ValueError when `now` has no time zone.
    """
    here = local(now)
    if document.root is Root.ECF and document.type is not None:
        content = _fill_ecf(document.content, document.type, issuer, expiry, here, rates)
    elif document.root is Root.RFCE:
        content = _fill_summary(document.content, issuer, here)
    else:
        content = _fill_ancillary(document, here)
    return replace(document, content=content)


def says_when_its_range_ends(ecf_type: EcfType) -> bool:
    """Whether receipts of this type have FechaVencimientoSecuencia, and need it: all but 32 and 34."""
    return _EXPIRY in kind(Root.ECF, ecf_type).root.by_name["Encabezado"].by_name["IdDoc"].by_name


def states_totals(sent: Fields) -> bool:
    """Whether a `Totales` counts as it was sent: it has MontoTotal, and not that alone."""
    return not missing(sent, "MontoTotal") and not _sent(sent).keys() <= _BESIDE_TOTAL


def missing(parent: Fields, name: str) -> bool:
    """Whether nothing was sent under `name`: absent, null, or empty. Zero was sent."""
    value = parent.get(name)
    return value is None or (not value and not isinstance(value, (int, Decimal)))


def _default(parent: Made, name: str, value: Any) -> None:
    if value is not None and missing(parent, name):
        parent[name] = value


def _sent(fields: Fields) -> Made:
    return {name: value for name, value in fields.items() if not missing(fields, name)}


def _fill_ecf(
    content: Fields,
    ecf_type: EcfType,
    issuer: Mapping[str, Any] | None,
    expiry: date | None,
    now: datetime,
    rates: Rates,
) -> Made:
    made = dict(content)
    header = made["Encabezado"] = dict(section(content, "Encabezado"))
    _default(header, "Version", VERSION)
    id_doc = header["IdDoc"] = dict(section(header, "IdDoc"))
    _default(id_doc, "TipoeCF", ecf_type.value)
    fields = kind(Root.ECF, ecf_type).root.by_name["Encabezado"].by_name
    if says_when_its_range_ends(ecf_type):
        _default(id_doc, _EXPIRY, show_day(expiry) if expiry else None)
    header["Emisor"] = _issuer(section(header, "Emisor"), fields["Emisor"].by_name, issuer, now.date())
    if ecf_type is EcfType.CREDIT_NOTE:
        _credit_note_age(id_doc, section(made, "InformacionReferencia"), header["Emisor"])

    written = text(header["Emisor"], "FechaEmision")
    sent = section(header, "Totales")
    day = (read_day(written) if written else None) or now.date()
    tally = Tally(rates_for(sent, rates, day), day)
    rate = exchange_rate(header)
    with exact():
        items = [
            _line(item, place, tally, rate) for place, item in enumerate(rows(content, "DetallesItems", "Item"), 1)
        ]
        if items:
            made["DetallesItems"] = {**section(content, "DetallesItems"), "Item": items}
        if SHAPES[ecf_type].says_whether_included and any(tally.billed[1:4]):
            _default(id_doc, "IndicadorMontoGravado", "0")
        included = says_included(id_doc)
        global_rows = rows(content, "DescuentosORecargos", "DescuentoORecargo")
        if global_rows:
            made["DescuentosORecargos"] = {
                **section(content, "DescuentosORecargos"),
                "DescuentoORecargo": [
                    _adjustment(row, place, tally, included) for place, row in enumerate(global_rows, 1)
                ],
            }
        if not states_totals(sent):
            computed = compose(
                tally,
                adjustments(made, tally, included),
                shape=SHAPES[ecf_type],
                included=included,
                sent=sent,
            )
            if not missing(sent, "MontoTotal"):  # what hangs on the stated total is not made from another one
                computed = {name: value for name, value in computed.items() if name not in _FROM_TOTAL}
            header["Totales"] = {**computed, **_sent(sent), **_taxes(sent, computed)}
        _payment(id_doc, header.get("Totales", {}))
        other = section(header, "OtraMoneda")
        if rate is not None and missing(other, "MontoTotalOtraMoneda"):
            header["OtraMoneda"] = {**header_amounts(header["Totales"], rate), **_sent(other)}
    made.pop("FechaHoraFirma", None)
    made["FechaHoraFirma"] = show_moment(now)
    return made


def _credit_note_age(id_doc: Made, reference: Fields, issuer: Fields) -> None:
    """Return whether the receipt that a credit note modifies is older than 30 days, where the note dates it."""
    then, issued = (
        read_day(text(*each) or "") for each in ((reference, "FechaNCFModificado"), (issuer, "FechaEmision"))
    )
    if then is not None and issued is not None:
        _default(id_doc, "IndicadorNotaCredito", str(credit_note_age(issued, then)))


def _payment(id_doc: Made, totals: Fields) -> None:
    forms = rows(id_doc, "TablaFormasPago", "FormaDePago")
    due = next((totals[name] for name in AMOUNTS_DUE if not missing(totals, name)), None)
    if len(forms) == 1 and due is not None and missing(forms[0], "MontoPago"):
        id_doc["TablaFormasPago"] = {"FormaDePago": [{**forms[0], "MontoPago": due}]}


def _taxes(sent: Fields, computed: Fields) -> Made:
    """The additional taxes that were sent, with the rate or the amount where a row says only the other."""
    if missing(sent, "ImpuestosAdicionales"):
        return {}
    due = {row["TipoImpuesto"]: row for row in rows(computed, "ImpuestosAdicionales", "ImpuestoAdicional")}
    filled = []
    for row in rows(sent, "ImpuestosAdicionales", "ImpuestoAdicional"):
        whole = dict(row)
        for name, value in due.get(tax_code(row) or "", {}).items():
            _default(whole, name, value)
        filled.append(whole)
    return {"ImpuestosAdicionales": {**section(sent, "ImpuestosAdicionales"), "ImpuestoAdicional": filled}}


def _issuer(sent: Fields, known: Container[str], issuer: Mapping[str, Any] | None, today: date) -> Made:
    made = dict(sent)
    if missing(made, "RNCEmisor") and issuer is not None:
        # The tenant's fiscal data may say what `Emisor` of this type has no place for, such as a sales route.
        made = {name: value for name, value in issuer.items() if name in known} | _sent(made)
    _default(made, "FechaEmision", show_day(today))
    return made


def _line(item: Fields, place: int, tally: Tally, rate: Decimal | None) -> Fields:
    changed: Made = {}
    if missing(item, "NumeroLinea"):
        changed["NumeroLinea"] = str(place)
    if missing(item, "IndicadorFacturacion"):
        changed["IndicadorFacturacion"] = "4"
    if "DescuentoMonto" in item or "TablaSubDescuento" in item:
        _sub_table(item, DISCOUNT, changed)
    if "RecargoMonto" in item or "TablaSubRecargo" in item:
        _sub_table(item, SURCHARGE, changed)
    amount = number(item.get("MontoItem"))
    if amount is None and missing(item, "MontoItem"):
        amount = line_amount(item)
        if amount is not None:
            changed["MontoItem"] = amount
    tally.add(item, ZERO if amount is None else amount)
    if rate is not None and amount is not None and "OtraMonedaDetalle" in item:
        detail = dict(section(item, "OtraMonedaDetalle"))
        _default(detail, "MontoItemOtraMoneda", convert(amount, rate))
        changed["OtraMonedaDetalle"] = detail
    return {**item, **changed} if changed else item


def _sub_table(item: Fields, names: SubTable, changed: Made) -> None:
    sent = number(item.get(names.total))
    table = rows(item, names.table, names.row)
    if sent is None and table and missing(item, names.total):
        changed[names.total] = sub_total(item, names)
    if not table and sent is not None and sent > 0 and missing(item, names.table):
        # The authority adds the table up and rejects a total that stands alone (code 2020, 2030).
        changed[names.table] = {names.row: [{names.type: "$", names.amount: cents(sent)}]}
        return
    filled = [_sub_row(item, row, names) for row in table]
    if any(new is not row for new, row in zip(filled, table, strict=True)):
        changed[names.table] = {**section(item, names.table), names.row: filled}


def _sub_row(item: Fields, row: Fields, names: SubTable) -> Fields:
    if missing(row, names.amount):
        amount = sub_amount(item, row, names)
        if amount is not None:
            return {**row, names.amount: amount}
    return row


def _adjustment(row: Fields, place: int, tally: Tally, included: bool) -> Made:
    made = dict(row)
    _default(made, "NumeroLinea", str(place))
    k = adjusted_indicator(row, tally)
    if k is not None:
        _default(made, "IndicadorFacturacionDescuentooRecargo", str(k))
        _default(made, "MontoDescuentooRecargo", adjustment_amount(row, k, tally, included))
    return made


def _fill_summary(content: Fields, issuer: Mapping[str, Any] | None, now: datetime) -> Made:
    header = dict(section(content, "Encabezado"))
    _default(header, "Version", VERSION)
    header["IdDoc"] = dict(section(header, "IdDoc"))
    _default(header["IdDoc"], "TipoeCF", EcfType.CONSUMER.value)
    known = kind(Root.RFCE, EcfType.CONSUMER).root.by_name["Encabezado"].by_name["Emisor"].by_name
    header["Emisor"] = _issuer(section(header, "Emisor"), known, issuer, now.date())
    return {**content, "Encabezado": header}


def _fill_ancillary(document: Document, now: datetime) -> Made:
    if document.root not in _STAMPS:
        return dict(document.content)
    place, stamp = _STAMPS[document.root]
    fields = dict(section(document.content, place))
    _default(fields, "Version", VERSION)
    _default(fields, stamp, show_moment(now))
    return {**document.content, place: fields}
