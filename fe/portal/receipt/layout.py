"""Fields of each type's form, in sections and tables, made from the tables of the format.

Fields unknown to the type are left out. Elements of the type without a field go into "all other fields".
"""

from collections.abc import Iterator, Mapping
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
    #: `text`, `number`, `date`, `choice` or `listed` (typed, with the codes offered).
    kind: str
    codes: tuple[Code, ...]
    blank: Text
    #: Initial values of a new form or line.
    initial: str = ""


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

    @property
    def more(self) -> str:
        """The name of the field for what else a row may say."""
        return f"{self.key}.more"

    def blank_row(self) -> dict[str, str]:
        """A new row."""
        return {**{one.name: one.initial for one in self.fields}, self.more: ""}


@dataclass(frozen=True, slots=True)
class FormSection:
    """Fields that belong together. `folded`: for few; shown open once something is in it."""

    key: str
    title: Text
    fields: tuple[Field, ...]
    table: Table | None = None
    folded: bool = False


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
    def lists(self) -> Mapping[str, tuple[Code, ...]]:
        """The lists that fields offer, by the name of the element's simple type."""
        asked = [*self.fields, *(one for table in self.tables for one in table.fields)]
        return {list_id(one): one.codes for one in asked if one.kind == "listed"}


def list_id(of: Field) -> str:
    """The id of the list that a field offers: fields of the same codes share one."""
    return f"codes-{of.codes[0].value}-{len(of.codes)}"


_ITEM = "DetallesItems.Item"
_PAYMENT = "Encabezado.IdDoc.TablaFormasPago.FormaDePago"
_ADJUSTMENT = "DescuentosORecargos.DescuentoORecargo"
_EXPORTS = (EcfType.EXPORTS,)
#: Types in whose receipts the other side sells: the format names the supplier as Comprador, and taxes are withheld.
WITHHOLDING = (EcfType.PURCHASES, EcfType.PAYMENTS_ABROAD)

_LINE = (
    *("NombreItem", "IndicadorBienoServicio", "CantidadItem", "UnidadMedida", "PrecioUnitarioItem"),
    *("DescuentoMonto", "IndicadorFacturacion"),
)
_WITHHELD = tuple(
    f"Retencion.{name}" for name in ("IndicadorAgenteRetencionoPercepcion", "MontoITBISRetenido", "MontoISRRetenido")
)
#: How most lines of a type are taxed, and what they are of.
_TAXED = {
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

    yield FormSection(
        "receipt",
        Text("The receipt", "El comprobante"),
        (
            *fields("Encabezado.Emisor", "FechaEmision"),
            *fields(
                "Encabezado.IdDoc",
                *("TipoIngresos", "IndicadorNotaCredito", "IndicadorMontoGravado", "TipoPago"),
                *("FechaLimitePago", "TerminoPago"),
                TipoIngresos="01",
                TipoPago="1",
            ),
        ),
    )
    if of in (EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE):
        yield FormSection(
            "reference",
            Text("Receipt that the note modifies", "Comprobante que modifica la nota"),
            fields(
                "InformacionReferencia",
                *("NCFModificado", "FechaNCFModificado", "CodigoModificacion", "RazonModificacion"),
            ),
        )
    buyer = fields(
        "Encabezado.Comprador",
        *("RNCComprador", "IdentificadorExtranjero", "RazonSocialComprador", "ContactoComprador", "CorreoComprador"),
        *("DireccionComprador", "PaisComprador", "NumeroOrdenCompra"),
    )
    seller = of in WITHHOLDING
    if seller:  # the format calls this party the buyer
        buyer = tuple(replace(one, hint=of_supplier(one.hint)) for one in buyer)
    yield FormSection("buyer", Text("Supplier", "Suplidor") if seller else Text("Buyer", "Comprador"), buyer)
    yield FormSection("lines", Text("Lines", "Líneas"), (), _lines(of, known))
    yield FormSection(
        "payments",
        Text("Forms of payment", "Formas de pago"),
        (),
        _table(
            "pay",
            _PAYMENT,
            Text("Payment", "Pago"),
            Text("Add payment", "Agregar pago"),
            ("FormaPago", "MontoPago"),
            known,
        ),
        folded=True,
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
        folded=True,
    )
    yield FormSection(
        "currency",
        Text("Another currency", "Otra moneda"),
        fields("Encabezado.OtraMoneda", "TipoMoneda", "TipoCambio"),
        folded=of not in _EXPORTS,
    )
    if of in _EXPORTS:
        about = Text("Export", "Exportación")
        yield FormSection("export", about, below("Encabezado.InformacionesAdicionales"))
        yield FormSection("transport", Text("Transport", "Transporte"), below("Encabezado.Transporte"))


def _lines(of: EcfType, known: Mapping[str, Described]) -> Table:
    taxed, goods = _TAXED.get(of, ("1", "1"))
    names = (*_LINE, *(_WITHHELD if of in WITHHOLDING else ()), "OtraMonedaDetalle.PrecioOtraMoneda")
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
    return table


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
    )
