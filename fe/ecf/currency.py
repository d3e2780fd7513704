"""Amounts in another currency: every one is the DOP amount divided by TipoCambio, rounded (authority.md#currency)."""

from decimal import Decimal
from typing import Any

from fe.ecf.money import ZERO, cents, number
from fe.ecf.reading import Fields, rows, section
from fe.ecf.taxes import AMOUNT_ELEMENTS

#: Elements of `OtraMoneda` and the element of `Totales` each converts.
HEADER = {
    "MontoGravadoTotalOtraMoneda": "MontoGravadoTotal",
    "MontoGravado1OtraMoneda": "MontoGravadoI1",
    "MontoGravado2OtraMoneda": "MontoGravadoI2",
    "MontoGravado3OtraMoneda": "MontoGravadoI3",
    "MontoExentoOtraMoneda": "MontoExento",
    "TotalITBISOtraMoneda": "TotalITBIS",
    "TotalITBIS1OtraMoneda": "TotalITBIS1",
    "TotalITBIS2OtraMoneda": "TotalITBIS2",
    "TotalITBIS3OtraMoneda": "TotalITBIS3",
    "MontoImpuestoAdicionalOtraMoneda": "MontoImpuestoAdicional",
    "MontoTotalOtraMoneda": "MontoTotal",
}


def exchange_rate(header: Fields) -> Decimal | None:
    """Return TipoCambio of `Encabezado/OtraMoneda`: pesos for a unit of the other currency; None unless above 0."""
    rate = number(section(header, "OtraMoneda").get("TipoCambio"))
    return rate if rate is not None and rate > 0 else None


def convert(amount: Decimal, rate: Decimal) -> Decimal:
    """Return `amount` of pesos in the other currency. Call inside `money.exact()`."""
    return cents(amount / rate)


def header_amounts(amounts: Fields, rate: Decimal) -> dict[str, Any]:
    """Make the amounts of `OtraMoneda` from the content of `Totales`. Call inside `money.exact()`."""
    made: dict[str, Any] = {}
    for name, source in HEADER.items():
        amount = number(amounts.get(source))
        if amount is not None:
            made[name] = convert(amount, rate)
    if made.get("MontoImpuestoAdicionalOtraMoneda") == ZERO:  # the schema wants it above zero, or not at all
        del made["MontoImpuestoAdicionalOtraMoneda"]
    taxes = [_tax_row(row, rate) for row in rows(amounts, "ImpuestosAdicionales", "ImpuestoAdicional")]
    if taxes:
        made["ImpuestosAdicionalesOtraMoneda"] = {"ImpuestoAdicionalOtraMoneda": taxes}
    return made


def _tax_row(row: Fields, rate: Decimal) -> dict[str, Any]:
    made: dict[str, Any] = {
        f"{name}OtraMoneda": row[name] for name in ("TipoImpuesto", "TasaImpuestoAdicional") if name in row
    }
    for name in AMOUNT_ELEMENTS:
        amount = number(row.get(name))
        if amount is not None and convert(amount, rate):
            made[f"{name}OtraMoneda"] = convert(amount, rate)
    return made
