"""Taxes withheld from a supplier, typed as a percentage of the line's ITBIS or of its amount without ITBIS."""

import re
from decimal import Decimal

from fe.ecf.lines import line_amount
from fe.ecf.money import HUNDRED, ZERO, cents, exact, number
from fe.ecf.taxes import VAT
from fe.ecf.totals import without_vat
from fe.portal.receipt.entry import ReceiptEntry, amount_typed
from fe.portal.receipt.layout import PRICES_INCLUDE_VAT

_PERCENT = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,2})?)\s*%", re.ASCII)
VAT_WITHHELD, INCOME_TAX_WITHHELD = "item.Retencion.MontoITBISRetenido", "item.Retencion.MontoISRRetenido"
#: Percentages offered in each field.
OFFERED = {VAT_WITHHELD: ("100%", "75%", "30%"), INCOME_TAX_WITHHELD: ("10%", "2%", "27%")}


def compute_withheld(entry: ReceiptEntry) -> None:
    """Replace percentages by their amounts, where price and quantity are amounts."""
    for row in entry.rows["item"]:
        for name in OFFERED:
            found = _PERCENT.fullmatch(row.get(name, ""))
            base = _base(entry, row, of_vat=name == VAT_WITHHELD) if found else None
            if found and base is not None:
                with exact():
                    row[name] = f"{cents(base * Decimal(found[1]) / HUNDRED):f}"


def _base(entry: ReceiptEntry, row: dict[str, str], *, of_vat: bool) -> Decimal | None:
    typed = {name: amount_typed(row[f"item.{name}"]) for name in ("PrecioUnitarioItem", "CantidadItem")}
    amount, discount = line_amount(typed), number(amount_typed(row["item.DescuentoMonto"] or "0"))
    if amount is None or discount is None:
        return None
    rate = row["item.IndicadorFacturacion"]
    k = int(rate) if rate in ("1", "2", "3", "4") else 4
    with exact():
        net = cents(without_vat(amount - discount, k, entry.values.get(PRICES_INCLUDE_VAT) == "1"))
        return net if not of_vat else cents(net * VAT[k].fraction) if k in VAT else ZERO
