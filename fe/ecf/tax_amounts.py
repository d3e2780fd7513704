"""Amounts of a receipt by tax, as the month's sums and the 606 need them."""

from collections.abc import Mapping
from decimal import Decimal

from lxml import etree

from fe.ecf.money import ZERO, cents, number

#: Elements of Totales, and names of their amounts.
_NAMES: Mapping[str, str] = {
    "TotalITBIS": "itbis",
    "MontoGravadoI1": "base18",
    "MontoGravadoI2": "base16",
    "MontoGravadoI3": "base0",
    "MontoExento": "exempt",
    "TotalITBIS1": "itbis18",
    "TotalITBIS2": "itbis16",
    "TotalITBISRetenido": "itbisWithheld",
    "TotalISRRetencion": "isrWithheld",
    "TotalITBISPercepcion": "itbisPerceived",
    "TotalISRPercepcion": "isrPerceived",
}
#: Codes of additional taxes: the legal tip, and the two that are no excise (contribution of telecoms, first plates).
_TIP, _OTHERS = 1, (2, 5)
_OF_A_TAX = (
    "MontoImpuestoSelectivoConsumoEspecifico",
    "MontoImpuestoSelectivoConsumoAdvalorem",
    "OtrosImpuestosAdicionales",
)


def tax_amounts(document: etree._Element) -> dict[str, str]:
    """Return the amounts of a document, ECF or RFCE, that are not zero, by the names above.

    Beside them `tip`, `otherTaxes` and `excise`, the sums of its additional taxes.
    """
    totals = document.find("Encabezado/Totales")
    if totals is None:
        return {}
    found: dict[str, Decimal] = {}
    for child in totals:
        tag = child.tag
        if (name := _NAMES.get(tag)) is not None:
            found[name] = _amount(child.text)
        elif tag == "ImpuestosAdicionales":
            for row in child.iterchildren("ImpuestoAdicional"):
                code = number(row.findtext("TipoImpuesto"))
                name = "tip" if code == _TIP else "otherTaxes" if code in _OTHERS else "excise"
                found[name] = found.get(name, ZERO) + sum((_amount(row.findtext(tag)) for tag in _OF_A_TAX), ZERO)
    return {name: str(amount) for name, amount in found.items() if amount}


def _amount(text: str | None) -> Decimal:
    amount = number(text)
    return ZERO if amount is None else cents(amount)
