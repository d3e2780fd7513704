"""One line of a document: its indicator, discounts and surcharges, and amount (authority.md#lines)."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from fe.ecf.money import HUNDRED, ZERO, cents, number
from fe.ecf.reading import Fields, rows
from fe.ecf.taxes import EXEMPT

INDICATORS: Mapping[str, int] = {str(k): k for k in range(5)}


def indicator(value: object) -> int | None:
    """Read IndicadorFacturacion, 0 to 4; None for anything else. Absent or empty is exempt.

    The number counts, not how it is spelt: `01` and 1.0 are 1 to the schema and in what is written, so in the totals
    too. See interface.md#structured.
    """
    if type(value) is str:
        k = INDICATORS.get(value)
        if k is not None:
            return k
        value = value.strip() or None
    if value is None:
        return EXEMPT
    sent = number(value)
    return INDICATORS.get(str(int(sent))) if sent is not None and sent == int(sent) else None


@dataclass(frozen=True, slots=True)
class SubTable:
    """The names of a line's table of discounts or surcharges."""

    total: str
    table: str
    row: str
    type: str
    percent: str
    amount: str


DISCOUNT = SubTable(
    "DescuentoMonto",
    "TablaSubDescuento",
    "SubDescuento",
    "TipoSubDescuento",
    "SubDescuentoPorcentaje",
    "MontoSubDescuento",
)
SURCHARGE = SubTable(
    "RecargoMonto", "TablaSubRecargo", "SubRecargo", "TipoSubRecargo", "SubRecargoPorcentaje", "MontoSubRecargo"
)


def line_amount(item: Fields) -> Decimal | None:
    """Compute MontoItem: round(price x quantity) - discounts + surcharges; None without a price or a quantity."""
    price, quantity = number(item.get("PrecioUnitarioItem")), number(item.get("CantidadItem"))
    if price is None or quantity is None:
        return None
    amount = cents(price * quantity)
    return amount - _sub_sent(item, DISCOUNT) + _sub_sent(item, SURCHARGE)


def sub_amount(item: Fields, row: Fields, names: SubTable) -> Decimal | None:
    """Return what a `%` row of a sub-table makes: price x quantity x percent; None where it is no percentage."""
    percent = number(row.get(names.percent))
    price, quantity = number(item.get("PrecioUnitarioItem")), number(item.get("CantidadItem"))
    if percent is None or price is None or quantity is None:
        return None
    return cents(price * quantity * percent / HUNDRED)


def _sub_sent(item: Fields, names: SubTable) -> Decimal:
    if names.total not in item and names.table not in item:
        return ZERO
    sent = number(item.get(names.total))
    return sub_total(item, names) if sent is None else sent


def sub_total(item: Fields, names: SubTable) -> Decimal:
    """Sum a line's sub-discounts or sub-surcharges: the sent amounts, and what percentages without one make."""
    total = ZERO
    for row in rows(item, names.table, names.row):
        amount = number(row.get(names.amount))
        total += sub_amount(item, row, names) or ZERO if amount is None else amount
    return total
