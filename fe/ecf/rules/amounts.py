"""Rules on `Totales`: what it says against what the lines and the global adjustments make (authority.md#arithmetic).

Each amount is compared with the one computed from the lines alone, so that one wrong amount is one problem. The
tolerance is one peso a line.
"""

from collections.abc import Mapping
from decimal import Decimal

from fe.ecf.catalogue import EcfType
from fe.ecf.excise import rates_for, tax_code
from fe.ecf.money import ZERO, number
from fe.ecf.reading import Fields, rows, text
from fe.ecf.rules.case import Examination
from fe.ecf.taxes import ADDITIONAL_TAXES, AMOUNT_ELEMENTS, VAT, Rates
from fe.ecf.totals import SHAPES, Adjustments, Tally, TotalsShape, compose, payable

_PLACE = "Encabezado.Totales"
_TAXES = f"{_PLACE}.ImpuestosAdicionales"

#: Which code reports which amount. Those the type does not have are not compared: the schema objects to them.
_CODES: Mapping[str, str] = {
    "MontoGravadoTotal": "base-mismatch",
    "MontoGravadoI1": "base-mismatch",
    "MontoGravadoI2": "base-mismatch",
    "MontoGravadoI3": "base-mismatch",
    "MontoExento": "base-mismatch",
    "TotalITBIS": "vat-mismatch",
    "TotalITBIS1": "vat-mismatch",
    "TotalITBIS2": "vat-mismatch",
    "TotalITBIS3": "vat-mismatch",
    "MontoImpuestoAdicional": "tax-total-mismatch",
    "MontoTotal": "total-mismatch",
    "MontoNoFacturable": "not-billable-mismatch",
    "TotalITBISRetenido": "withholding-mismatch",
    "TotalISRRetencion": "withholding-mismatch",
    "TotalITBISPercepcion": "withholding-mismatch",
    "TotalISRPercepcion": "withholding-mismatch",
}


def rates_that_apply(case: Examination) -> Rates:
    """Return the rates in force; where the one in force is not known, the one the document states counts."""
    return rates_for(case.totals, case.rates, case.day)


def check_amount_indicator(case: Examination, ecf_type: EcfType, tally: Tally) -> None:
    """Check that a document with taxed lines says whether their amounts have VAT inside."""
    is_said = text(case.id_doc, "IndicadorMontoGravado") is not None
    if any(tally.billed[1:4]) and SHAPES[ecf_type].says_whether_included and not is_said:
        case.report("amount-indicator-missing", "Encabezado.IdDoc.IndicadorMontoGravado", expected="0, 1")


def check_amounts(case: Examination, ecf_type: EcfType, tally: Tally, adjust: Adjustments, included: bool) -> None:
    """Compare every amount of `Totales`. Call inside `money.exact()`."""
    totals = case.totals
    if not totals:
        return
    shape = SHAPES[ecf_type]
    expected = compose(tally, adjust, shape=shape, included=included, sent=totals)
    for name, code in _CODES.items():
        sent = totals.get(name)
        wanted = expected.get(name)
        if sent is None and wanted is None:
            continue
        amount = ZERO if sent is None else number(sent)
        if amount is not None and case.differs(amount, wanted or ZERO, case.tolerance):
            case.report(code, f"{_PLACE}.{name}", found=sent, expected=wanted or ZERO)
    _check_rates(case, shape, expected)
    if "ImpuestosAdicionales" in totals or "ImpuestosAdicionales" in expected:
        _check_taxes(case, expected)
    _check_what_is_due(case, adjust)
    if included and not any(adjust.present) and "ImpuestosAdicionales" not in expected and not adjust.rule_1007:
        _check_prices(case, tally)


def _check_prices(case: Examination, tally: Tally) -> None:
    """Compare the total with the prices, which have the VAT inside: taking it out and adding it again costs a cent."""
    prices = sum(tally.amounts[1:], ZERO)
    if case.total is not None and case.total != prices and not case.differs(case.total, prices, case.tolerance):
        sums = {"total": f"{case.total:,.2f}", "prices": f"{prices:,.2f}"}
        case.report("total-not-prices", f"{_PLACE}.MontoTotal", found=case.total, expected=prices, **sums)


def _check_rates(case: Examination, shape: TotalsShape, expected: Fields) -> None:
    for k in shape.vat:
        name = f"ITBIS{k}"
        sent = case.totals.get(name)
        if sent is None and name not in expected:
            continue
        if sent is None or number(sent) not in (VAT[k].percent, None):
            case.report("vat-rate", f"{_PLACE}.{name}", found=sent, expected=VAT[k].percent)


def _check_taxes(case: Examination, expected: Fields) -> None:
    sent: dict[str, dict[str, Decimal]] = {}
    decimals: dict[str, str] = {}
    for place, row in enumerate(rows(case.totals, "ImpuestosAdicionales", "ImpuestoAdicional"), 1):
        code = tax_code(row)
        if code is None or code not in ADDITIONAL_TAXES:
            continue
        decimals.setdefault(code, f"{_TAXES}.ImpuestoAdicional[{place}]")
        _check_tax_rate(case, row, code, f"{_TAXES}.ImpuestoAdicional[{place}].TasaImpuestoAdicional")
        amounts = sent.setdefault(code, {})
        for name in AMOUNT_ELEMENTS:
            amount = number(row.get(name))
            if amount is not None:
                amounts[name] = amounts.get(name, ZERO) + amount
    wanted = {row["TipoImpuesto"]: row for row in rows(expected, "ImpuestosAdicionales", "ImpuestoAdicional")}
    for code in sorted(wanted.keys() | sent.keys()):
        due, stated = wanted.get(code, {}), sent.get(code, {})
        for name in AMOUNT_ELEMENTS:
            want, have = due.get(name), stated.get(name)
            if want is None and have is None:
                continue
            # An amount that is due and not there at all is rejected, however small.
            if have is None or case.differs(have, want or ZERO, case.tolerance):
                path = f"{decimals[code]}.{name}" if code in decimals else _TAXES
                case.report("tax-amount", path, found=have, expected=want or ZERO, tax=code)


def _check_tax_rate(case: Examination, row: Fields, code: str, path: str) -> None:
    rate = number(row.get("TasaImpuestoAdicional"))
    if rate is None:
        return
    in_force = case.rates.on(code, case.day)
    if not in_force.confirmed:
        quarter = f"{case.day.year}-Q{(case.day.month + 2) // 3}"
        case.report("tax-rate-assumed", path, found=row["TasaImpuestoAdicional"], tax=code, quarter=quarter)
    elif rate != in_force.rate:
        case.report("tax-rate", path, found=row["TasaImpuestoAdicional"], expected=in_force.rate, tax=code)


def _check_what_is_due(case: Examination, adjust: Adjustments) -> None:
    # Against the total as stated: a wrong total is reported once, above.
    totals, total = case.totals, case.total
    if total is None:
        return
    period, to_pay = number(totals.get("MontoPeriodo")), number(totals.get("ValorPagar"))
    if period is not None:
        expected = total + (number(totals.get("MontoNoFacturable")) or ZERO)
        if case.differs(period, expected, case.tolerance):
            found = totals["MontoPeriodo"]
            case.report("period-total-mismatch", f"{_PLACE}.MontoPeriodo", found=found, expected=expected)
    if to_pay is not None:
        expected = payable(total, totals, adjust.rule_1007)
        if case.differs(to_pay, expected, case.tolerance):
            case.report("payable-mismatch", f"{_PLACE}.ValorPagar", found=totals["ValorPagar"], expected=expected)
