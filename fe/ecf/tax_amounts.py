"""Amounts of a receipt by tax, as the month's sums and the 606 need them."""

from collections.abc import Mapping
from decimal import Decimal

from lxml import etree

from fe.ecf.money import ZERO, cents, number

#: Names of amounts, and the elements of Totales that have them.
_TOTALS: Mapping[str, str] = {
    "itbis": "TotalITBIS",
    "base18": "MontoGravadoI1",
    "base16": "MontoGravadoI2",
    "base0": "MontoGravadoI3",
    "exempt": "MontoExento",
    "itbis18": "TotalITBIS1",
    "itbis16": "TotalITBIS2",
    "itbisWithheld": "TotalITBISRetenido",
    "isrWithheld": "TotalISRRetencion",
    "itbisPerceived": "TotalITBISPercepcion",
    "isrPerceived": "TotalISRPercepcion",
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
    texts = {str(child.tag): child.text for child in totals}
    found = {name: amount for name, tag in _TOTALS.items() if tag in texts and (amount := _amount(texts[tag]))}
    for row in totals.iterfind("ImpuestosAdicionales/ImpuestoAdicional"):
        code = number(row.findtext("TipoImpuesto"))
        name = "tip" if code == _TIP else "otherTaxes" if code in _OTHERS else "excise"
        found[name] = found.get(name, ZERO) + sum((_amount(row.findtext(tag)) for tag in _OF_A_TAX), ZERO)
    return {name: str(amount) for name, amount in found.items() if amount}


def _amount(text: str | None) -> Decimal:
    amount = number(text)
    return ZERO if amount is None else cents(amount)
