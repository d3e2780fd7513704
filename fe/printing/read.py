"""Read a signed e-CF as what is printed of it: texts of the XML, words for its codes, amounts as Decimal.

Every layout prints one of these records. Source of the content: authority.md#printed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.dates import read_day
from fe.ecf.document import Document, NotADocument, read_xml
from fe.ecf.excise import Excise, codes_of, rates_for, tax_code
from fe.ecf.lines import indicator
from fe.ecf.money import ZERO, cents, exact, number
from fe.ecf.parse import MAX_SIGNED_BYTES, MAX_SIGNED_ELEMENTS, MalformedXml, parse_xml
from fe.ecf.qr_address import Printed
from fe.ecf.reading import Fields, rows, section, text, whole
from fe.ecf.schema.codes import CODES, GEOGRAPHY, UNITS
from fe.ecf.signature.profile import NAMESPACE, security_code
from fe.ecf.summary import takes_summary
from fe.ecf.taxes import AD_VALOREM, ADDITIONAL_TAXES, EXEMPT, RATES, SPECIFIC, VAT, VAT_PERCENT, Rates
from fe.ecf.texts import Language
from fe.ecf.totals import SHAPES, Adjustments, Tally, adjustments, is_rule_1007, says_included, without_vat
from fe.printing.labels import MODIFICATIONS, PAPER_TITLES, TITLES

_PLACES = {code.value: code.meaning_es for code in GEOGRAPHY}
_UNITS = {code.value: code for code in UNITS}
#: Codes of TipoPago and of FormaPago.
_CREDIT, _SALE_ON_CREDIT = "2", "4"
_EXPIRING = frozenset(EcfType) - {EcfType.CONSUMER, EcfType.CREDIT_NOTE}


class NotPrintable(ValueError):
    """The bytes are not a signed e-CF that can be printed."""


class TooManyPages(ValueError):
    """The document has more pages than a receipt may have."""


@dataclass(frozen=True, slots=True)
class Party:
    """Issuer or buyer. `lines`: address, place and contact, one text per line."""

    rnc: str
    name: str
    trade_name: str = ""
    branch: str = ""
    foreign_id: str = ""
    country: str = ""
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Modified:
    """The receipt that a note modifies."""

    ncf: str
    words: str
    day: str
    reason: str


@dataclass(frozen=True, slots=True)
class Amount:
    """One row of totals. `words` is a text of the document or of table I; without it the row has the label `name`."""

    name: str
    amount: Decimal
    words: str = ""
    percent: str = ""


@dataclass(frozen=True, slots=True)
class Currency:
    """Amounts of a receipt or of a line in another currency; a line has no rate of its own."""

    code: str
    rate: Decimal | None
    amounts: tuple[Amount, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """One line. Its taxes and `net` (without ITBIS) are computed: the format has none of them."""

    number: int
    name: str
    description: str
    abroad: Currency | None
    exempt: bool
    quantity: Decimal
    unit: str
    price: Decimal
    discount: Decimal
    surcharge: Decimal
    vat: Decimal
    value: Decimal
    degrees: Decimal | None
    retail: Decimal | None
    specific: Decimal
    ad_valorem: Decimal
    other: Decimal
    net: Decimal
    taxed: bool


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A discount or surcharge of the whole document."""

    words: str
    is_discount: bool
    percent: Decimal | None
    amount: Decimal


@dataclass(frozen=True, slots=True)
class PageRange:
    """Lines of one page of the XML's Paginacion, and its subtotals."""

    first: int
    last: int
    subtotals: tuple[Amount, ...]


@dataclass(frozen=True, slots=True)
class PrintedReceipt:
    """Content of one printed e-CF."""

    type: EcfType
    title: str
    e_ncf: str
    issued: str
    expires: str
    issuer: Party
    buyer: Party | None
    modified: Modified | None
    facts: tuple[tuple[str, str], ...]
    #: Forms of payment and their amounts.
    payments: tuple[Amount, ...]
    items: tuple[Item, ...]
    has_excise: bool
    adjustments: tuple[Adjustment, ...]
    totals: tuple[Amount, ...]
    total: Decimal
    after_total: tuple[Amount, ...]
    currency: Currency | None
    pages: tuple[PageRange, ...]
    deferred: bool
    signed: str
    code: str
    printed: Printed
    is_summarised: bool
    #: Series B on paper: an NCF, no QR code, no security code, no signature.
    is_paper: bool = False

    def url(self, environment: Environment, *, ecf: str, fc: str) -> str:
        """Return the address of the QR code."""
        return self.printed.address(environment, self.code, ecf=ecf, fc=fc)


def read(signed_xml: bytes, language: Language = "es") -> PrintedReceipt:
    """Read a signed e-CF. Raises NotPrintable for other bytes; the signature is not verified here."""
    try:
        root = parse_xml(signed_xml, max_bytes=MAX_SIGNED_BYTES, max_elements=MAX_SIGNED_ELEMENTS)
        document = read_xml(root)
    except (MalformedXml, NotADocument) as error:
        raise NotPrintable(str(error)) from error
    if document.root is not Root.ECF or document.type is None:
        raise NotPrintable("only an e-CF has a printed form")
    value = root.findtext(f"{{{NAMESPACE}}}Signature/{{{NAMESPACE}}}SignatureValue")
    if not value or not value.strip():
        raise NotPrintable("the e-CF is not signed")
    with exact():
        code = security_code("".join(value.split()))
        return _Reader(document, document.type, language).receipt(Printed.of(root), code)


def read_paper(document: Document, ncf: str, expires: str, language: Language = "es") -> PrintedReceipt:
    """Read the content of a receipt of series B, which has no signature. Raises NotPrintable."""
    if document.root is not Root.ECF or document.type is None:
        raise NotPrintable("only the content of an e-CF has a printed form")
    with exact():
        receipt = _Reader(document, document.type, language).receipt(Printed(False, "", None, ncf, "", "", ""), "")
    return replace(receipt, title=PAPER_TITLES[document.type], expires=expires, is_paper=True, deferred=False)


class _Reader:
    def __init__(self, document: Document, the_type: EcfType, language: Language) -> None:
        self._document = document
        self._type = the_type
        self._language = language
        self._header = section(document.content, "Encabezado")
        self._totals = section(self._header, "Totales")
        self._id = section(self._header, "IdDoc")

    def receipt(self, printed: Printed, code: str) -> PrintedReceipt:
        issuer = section(self._header, "Emisor")
        issued = text(issuer, "FechaEmision") or ""
        day = read_day(issued)
        summarised = day is not None and takes_summary(self._document, on=day)
        items = tuple(self._items(issued))
        payments = tuple(self._payments())
        return PrintedReceipt(
            type=self._type,
            title=TITLES[self._type],
            e_ncf=printed.e_ncf,
            issued=issued,
            expires=(text(self._id, "FechaVencimientoSecuencia") or "") if self._type in _EXPIRING else "",
            issuer=self._issuer(issuer),
            buyer=self._buyer(),
            modified=self._modified(),
            facts=tuple(self._facts(issuer)),
            payments=payments,
            items=items,
            has_excise=any(one.specific or one.ad_valorem or one.retail or one.degrees for one in items),
            adjustments=tuple(self._adjustments()),
            totals=tuple(self._rows_before_total()),
            total=number(self._totals.get("MontoTotal")) or ZERO,
            after_total=(*_amounts(self._totals, _AFTER_TOTAL), *(() if self._is_credit_alone() else payments)),
            currency=self._currency(),
            pages=tuple(self._pages()),
            deferred=whole(self._id, "IndicadorEnvioDiferido") == "1",
            signed=printed.signed,
            code=code,
            printed=printed if not summarised else _as_summary(printed),
            is_summarised=summarised,
        )

    # --- parties ---

    def _issuer(self, issuer: Fields) -> Party:
        phones = _list(section(issuer, "TablaTelefonoEmisor"), "TelefonoEmisor")
        lines = (
            text(issuer, "DireccionEmisor"),
            _place(issuer, "Municipio", "Provincia"),
            ", ".join(phones),
            text(issuer, "CorreoEmisor"),
            text(issuer, "WebSite"),
        )
        return Party(
            rnc=text(issuer, "RNCEmisor") or "",
            name=text(issuer, "RazonSocialEmisor") or "",
            trade_name=text(issuer, "NombreComercial") or "",
            branch=text(issuer, "Sucursal") or "",
            lines=tuple(filter(None, lines)),
        )

    def _buyer(self) -> Party | None:
        buyer = section(self._header, "Comprador")
        party = Party(
            rnc=text(buyer, "RNCComprador") or "",
            name=text(buyer, "RazonSocialComprador") or "",
            foreign_id=text(buyer, "IdentificadorExtranjero") or "",
            country=text(buyer, "PaisComprador") or "",
            lines=tuple(
                filter(
                    None, (text(buyer, "DireccionComprador"), _place(buyer, "MunicipioComprador", "ProvinciaComprador"))
                )
            ),
        )
        return party if party.rnc or party.name or party.foreign_id else None

    def _modified(self) -> Modified | None:
        reference = section(self._document.content, "InformacionReferencia")
        ncf = text(reference, "NCFModificado")
        if not ncf:
            return None
        return Modified(
            ncf,
            MODIFICATIONS.get(whole(reference, "CodigoModificacion") or "", ""),
            text(reference, "FechaNCFModificado") or "",
            text(reference, "RazonModificacion") or "",
        )

    def _facts(self, issuer: Fields) -> Iterator[tuple[str, str]]:
        payment = self._words("payment-type", whole(self._id, "TipoPago"))
        if payment:
            yield "payment", _capital(payment)
        for name, value in (
            ("due", text(self._id, "FechaLimitePago")),
            ("term", text(self._id, "TerminoPago")),
            ("order", text(section(self._header, "Comprador"), "NumeroOrdenCompra")),
            ("internal", text(issuer, "NumeroFacturaInterna")),
            ("seller", text(issuer, "CodigoVendedor")),
        ):
            if value:
                yield name, value

    def _payments(self) -> Iterator[Amount]:
        for row in rows(self._id, "TablaFormasPago", "FormaDePago"):
            words = self._words("payment-form", whole(row, "FormaPago"))
            yield Amount("payment", number(row.get("MontoPago")) or ZERO, _capital(words))

    def _is_credit_alone(self) -> bool:
        """Return whether the type of payment says all that the forms say: a sale wholly on credit."""
        forms = [whole(row, "FormaPago") for row in rows(self._id, "TablaFormasPago", "FormaDePago")]
        return whole(self._id, "TipoPago") == _CREDIT and forms == [_SALE_ON_CREDIT]

    def _words(self, codes: str, value: str | None) -> str:
        found = next((code for code in CODES[codes] if code.value == value), None)
        return "" if found is None else found.meaning if self._language == "en" else found.meaning_es

    # --- lines ---

    def _items(self, issued: str) -> Iterator[Item]:
        day = read_day(issued)
        included = says_included(self._id)
        rates = None if day is None else rates_for(self._totals, RATES, day)
        divisor = None if rates is None or day is None or not included else self._divisor(rates, day)
        currency = text(section(self._header, "OtraMoneda"), "TipoMoneda") or ""
        for place, item in enumerate(rows(self._document.content, "DetallesItems", "Item"), 1):
            k = indicator(item.get("IndicadorFacturacion"))
            value = number(item.get("MontoItem")) or ZERO
            net = value if k is None else without_vat(value, k, included, divisor)
            specific = ad_valorem = other = ZERO
            if rates is not None and day is not None and codes_of(item):
                excise = Excise(rates, day)
                excise.add(item, EXEMPT if k is None else k, value)
                specific, ad_valorem, other = self._additional(excise, included, divisor is not None)
            vat = ZERO
            if k is not None and k in VAT:
                vat = cents((net + (specific + ad_valorem if k == 1 else ZERO)) * VAT[k].fraction)
            yield Item(
                number=place,
                name=text(item, "NombreItem") or "",
                description=text(item, "DescripcionItem") or "",
                abroad=_abroad(item, currency),
                exempt=k == EXEMPT,
                quantity=number(item.get("CantidadItem")) or ZERO,
                unit=self._unit(whole(item, "UnidadMedida")),
                price=number(item.get("PrecioUnitarioItem")) or ZERO,
                discount=number(item.get("DescuentoMonto")) or ZERO,
                surcharge=number(item.get("RecargoMonto")) or ZERO,
                vat=vat,
                value=value,
                degrees=number(item.get("GradosAlcohol")),
                retail=number(item.get("PrecioUnitarioReferencia")),
                specific=specific,
                ad_valorem=ad_valorem,
                other=other,
                net=net,
                taxed=k in VAT,
            )

    def _divisor(self, rates: Rates, day: date) -> Decimal | None:
        """Return the divisor of rule 10-07 of a document that includes ITBIS, if it has a discount of that rule."""
        content = self._document.content
        if not any(map(is_rule_1007, rows(content, "DescuentosORecargos", "DescuentoORecargo"))):
            return None
        tally = Tally(rates, day)
        for item in rows(content, "DetallesItems", "Item"):
            tally.add(item, number(item.get("MontoItem")) or ZERO)
        return tally.divisor(adjustments(content, tally, included=True))

    def _additional(self, excise: Excise, included: bool, by_rule_1007: bool) -> tuple[Decimal, Decimal, Decimal]:
        """Return the additional taxes of one line: specific, ad valorem and others."""
        allowed = SHAPES[self._type].additional
        burden = excise.burden([ZERO] * 5, Adjustments(), included, by_rule_1007, allowed)
        specific = ad_valorem = other = ZERO
        for row in burden.rows:
            kind = ADDITIONAL_TAXES[row["TipoImpuesto"]].kind
            if kind in SPECIFIC:
                specific += row[kind.element]
            elif kind in AD_VALOREM:
                ad_valorem += row[kind.element]
            else:
                other += row[kind.element]
        return specific, ad_valorem, other

    def _unit(self, value: str | None) -> str:
        unit = None if value is None else _UNITS.get(value)
        words = "" if unit is None else unit.meaning if self._language == "en" else unit.meaning_es
        return _capital(words)

    # --- totals ---

    def _adjustments(self) -> Iterator[Adjustment]:
        currency = text(section(self._header, "OtraMoneda"), "TipoMoneda") or ""
        for row in rows(self._document.content, "DescuentosORecargos", "DescuentoORecargo"):
            percent = number(row.get("ValorDescuentooRecargo")) if text(row, "TipoValor") == "%" else None
            described = text(row, "DescripcionDescuentooRecargo")
            other = number(row.get("MontoDescuentooRecargoOtraMoneda"))
            abroad = None if other is None else f"{currency} {show(other)}"
            yield Adjustment(
                ", ".join(filter(None, (described, abroad))),
                text(row, "TipoAjuste") != "R",
                percent,
                number(row.get("MontoDescuentooRecargo")) or ZERO,
            )

    def _rows_before_total(self) -> Iterator[Amount]:
        totals = self._totals
        yield from _amounts(totals, {"MontoGravadoTotal": "taxed"})
        taxed = [(k, number(totals.get(f"MontoGravadoI{k}"))) for k in VAT_PERCENT]
        stated = [(k, amount) for k, amount in taxed if amount is not None]
        if len(stated) > 1:
            for k, amount in stated:
                yield Amount("taxed_at", amount, percent=str(VAT_PERCENT[k]))
        yield from _amounts(totals, {"MontoExento": "exempt"})
        yield from _additional(totals)
        if len(stated) > 1:
            for k, _ in stated:
                vat = number(totals.get(f"TotalITBIS{k}"))
                if vat is not None:
                    yield Amount("vat_at", vat, percent=str(VAT_PERCENT[k]))
        yield from _amounts(totals, {"TotalITBIS": "total_vat"})

    def _currency(self) -> Currency | None:
        other = section(self._header, "OtraMoneda")
        code = text(other, "TipoMoneda")
        if not code:
            return None
        found = [
            *_amounts(other, {"MontoGravadoTotalOtraMoneda": "taxed", "MontoExentoOtraMoneda": "exempt"}),
            *_amounts(other, {"MontoImpuestoAdicionalOtraMoneda": "additional"}),
            *_amounts(other, {"TotalITBISOtraMoneda": "total_vat", "MontoTotalOtraMoneda": "total"}),
        ]
        return Currency(code, number(other.get("TipoCambio")), tuple(found))

    def _pages(self) -> Iterator[PageRange]:
        for page in rows(self._document.content, "Paginacion", "Pagina"):
            first, last = number(page.get("NoLineaDesde")), number(page.get("NoLineaHasta"))
            if first is not None and last is not None:
                yield PageRange(int(first), int(last), tuple(_amounts(page, _PAGE)))


_AFTER_TOTAL = {
    "MontoNoFacturable": "not_billable",
    "MontoPeriodo": "period",
    "SaldoAnterior": "balance",
    "MontoAvancePago": "advance",
    "TotalITBISRetenido": "vat_withheld",
    "TotalISRRetencion": "income_withheld",
    "TotalITBISPercepcion": "vat_perceived",
    "TotalISRPercepcion": "income_perceived",
    "ValorPagar": "to_pay",
}
_PAGE = {
    "SubtotalMontoGravadoPagina": "page_taxed",
    "SubtotalExentoPagina": "page_exempt",
    "SubtotalImpuestoAdicionalPagina": "page_additional",
    "SubtotalItbisPagina": "page_vat",
    "MontoSubtotalPagina": "page_total",
}


def _amounts(fields: Fields, names: Mapping[str, str]) -> Iterator[Amount]:
    for element, name in names.items():
        amount = number(fields.get(element))
        if amount is not None:
            yield Amount(name, amount)


def _additional(totals: Fields) -> Iterator[Amount]:
    """Rows of the additional taxes: ISC together, the others by their names of table I."""
    excise, others = ZERO, list[Amount]()
    for one in rows(totals, "ImpuestosAdicionales", "ImpuestoAdicional"):
        tax = ADDITIONAL_TAXES.get(tax_code(one) or "")
        amount = sum(
            (number(value) or ZERO for name, value in one.items() if name.startswith(("Monto", "Otros"))), ZERO
        )
        if tax is not None and tax.kind in SPECIFIC | AD_VALOREM:
            excise += amount
        else:
            others.append(Amount("", amount, words="" if tax is None else tax.name))
    if excise:
        yield Amount("excise", excise)
    yield from others
    stated = number(totals.get("MontoImpuestoAdicional"))
    if stated is not None and [stated] != [amount for amount in (excise, *(one.amount for one in others)) if amount]:
        yield Amount("additional", stated)


def _abroad(item: Fields, currency: str) -> Currency | None:
    other = section(item, "OtraMonedaDetalle")
    found = tuple(_amounts(other, {"PrecioOtraMoneda": "price", "MontoItemOtraMoneda": "value"}))
    return Currency(currency, None, found) if found else None


def _as_summary(printed: Printed) -> Printed:
    return Printed(True, printed.issuer, printed.buyer, printed.e_ncf, printed.issued, printed.total, printed.signed)


def _place(party: Fields, municipality: str, province: str) -> str:
    names = (_PLACES.get(text(party, element) or "", "") for element in (municipality, province))
    return ", ".join(dict.fromkeys(filter(None, names)))


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _list(fields: Fields, name: str) -> list[str]:
    value: Any = fields.get(name)
    return [str(one) for one in value] if isinstance(value, list) else [] if value is None else [str(value)]


def show(amount: Decimal) -> str:
    """Write an amount as `1,234,567.89`, with more decimals only where it has them."""
    places = max(2, -int(amount.as_tuple().exponent))
    shown = f"{amount:,.{places}f}"
    while places > 2 and shown.endswith("0"):
        shown, places = shown[:-1], places - 1
    return shown


def show_quantity(amount: Decimal) -> str:
    """Write a quantity without needless zeros."""
    shown = f"{amount:,f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def page_sums(items: Sequence[Item]) -> tuple[Amount, ...]:
    """Sum the lines of a page as its subtotals, for a document whose XML has none."""
    with exact():
        taxed = sum((item.net for item in items if item.taxed), ZERO)
        exempt = sum((item.net for item in items if item.exempt), ZERO)
        additional = sum((item.specific + item.ad_valorem + item.other for item in items), ZERO)
        vat = sum((item.vat for item in items), ZERO)
        found = (("page_taxed", taxed), ("page_exempt", exempt), ("page_additional", additional), ("page_vat", vat))
        made = [Amount(name, cents(amount)) for name, amount in found if amount]
        return (*made, Amount("page_total", cents(sum((amount for _, amount in found), ZERO))))
