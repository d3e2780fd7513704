"""Rules on amounts in another currency (authority.md#arithmetic; format document, fields 120-137)."""

from decimal import Decimal

from fe.ecf.currency import HEADER, convert, exchange_rate
from fe.ecf.excise import tax_code
from fe.ecf.money import number
from fe.ecf.reading import Fields, rows, says_anything, section, text
from fe.ecf.rules.case import Examination
from fe.ecf.taxes import AMOUNT_ELEMENTS

_PLACE = "Encabezado.OtraMoneda"
_TAXES = f"{_PLACE}.ImpuestosAdicionalesOtraMoneda.ImpuestoAdicionalOtraMoneda"


def check_currency(case: Examination) -> None:
    """Check that currency and rate come together, and every converted amount. Call inside `money.exact()`."""
    other = section(case.header, "OtraMoneda")
    stated = says_anything(other)
    if stated:
        for name in ("TipoMoneda", "TipoCambio"):
            if text(other, name) is None:
                case.report("currency-incomplete", f"{_PLACE}.{name}")
    rate = exchange_rate(case.header)
    if rate is not None:
        for name, source in HEADER.items():
            if name in other:
                _compare(case, other, name, number(case.totals.get(source)), rate, f"{_PLACE}.{name}")
        _check_taxes(case, other, rate)
    for place, item in enumerate(case.items, 1):
        detail = section(item, "OtraMonedaDetalle")
        if says_anything(detail):
            path = f"DetallesItems.Item[{place}].OtraMonedaDetalle"
            if not stated:
                case.report("currency-header-missing", path)
            elif rate is not None:
                amount = number(item.get("MontoItem"))
                _compare(case, detail, "MontoItemOtraMoneda", amount, rate, f"{path}.MontoItemOtraMoneda")


def _compare(case: Examination, fields: Fields, name: str, pesos: Decimal | None, rate: Decimal, path: str) -> None:
    sent = number(fields.get(name))
    if sent is None or pesos is None:
        return
    expected = convert(pesos, rate)
    if case.differs(sent, expected, case.tolerance):
        case.report("currency-amount", path, found=fields[name], expected=expected)


def _check_taxes(case: Examination, other: Fields, rate: Decimal) -> None:
    in_pesos = rows(case.totals, "ImpuestosAdicionales", "ImpuestoAdicional")
    by_code = {tax_code(row): row for row in in_pesos}
    converted = rows(other, "ImpuestosAdicionalesOtraMoneda", "ImpuestoAdicionalOtraMoneda")
    for place, row in enumerate(converted, 1):
        source = by_code.get(tax_code(row, "TipoImpuestoOtraMoneda"))
        if source is not None:
            for name in AMOUNT_ELEMENTS:
                there = f"{name}OtraMoneda"
                _compare(case, row, there, number(source.get(name)), rate, f"{_TAXES}[{place}].{there}")
