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
    if id_doc is None:
        return {}
    found: dict[str, Decimal] = {}
    is_credit = False
    for child in id_doc:
        if child.tag == "TipoPago":
            is_credit = as_whole(child.text) == _CREDIT
        elif child.tag == "TablaFormasPago":
            for row in child.iterchildren("FormaDePago"):
                form = as_whole(row.findtext("FormaPago"))
                if form in FORMS:
                    found[form] = found.get(form, ZERO) + _amount(row.findtext("MontoPago"))
    rest = ON_CREDIT if is_credit and not found else UNSTATED
    found[rest] = _amount(document.findtext("Encabezado/Totales/MontoTotal")) - sum(found.values(), ZERO)
    return {f"paid{form}": str(amount) for form, amount in found.items() if amount}


def _amount(text: str | None) -> Decimal:
    amount = number(text)
    return ZERO if amount is None else cents(amount)
