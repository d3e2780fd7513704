"""Amounts of a receipt by form of payment, as the close of a day needs them."""

from decimal import Decimal

from lxml import etree

from fe.ecf.money import ZERO, cents, number
from fe.ecf.reading import as_whole

#: Codes of FormaPago. UNSTATED: the part of the total for which the receipt states no form.
FORMS = tuple("12345678")
ON_CREDIT, UNSTATED = "4", "0"
#: TipoPago of a sale on credit.
_CREDIT = "2"


def payment_amounts(document: etree._Element) -> dict[str, str]:
    """Return the amounts that are not zero: `paid1` to `paid8` by FormaPago, `paid0` UNSTATED. Their sum is MontoTotal.

    A sale on credit without forms of payment is ON_CREDIT.
    """
    id_doc = document.find("Encabezado/IdDoc")
    total = _amount(document.findtext("Encabezado/Totales/MontoTotal"))
    if id_doc is None:
        return {}
    found: dict[str, Decimal] = {}
    for row in id_doc.iterfind("TablaFormasPago/FormaDePago"):
        form = as_whole(row.findtext("FormaPago"))
        if form in FORMS:
            found[form] = found.get(form, ZERO) + _amount(row.findtext("MontoPago"))
    rest = UNSTATED
    if not found and as_whole(id_doc.findtext("TipoPago")) == _CREDIT:
        rest = ON_CREDIT
    found[rest] = total - sum(found.values(), ZERO)
    return {f"paid{form}": str(amount) for form, amount in found.items() if amount}


def _amount(text: str | None) -> Decimal:
    amount = number(text)
    return ZERO if amount is None else cents(amount)
