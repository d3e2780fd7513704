"""Prices in another currency: a receipt's own are in pesos, so what was typed is converted by the exchange rate."""

from decimal import ROUND_HALF_UP, Decimal

from fe.ecf.money import exact, number
from fe.portal.receipt.entry import ReceiptEntry, amount_typed

CURRENCY, EXCHANGE_RATE = "Encabezado.OtraMoneda.TipoMoneda", "Encabezado.OtraMoneda.TipoCambio"
_PRICE, OTHER_PRICE = "item.PrecioUnitarioItem", "item.OtraMonedaDetalle.PrecioOtraMoneda"
_PRICE_DECIMALS = Decimal("0.0001")


def convert_prices(entry: ReceiptEntry, *, typed_in_other: bool = False) -> bool:
    """Fill in prices in pesos from those in the other currency; tell whether there is a rate to convert by.

    `typed_in_other`: prices of lines without one in the other currency are in that one.
    """
    rate = number(amount_typed(entry.values.get(EXCHANGE_RATE, "")))
    if rate is None or rate <= 0 or not entry.values.get(CURRENCY):
        return False
    for row in entry.rows["item"]:
        if typed_in_other and not row[OTHER_PRICE]:
            row[OTHER_PRICE] = row[_PRICE]
        other = number(amount_typed(row[OTHER_PRICE]))
        if other is not None and (typed_in_other or not row[_PRICE]):
            with exact():
                pesos = (other * rate).quantize(_PRICE_DECIMALS, ROUND_HALF_UP)
            row[_PRICE] = f"{pesos:f}".removesuffix("00")
    return True
