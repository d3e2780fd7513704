"""The 606: purchases of a month, as the tax authority's file has them (Norma 07-2018).

Amounts come from the XML. No XML has the kind of expense, the day of payment and the type of ISR withholding: an
accountant gives them for a supplier or for one receipt.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from enum import StrEnum

from lxml import etree

from fe.ecf.catalogue import EcfType
from fe.ecf.identity import TAX_ID_FORM
from fe.ecf.money import ZERO, cents, number
from fe.ecf.reading import text_at
from fe.ecf.tax_amounts import tax_amounts
from fe.ecf.texts import LocalizedError, Text
from fe.month.period import YearMonth

#: Rows that the authority takes in one file.
MOST_ROWS = 10_000

KINDS: Mapping[str, Text] = {
    "01": Text("Personnel", "Gastos de personal"),
    "02": Text("Work, supplies and services", "Gastos por trabajos, suministros y servicios"),
    "03": Text("Rent", "Arrendamientos"),
    "04": Text("Fixed assets", "Gastos de activos fijos"),
    "05": Text("Representation", "Gastos de representación"),
    "06": Text("Other allowed deductions", "Otras deducciones admitidas"),
    "07": Text("Financial", "Gastos financieros"),
    "08": Text("Extraordinary", "Gastos extraordinarios"),
    "09": Text("Part of the cost of sales", "Compras y gastos que formarán parte del costo de venta"),
    "10": Text("Assets bought", "Adquisiciones de activos"),
    "11": Text("Insurance", "Gastos de seguros"),
}
ISR_TYPES: Mapping[str, Text] = {
    "01": Text("Rent", "Alquileres"),
    "02": Text("Fees for services", "Honorarios por servicios"),
    "03": Text("Other income", "Otras rentas"),
    "04": Text("Other income (presumed)", "Otras rentas (rentas presuntas)"),
    "05": Text("Interest to resident companies", "Intereses pagados a personas jurídicas residentes"),
    "06": Text("Interest to resident persons", "Intereses pagados a personas físicas residentes"),
    "07": Text("Suppliers of the State", "Retención por proveedores del Estado"),
    "08": Text("Telephone games", "Juegos telefónicos"),
    "09": Text("Cattle", "Retenciones del subsector de ganadería de carne bovina"),
}
PAYMENTS: Mapping[str, Text] = {
    "01": Text("Cash", "Efectivo"),
    "02": Text("Cheque, transfer or deposit", "Cheques, transferencias o depósito"),
    "03": Text("Credit or debit card", "Tarjeta de crédito o débito"),
    "04": Text("On credit", "Compra a crédito"),
    "05": Text("Exchange", "Permuta"),
    "06": Text("Credit note", "Notas de crédito"),
    "07": Text("Several", "Mixto"),
}
#: FormaPago of an e-CF, and the form of payment of the 606.
_FORMS = {1: "01", 2: "02", 3: "03", 4: "04", 6: "05", 7: "06"}
_ON_CREDIT = 2


class Itbis(StrEnum):
    """Where the ITBIS of a purchase goes."""

    ADVANCE = "advance"
    COST = "cost"
    PROPORTIONAL = "proportional"


@dataclass(frozen=True, slots=True)
class Expense:
    """An accountant's classification of a supplier or of one receipt.

    `paid_after` days of the issue a receipt is paid; `paid_on` is the day itself. Without both it is not paid yet.
    `payment` None: as the XML says.
    """

    kind: str
    isr_type: str | None = None
    payment: str | None = None
    paid_after: int | None = None
    paid_on: date | None = None
    itbis: Itbis = Itbis.ADVANCE


#: Days from the issue of a purchase to its payment, at most.
LONGEST_CREDIT = 365
_CHOICE = Text("Choose one of the list.", "Elija una opción de la lista.")
_DAYS = Text(
    f"Days until payment are a number from 0 to {LONGEST_CREDIT}.",
    f"Los días hasta el pago son un número de 0 a {LONGEST_CREDIT}.",
)
_OF_SUPPLIER = Text(
    "belongs to a supplier: for one receipt give paidOn", "es de un suplidor: para un solo comprobante indique paidOn"
)
_OF_RECEIPT = Text(
    "belongs to one receipt: give its eNCF too, or paidAfter for the supplier",
    "es de un solo comprobante: indique también su eNCF, o paidAfter para el suplidor",
)
A_DAY = Text("must be a day such as 2026-11-20", "debe ser un día, como 2026-11-20")
_SUPPLIER = Text("must be an RNC of 9 digits or a cédula of 11", "debe ser un RNC de 9 dígitos o una cédula de 11")
_NUMBER = Text("must be an e-NCF such as E310000000001", "debe ser un e-NCF, como E310000000001")


class BadExpense(LocalizedError):
    """A classification that is none; `field` as clients name it."""

    def __init__(self, field: str, text: Text) -> None:
        super().__init__(text)
        self.field = field


def check_place(supplier: str, e_ncf: str | None) -> None:
    """Raise BadExpense unless there may be such a supplier, and such a receipt."""
    if not re.fullmatch(TAX_ID_FORM, supplier):
        raise BadExpense("rnc", _SUPPLIER)
    if e_ncf is not None and not re.fullmatch(r"E[0-9]{12}", e_ncf):
        raise BadExpense("eNCF", _NUMBER)


def check_expense(
    *,
    kind: str,
    isr_type: str | None,
    payment: str | None,
    paid_after: int | None,
    paid_on: date | None,
    itbis: str,
    is_of_receipt: bool,
) -> Expense:
    """Make a classification of what a person or program said. Raises BadExpense."""
    given = {"kind": (kind, KINDS), "isrType": (isr_type, ISR_TYPES), "payment": (payment, PAYMENTS)}
    for field, (value, known) in given.items():
        if value is not None and value not in known:
            raise BadExpense(field, _CHOICE)
    if itbis not in tuple(Itbis):
        raise BadExpense("itbis", _CHOICE)
    if paid_after is not None and not 0 <= paid_after <= LONGEST_CREDIT:
        raise BadExpense("paidAfter", _DAYS)
    if is_of_receipt and paid_after is not None:
        raise BadExpense("paidAfter", _OF_SUPPLIER)
    if not is_of_receipt and paid_on is not None:
        raise BadExpense("paidOn", _OF_RECEIPT)
    return Expense(kind, isr_type, payment, paid_after, paid_on, Itbis(itbis))


class Missing(StrEnum):
    """A field of a row that is missing."""

    KIND = "kind"
    ISR_TYPE = "isrType"
    PAYMENT = "payment"
    PAID_ON = "paidOn"

    @property
    def name_shown(self) -> Text:
        """Its name for people."""
        return _LACKS[self]


_LACKS = {
    Missing.KIND: Text("kind of expense", "tipo de gasto"),
    Missing.ISR_TYPE: Text("type of ISR withholding", "tipo de retención ISR"),
    Missing.PAYMENT: Text("form of payment", "forma de pago"),
    Missing.PAID_ON: Text("day of payment", "fecha de pago"),
}


@dataclass(frozen=True, slots=True)
class Purchase:
    """A receipt as the 606 sees it. `supplier` is the company itself where the receipt names no Dominican tax id."""

    supplier: str
    supplier_name: str
    ecf_type: str
    e_ncf: str
    modified: str | None
    issued_on: date
    services: Decimal
    goods: Decimal
    amounts: Mapping[str, str]
    payment: str | None

    def amount(self, name: str) -> Decimal:
        """Return one of `tax_amounts`."""
        return Decimal(self.amounts.get(name, "0"))


def purchase_facts(document: etree._Element) -> dict[str, str]:
    """Read what the 606 says from the XML of a purchase: `tax_amounts`, services, goods, payment, modified number."""

    def text(path: str) -> str:
        return (text_at(document, *path.split("/")) or "").strip()

    amounts = tax_amounts(document)
    total = cents(number(text("Encabezado/Totales/MontoTotal")) or ZERO)
    taxes = sum((Decimal(amounts.get(one, "0")) for one in ("itbis", "excise", "otherTaxes", "tip")), ZERO)
    services, goods = _split(document, total - taxes)
    is_note = text("Encabezado/IdDoc/TipoeCF") == EcfType.CREDIT_NOTE
    found = {
        "services": str(services),
        "goods": str(goods),
        "payment": "06" if is_note else _payment(document) or "",
        "modified": text("InformacionReferencia/NCFModificado"),
    }
    return {**amounts, **{name: value for name, value in found.items() if value}}


def purchase_of(
    facts: Mapping[str, str], *, supplier: str, supplier_name: str, ecf_type: str, e_ncf: str, issued_on: date
) -> Purchase:
    """Make a purchase of its `purchase_facts`."""
    return Purchase(
        supplier=supplier,
        supplier_name=supplier_name,
        ecf_type=ecf_type,
        e_ncf=e_ncf,
        modified=facts.get("modified"),
        issued_on=issued_on,
        services=Decimal(facts["services"]),
        goods=Decimal(facts["goods"]),
        amounts=facts,
        payment=facts.get("payment"),
    )


def read_purchase(document: etree._Element, *, own_rnc: str, is_own: bool, issued_on: date) -> Purchase:
    """Read a purchase from its XML: one that a supplier issued, or an E41, E43 or E47 of the company's own."""

    def text(path: str) -> str:
        return (text_at(document, "Encabezado", *path.split("/")) or "").strip()

    party, id_tag = ("Comprador", "RNCComprador") if is_own else ("Emisor", "RNCEmisor")
    return purchase_of(
        purchase_facts(document),
        supplier=text(f"{party}/{id_tag}") or own_rnc,
        supplier_name=text(f"{party}/RazonSocial{party}"),
        ecf_type=text("IdDoc/TipoeCF"),
        e_ncf=text("IdDoc/eNCF"),
        issued_on=issued_on,
    )


def _split(document: etree._Element, net: Decimal) -> tuple[Decimal, Decimal]:
    """Divide an amount between services and goods, as the lines are: their sum is the amount."""
    sums = {"1": ZERO, "2": ZERO}
    for line in document.iterfind("DetallesItems/Item"):
        kind = (line.findtext("IndicadorBienoServicio") or "").strip()
        if kind in sums:
            sums[kind] += number(line.findtext("MontoItem")) or ZERO
    whole = sums["1"] + sums["2"]
    if whole <= 0:
        return net, ZERO
    services = (net * sums["2"] / whole).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return services, net - services


def _payment(document: etree._Element) -> str | None:
    forms = {
        _FORMS.get(int(number(row.findtext("FormaPago")) or 0))
        for row in document.iterfind("Encabezado/IdDoc/TablaFormasPago/FormaDePago")
    }
    if len(forms) > 1:
        return "07"
    if forms:
        return forms.pop()
    kind = number(document.findtext("Encabezado/IdDoc/TipoPago"))
    return "04" if kind == _ON_CREDIT else None


def paid_on(purchase: Purchase, expense: Expense | None, month: YearMonth) -> date | None:
    """Return the day of payment; None where it was not paid by the month's end, and for credit notes."""
    if expense is None or purchase.ecf_type == EcfType.CREDIT_NOTE:
        return None
    day = expense.paid_on
    if day is None and expense.paid_after is not None:
        day = purchase.issued_on + timedelta(days=expense.paid_after)
    return day if day is not None and day <= month.last else None


def is_unpaid(purchase: Purchase, expense: Expense | None, month: YearMonth) -> bool:
    """Whether a classified purchase has no day of payment: it goes into the file as not paid yet."""
    is_note = purchase.ecf_type == EcfType.CREDIT_NOTE
    return expense is not None and not is_note and paid_on(purchase, expense, month) is None


def missing(purchase: Purchase, expense: Expense | None, month: YearMonth) -> Sequence[Missing]:
    """Tell what the row of a purchase lacks."""
    lacks = []
    if expense is None:
        lacks.append(Missing.KIND)
    if (expense is None or expense.payment is None) and purchase.payment is None:
        lacks.append(Missing.PAYMENT)
    isr = purchase.amount("isrWithheld")
    if isr and (expense is None or expense.isr_type is None):
        lacks.append(Missing.ISR_TYPE)
    is_note = purchase.ecf_type == EcfType.CREDIT_NOTE
    if (isr or purchase.amount("itbisWithheld")) and not is_note and paid_on(purchase, expense, month) is None:
        lacks.append(Missing.PAID_ON)
    return lacks


def row(purchase: Purchase, expense: Expense, month: YearMonth) -> Sequence[str]:
    """Return the 23 fields of a purchase. Nothing may be missing."""
    itbis, isr = purchase.amount("itbis"), purchase.amount("isrWithheld")
    paid = paid_on(purchase, expense, month)
    to_cost = itbis if expense.itbis is Itbis.COST else ZERO
    return (
        purchase.supplier,
        "1" if len(purchase.supplier) == 9 else "2",
        expense.kind,
        purchase.e_ncf,
        purchase.modified or "",
        _day(purchase.issued_on),
        "" if paid is None else _day(paid),
        _amount(purchase.services),
        _amount(purchase.goods),
        f"{purchase.services + purchase.goods:.2f}",
        f"{itbis:.2f}",
        _amount(purchase.amount("itbisWithheld")),
        _amount(itbis if expense.itbis is Itbis.PROPORTIONAL else ZERO),
        _amount(to_cost),
        _amount(itbis - to_cost),
        _amount(purchase.amount("itbisPerceived")),
        (expense.isr_type or "") if isr else "",
        _amount(isr),
        _amount(purchase.amount("isrPerceived")),
        _amount(purchase.amount("excise")),
        _amount(purchase.amount("otherTaxes")),
        _amount(purchase.amount("tip")),
        expense.payment or purchase.payment or "",
    )


def file_606(rnc: str, month: YearMonth, rows: Sequence[Sequence[str]]) -> bytes:
    """Write the file: a head and the rows, CRLF between lines and none at the end."""
    lines = [("606", rnc, month.compact, str(len(rows))), *rows]
    return "\r\n".join("|".join(fields) for fields in lines).encode("ascii")


def name_606(rnc: str, month: YearMonth) -> str:
    """Name the file as the authority does."""
    return f"DGII_F_606_{rnc}_{month.compact}.TXT"


def _day(day: date) -> str:
    return f"{day:%Y%m%d}"


def _amount(amount: Decimal) -> str:
    return f"{amount:.2f}" if amount else ""
