"""Rules on global discounts and surcharges (authority.md#arithmetic; format document, section D)."""

from fe.ecf.money import number
from fe.ecf.reading import Fields, rows, text
from fe.ecf.rules.case import Examination
from fe.ecf.totals import Adjustments, Tally, adjusted_indicator, adjustment_amount, adjustments, is_rule_1007


def check_adjustments(case: Examination, tally: Tally, included: bool) -> Adjustments:
    """Check every global adjustment; give what they come to. Call inside `money.exact()`."""
    table = rows(case.content, "DescuentosORecargos", "DescuentoORecargo")
    if not table:
        return Adjustments()
    shift = 0
    for place, row in enumerate(table, 1):
        path = f"DescuentosORecargos.DescuentoORecargo[{place}]"
        sent_place = number(row.get("NumeroLinea"))
        if sent_place is not None:
            moved = int(sent_place - place)
            if moved not in (0, shift):
                found, expected = row["NumeroLinea"], place + shift
                case.report("line-number", f"{path}.NumeroLinea", found=found, expected=expected)
            shift = moved
        _check_row(case, row, path, tally, included)
    made = adjustments(case.content, tally, included)
    for place, row in enumerate(table, 1):
        k = adjusted_indicator(row, tally)
        if k is None or text(row, "TipoAjuste") == "R" or is_rule_1007(row):
            continue
        most = tally.net(k, included) + made.surcharges[k]
        if 0 <= most < made.discounts[k]:
            path = f"DescuentosORecargos.DescuentoORecargo[{place}].MontoDescuentooRecargo"
            case.report("discount-too-high", path, found=row.get("MontoDescuentooRecargo"), expected=f"<= {most}")
            break
    return made


def _check_row(case: Examination, row: Fields, path: str, tally: Tally, included: bool) -> None:
    k = adjusted_indicator(row, tally)
    if k is None:
        if not text(row, "IndicadorFacturacionDescuentooRecargo"):
            case.report("adjustment-indicator", f"{path}.IndicadorFacturacionDescuentooRecargo", expected="1, 2, 3, 4")
    elif not tally.billed[k]:
        found = row["IndicadorFacturacionDescuentooRecargo"]
        expected = ", ".join(str(one) for one in range(1, 5) if tally.billed[one])
        case.report(
            "adjustment-without-lines",
            f"{path}.IndicadorFacturacionDescuentooRecargo",
            found=found,
            expected=expected or None,
        )
    sent = number(row.get("MontoDescuentooRecargo"))
    made = None if k is None else adjustment_amount(row, k, tally, included)
    if sent is None:
        if "MontoDescuentooRecargo" not in row:
            case.report("adjustment-amount-missing", f"{path}.MontoDescuentooRecargo", expected=made)
    elif made is not None and case.differs(sent, made, case.tolerance):
        found = row["MontoDescuentooRecargo"]
        case.report("adjustment-percentage", f"{path}.MontoDescuentooRecargo", found=found, expected=made)
    if is_rule_1007(row) and (not included or text(row, "TipoAjuste") == "R"):
        case.report("rule-1007", f"{path}.IndicadorNorma1007", found="1")
