"""Fields of each type's form, in sections and tables, made from the tables of the format.

Fields unknown to the type are left out. Elements of the type without a field go into "all other fields".
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.describe import Described, described, every
from fe.ecf.field_help import help_of
from fe.ecf.schema.model import Code, ValueForm
from fe.ecf.texts import Text
from fe.portal.receipt.labels import BLANKS, label, of_supplier, plainly

#: A list of codes that is longer is typed, with what is on it offered, so that a thousand lines stay a page.
_MAX_CHOICES = 20


@dataclass(frozen=True, slots=True)
class Field:
    """A value that is asked for. `name` is that of the form; `path` that of the document, without numbers."""

    name: str
    path: str
    label: Text
    hint: Text
    required: bool
    #: `text`, `number`, `date`, `choice`, `listed` (typed, with the codes offered), `box` (ticked: 1) or `payment`:
    #: TipoPago with one form of payment behind it, as `1-3`.
    kind: str
    codes: tuple[Code, ...]
    blank: Text
    #: Initial values of a new form or line.
    initial: str = ""
    #: Whether a new line begins with the value of the line before.
    kept: bool = False
    #: The table of the catalogue that a search in this field reads: `customer`, `product` or ''.
    search: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of fields, which people add and take away. A field's name is `<key>.<path below the row>`."""

    key: str
    path: str
    #: Names of a row and of the button that adds one.
    one: Text
    add: Text
    fields: tuple[Field, ...]
    #: Most rows, and rows at the start.
    most: int
    least: int = 0
    #: How many fields are always shown; the others are folded. 0: all.
    main: int = 0

    @property
    def more(self) -> str:
        """The name of the field for what else a row may say."""
        return f"{self.key}.more"

    def blank_row(self) -> dict[str, str]:
        """A new row."""
        return {**{one.name: one.initial for one in self.fields}, self.more: ""}

    def row_after(self, rows: Sequence[Mapping[str, str]]) -> dict[str, str]:
        """A new row behind others."""
        last = rows[-1] if rows else {}
        return self.blank_row() | {one.name: last[one.name] for one in self.fields if one.kept and one.name in last}

    def is_blank(self, row: Mapping[str, str]) -> bool:
        """Whether a row has only values that a new one begins with."""
        return not row[self.more] and not any(row[one.name] for one in self.fields if not (one.kept or one.initial))

    def says_more(self, row: Mapping[str, str]) -> bool:
        """Whether a folded field of a row was filled in."""
        folded = (one for one in self.fields[self.main :] if not one.kept)
        return bool(row[self.more]) or any(row[one.name] not in ("", one.initial) for one in folded)


@dataclass(frozen=True, slots=True)
class FormSection:
    """Fields that belong together. `first`: always shown; the others are folded."""

    key: str
    title: Text
    fields: tuple[Field, ...]
    table: Table | None = None
    first: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """The form of a type."""

    type: EcfType
    sections: tuple[FormSection, ...] = field(repr=False)
    #: All other values that the type knows, in the order of the format.
    others: tuple[Described, ...] = field(repr=False)

    @property
    def fields(self) -> Iterator[Field]:
        """The fields that stand once."""
        return (one for section in self.sections for one in section.fields)

    @property
    def tables(self) -> Iterator[Table]:
        """The tables."""
        return (section.table for section in self.sections if section.table is not None)

    @property
    def payment(self) -> Field | None:
        """The field for how it is paid, in types that take payments."""
        return next((one for one in self.fields if one.kind == "payment"), None)

    @property
    def lists(self) -> Mapping[str, tuple[Code, ...]]:
        """The lists that fields offer, by the name of the element's simple type."""
        asked = [*self.fields, *(one for table in self.tables for one in table.fields)]
        return {list_id(one): one.codes for one in asked if one.kind == "listed"}


def list_id(of: Field) -> str:
    """The id of the list that a field offers: fields of the same codes share one."""
    return f"codes-{of.codes[0].value}-{len(of.codes)}"


_ITEM = "DetallesItems.Item"
PAYMENT_TERMS = "Encabezado.IdDoc.TipoPago"
PAYMENT = "Encabezado.IdDoc.TablaFormasPago.FormaDePago"
_ADJUSTMENT = "DescuentosORecargos.DescuentoORecargo"
_EXPORTS = (EcfType.EXPORTS,)
#: Types in whose receipts the other side sells: the format names the supplier as Comprador, and taxes are withheld.
WITHHOLDING = (EcfType.PURCHASES, EcfType.PAYMENTS_ABROAD)

#: How most sales are paid, as buttons.
QUICK_PAYMENTS = (
    Code("1-1", "Cash", "Efectivo"),
    Code("1-3", "Card", "Tarjeta"),
    Code("1-2", "Transfer or cheque", "Transferencia o cheque"),
    Code("2-4", "On credit", "A crédito"),
)
#: Consumers alone pay so.
_VOUCHERS = "1-5"
NOT_STATED = "1"
_OTHER_PAYMENTS = (
    Code("1-5", "Vouchers or gift certificates", "Bonos o certificados de regalo"),
    Code("1-6", "Barter", "Permuta"),
    Code("1-7", "Credit note", "Nota de crédito"),
    Code("1-8", "Another", "Otra"),
    Code("3", "Free of charge", "Gratuito"),
    Code("2", "On credit, form not stated", "A crédito, sin forma indicada"),
    Code(NOT_STATED, "Several, or not stated", "Varias, o sin indicar"),
)
#: Those that are no buttons; `2` is shown where a receipt has it already.
OFFERED_PAYMENTS = frozenset(one.value for one in _OTHER_PAYMENTS) - {"2"}
#: The day of issue; empty: today.
ISSUE_DATE = "Encabezado.Emisor.FechaEmision"
SELLER = "Encabezado.Emisor.CodigoVendedor"
PRICES_INCLUDE_VAT = "Encabezado.IdDoc.IndicadorMontoGravado"

_LINE = ("NombreItem", "CantidadItem", "PrecioUnitarioItem")
_MORE_OF_LINE = ("IndicadorFacturacion", "UnidadMedida", "IndicadorBienoServicio", "DescuentoMonto")
#: A new line has them of the line before.
_KEPT = ("IndicadorFacturacion", "UnidadMedida", "IndicadorBienoServicio")
_WITHHELD = ("Retencion.MontoITBISRetenido", "Retencion.MontoISRRetenido")
_AGENT = "Retencion.IndicadorAgenteRetencionoPercepcion"
_BUYER = (
    *("RNCComprador", "IdentificadorExtranjero", "RazonSocialComprador", "ContactoComprador", "CorreoComprador"),
    *("DireccionComprador", "PaisComprador", "NumeroOrdenCompra"),
)
#: Fields that identify the other side, if other than RNC and name. A walk-in customer needs none.
_NAMED: Mapping[EcfType, tuple[str, ...]] = {
    EcfType.CONSUMER: (),
    EcfType.EXPORTS: ("IdentificadorExtranjero", "RazonSocialComprador", "PaisComprador"),
    EcfType.PAYMENTS_ABROAD: ("IdentificadorExtranjero", "RazonSocialComprador"),
}
#: How most lines of a type are taxed, and what they are of.
TAXED = {
    EcfType.MINOR_EXPENSES: ("4", "2"),
    EcfType.SPECIAL_REGIME: ("4", "1"),
    EcfType.EXPORTS: ("3", "1"),
    EcfType.PAYMENTS_ABROAD: ("4", "2"),
}


@cache
def layout(of: EcfType) -> Layout:
    """Give the form of a type."""
    tree = described(Root.ECF, of)
    known = {one.path: one for one in every(tree)}
    sections = tuple(section for section in _sections(of, known) if section.fields or section.table)
    shown = {one.path for section in sections for one in section.fields}
    shown |= {one.path for section in sections if section.table for one in section.table.fields}
    ours = ("Encabezado.Version", "Encabezado.IdDoc.TipoeCF", "FechaHoraFirma")
    others = tuple(one for one in known.values() if one.simple and one.path not in shown and one.path not in ours)
    return Layout(of, sections, others)


def _sections(of: EcfType, known: Mapping[str, Described]) -> Iterator[FormSection]:
    def fields(group: str, *names: str, **initial: str) -> tuple[Field, ...]:
        there = (known.get(f"{group}.{name}") for name in names)
        return tuple(_field(one, one.path, initial.get(one.name, "")) for one in there if one is not None)

    def below(group: str) -> tuple[Field, ...]:
        names = [path[len(group) + 1 :] for path, one in known.items() if path.startswith(f"{group}.") and one.simple]
        return fields(group, *names)

    seller = of in WITHHOLDING
    buyer = fields("Encabezado.Comprador", *_BUYER)
    if seller:  # the format calls this party the buyer
        buyer = tuple(replace(one, hint=of_supplier(one.hint)) for one in buyer)
    party = Text("Supplier", "Suplidor") if seller else Text("Customer", "Cliente")
    who = _NAMED.get(of, ("RNCComprador", "RazonSocialComprador"))
    named = tuple(one for one in buyer if one.path.rpartition(".")[2] in who)
    yield FormSection("buyer", party, named, first=True)
    if of in (EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE):
        yield FormSection(
            "reference",
            Text("Receipt that the note modifies", "Comprobante que modifica la nota"),
            fields(
                "InformacionReferencia",
                *("NCFModificado", "FechaNCFModificado", "CodigoModificacion", "RazonModificacion"),
            ),
            first=True,
        )
    included = fields("Encabezado.IdDoc", "IndicadorMontoGravado")
    lines = _lines(of, known)
    yield FormSection(
        "lines", Text("Lines", "Líneas"), tuple(replace(one, kind="box") for one in included), lines, True
    )
    payment = fields("Encabezado.IdDoc", "TipoPago", "FechaLimitePago", TipoPago="1")
    in_form = PAYMENT in known
    if in_form:
        offered = (*QUICK_PAYMENTS, *_OTHER_PAYMENTS)
        codes = tuple(one for one in offered if one.value != _VOUCHERS or of is EcfType.CONSUMER)
        payment = tuple(
            replace(one, kind="payment", codes=codes) if one.path == PAYMENT_TERMS else one for one in payment
        )
        yield FormSection("payment", Text("Payment", "Pago"), payment, first=True)
    yield FormSection(
        "receipt",
        Text("The receipt", "El comprobante"),
        (
            *fields("Encabezado.Emisor", "FechaEmision", "CodigoVendedor"),
            *(() if in_form else payment),
            *fields("Encabezado.IdDoc", "TerminoPago", "TipoIngresos", "IndicadorNotaCredito", TipoIngresos="01"),
        ),
    )
    yield FormSection("buyer-more", party, tuple(one for one in buyer if one not in named))
    yield FormSection(
        "payments",
        Text("Forms of payment", "Formas de pago"),
        (),
        _table(
            "pay",
            PAYMENT,
            Text("Payment", "Pago"),
            Text("Add payment", "Agregar pago"),
            ("FormaPago", "MontoPago"),
            known,
        ),
    )
    yield FormSection(
        "adjustments",
        Text("Discounts and surcharges on the whole", "Descuentos y recargos globales"),
        (),
        _table(
            "adjust",
            _ADJUSTMENT,
            Text("Adjustment", "Descuento o recargo"),
            Text("Add discount or surcharge", "Agregar descuento o recargo"),
            (
                *("TipoAjuste", "DescripcionDescuentooRecargo", "TipoValor", "ValorDescuentooRecargo"),
                *("MontoDescuentooRecargo", "IndicadorFacturacionDescuentooRecargo"),
            ),
            known,
            TipoAjuste="D",
            TipoValor="%",
        ),
    )
    yield FormSection(
        "currency", Text("Another currency", "Otra moneda"), fields("Encabezado.OtraMoneda", "TipoMoneda", "TipoCambio")
    )
    if of in _EXPORTS:
        about = Text("Export", "Exportación")
        yield FormSection("export", about, below("Encabezado.InformacionesAdicionales"))
        yield FormSection("transport", Text("Transport", "Transporte"), below("Encabezado.Transporte"))


def _lines(of: EcfType, known: Mapping[str, Described]) -> Table:
    taxed, goods = TAXED.get(of, ("1", "1"))
    withheld, agent = (_WITHHELD, (_AGENT,)) if of in WITHHOLDING else ((), ())
    names = (*_LINE, *withheld, *_MORE_OF_LINE, *agent, "OtraMonedaDetalle.PrecioOtraMoneda")
    table = _table(
        "item",
        _ITEM,
        Text("Line", "Línea"),
        Text("Add line", "Agregar línea"),
        names,
        known,
        least=1,
        IndicadorFacturacion=taxed,
        IndicadorBienoServicio=goods,
        CantidadItem="1",
        IndicadorAgenteRetencionoPercepcion="1",
    )
    assert table is not None
    main = sum(one.path.removeprefix(f"{_ITEM}.") in (*_LINE, *_WITHHELD) for one in table.fields)
    kept = tuple(replace(one, kept=one.path.rpartition(".")[2] in _KEPT) for one in table.fields)
    return replace(table, fields=kept, main=main)


def _table(
    key: str,
    path: str,
    row_is: Text,
    add: Text,
    names: tuple[str, ...],
    known: Mapping[str, Described],
    *,
    least: int = 0,
    **initial: str,
) -> Table | None:
    row = known.get(path)
    if row is None:
        return None
    there = (known.get(f"{path}.{name}") for name in names)
    fields = tuple(
        _field(one, f"{key}.{one.path[len(path) + 1 :]}", initial.get(one.name, "")) for one in there if one is not None
    )
    return Table(key, path, row_is, add, fields, row.many, least)


_SEARCHED = {
    "Encabezado.Comprador.RNCComprador": "customer",
    "Encabezado.Comprador.RazonSocialComprador": "customer",
    "DetallesItems.Item.NombreItem": "product",
}
#: How people say a code that the format names by a bare noun.
_CHOICES = {"contado": "Al contado", "crédito": "A crédito"}


def _named(code: Code) -> Code:
    """A code as a list shows it: with a capital."""
    es = _CHOICES.get(code.meaning_es, code.meaning_es)
    return code._replace(
        meaning=f"{code.meaning[:1].upper()}{code.meaning[1:]}", meaning_es=f"{es[:1].upper()}{es[1:]}"
    )


def _field(one: Described, name: str, initial: str) -> Field:
    words = help_of(Root.ECF, one.path)
    simple = one.simple
    assert simple is not None
    kind = "text"
    if one.codes:
        kind = "choice" if len(one.codes) <= _MAX_CHOICES else "listed"
    elif simple.form is ValueForm.DATE:
        kind = "date"
    elif simple.form is ValueForm.NUMBER:
        kind = "number"
    return Field(
        name=name,
        path=one.path,
        label=label(one.name),
        hint=Text(plainly(words.en, spanish=False), plainly(words.es, spanish=True)),
        required=one.needed,
        kind=kind,
        codes=tuple(_named(code) for code in one.codes),
        blank=BLANKS.get(one.name, Text("—", "—")),
        initial=initial,
        search=_SEARCHED.get(one.path, ""),
    )
