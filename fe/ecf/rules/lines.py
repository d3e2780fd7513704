"""Rules on each line (authority.md#types and #arithmetic). The one walk over the lines also makes their sums."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal

from fe.ecf.catalogue import EcfType
from fe.ecf.excise import codes_of, in_bulk, tax_code
from fe.ecf.lines import DISCOUNT, SURCHARGE, SubTable, indicator, line_amount, sub_amount, sub_total
from fe.ecf.money import ONE, ZERO, cents, number
from fe.ecf.reading import Fields, rows, says_anything, section, text, whole
from fe.ecf.rules.case import Examination
from fe.ecf.rules.header import exists
from fe.ecf.taxes import ADDITIONAL_TAXES, AdditionalTax, Rates, TaxKind
from fe.ecf.totals import SHAPES, Tally

_ANY = frozenset(range(5))

#: IndicadorFacturacion by type. 44 and 46 may also have not-billable lines: their schema has MontoNoFacturable, and the
#: schema goes before the text, which names only 4 and 3.
INDICATORS_OF: Mapping[EcfType, frozenset[int]] = dict.fromkeys(EcfType, _ANY) | {
    EcfType.PURCHASES: _ANY - {0},
    EcfType.MINOR_EXPENSES: frozenset({4}),
    EcfType.SPECIAL_REGIME: frozenset({0, 4}),
    EcfType.EXPORTS: frozenset({0, 3}),
    EcfType.PAYMENTS_ABROAD: frozenset({4}),
}

#: Per line, between MontoItem and price x quantity.
LINE_TOLERANCE = ONE

_SERVICE = "2"
#: Receipts of a seller who issues e-CF; in a purchase (41) the payee issues none.
_SALES = frozenset({EcfType.CREDIT_FISCAL, EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE})
_NO_WITHHOLDING_SINCE = date(2026, 9, 16)
#: An RNC of a company; a person has a cédula of 11 digits.
_COMPANY_DIGITS = 9
_DATES = ("FechaElaboracion", "FechaVencimientoItem")
_SUB_TABLES = ((DISCOUNT, "discount-sum"), (SURCHARGE, "surcharge-sum"))


def check_lines(case: Examination, ecf_type: EcfType, rates: Rates) -> Tally:
    """Check every line; give their sums, with additional taxes at `rates`. Call inside `money.exact()`."""
    tally = Tally(rates, case.day)
    allowed = INDICATORS_OF[ecf_type]
    abroad = ecf_type is EcfType.PAYMENTS_ABROAD
    shift = 0
    told = False
    for place, item in enumerate(case.items, 1):
        amount = number(item.get("MontoItem"))
        tally.add(item, ZERO if amount is None else amount)
        sent = item.get("NumeroLinea")
        if sent != str(place) and number(sent) != place:
            shift = _check_place(case, item, place, shift)
        k = indicator(item.get("IndicadorFacturacion"))
        if k is not None and k not in allowed:
            expected = ", ".join(str(one) for one in sorted(allowed))
            case.report("billing-indicator", _path(place, "IndicadorFacturacion"), found=k, expected=expected)
        _check_amount(case, item, place, amount)
        if abroad and whole(item, "IndicadorBienoServicio") not in (_SERVICE, None):
            path = _path(place, "IndicadorBienoServicio")
            case.report("service-only", path, found=item["IndicadorBienoServicio"], expected=_SERVICE)
        if says_anything(retention := section(item, "Retencion")):
            _check_retention(case, retention, place, ecf_type)
            if not told and _is_withheld_between_companies(case, retention, ecf_type):
                told = True
                path = _path(place, "Retencion.MontoITBISRetenido")
                case.report("withholding-between-companies", path, found=retention["MontoITBISRetenido"])
        if "TablaImpuestoAdicional" in item:
            _check_taxes(case, item, place, SHAPES[ecf_type].additional)
        if "FechaElaboracion" in item or "FechaVencimientoItem" in item:
            for name in _DATES:
                exists(case, item, name, f"DetallesItems.Item[{place}]")
    return tally


def _path(place: int, name: str) -> str:
    return f"DetallesItems.Item[{place}].{name}"


def _check_place(case: Examination, item: Fields, place: int, shift: int) -> int:
    # One number too many or too few moves all that follow: that is said once.
    sent = number(item.get("NumeroLinea"))
    if sent is None:
        return shift
    moved = int(sent - place)
    if moved not in (0, shift):
        case.report("line-number", _path(place, "NumeroLinea"), found=item["NumeroLinea"], expected=place + shift)
    return moved


def _check_amount(case: Examination, item: Fields, place: int, amount: Decimal | None) -> None:
    expected = line_amount(item)
    if expected is not None and amount is not None and case.differs(amount, expected, LINE_TOLERANCE):
        case.report("line-amount", _path(place, "MontoItem"), found=item["MontoItem"], expected=expected)
    if amount is not None and amount < 0 and expected is not None and expected < 0:
        _check_discount(case, item, place)
    for names, code in _SUB_TABLES:
        if names.total in item or names.table in item:
            _check_sub_table(case, item, place, names, code)


def _check_discount(case: Examination, item: Fields, place: int) -> None:
    """Name the discount that makes an amount negative: the format refuses the amount, which is what follows from it."""
    price, quantity = number(item.get("PrecioUnitarioItem")), number(item.get("CantidadItem"))
    if price is not None and quantity is not None and price * quantity >= 0:
        path = _path(place, DISCOUNT.total)
        case.report("discount-too-high", path, found=item.get(DISCOUNT.total), expected=f"<= {cents(price * quantity)}")


def _check_sub_table(case: Examination, item: Fields, place: int, names: SubTable, code: str) -> None:
    total = number(item.get(names.total))
    expected = sub_total(item, names)
    if (ZERO if total is None else total) != expected:
        case.report(code, _path(place, names.total), found=item.get(names.total), expected=expected)
    for row_place, row in enumerate(rows(item, names.table, names.row), 1):
        sent, made = number(row.get(names.amount)), sub_amount(item, row, names)
        if sent is not None and made is not None and case.differs(sent, made, LINE_TOLERANCE):
            path = _path(place, f"{names.table}.{names.row}[{row_place}].{names.amount}")
            case.report("sub-percentage", path, found=row[names.amount], expected=made)


def _check_retention(case: Examination, retention: Fields, place: int, ecf_type: EcfType) -> None:
    vat, income = number(retention.get("MontoITBISRetenido")), number(retention.get("MontoISRRetenido"))
    if whole(retention, "IndicadorAgenteRetencionoPercepcion") == "2":
        path = _path(place, "Retencion.IndicadorAgenteRetencionoPercepcion")
        case.report("perception", path, found="2", expected="1")
    if vat is None and income is None:
        if text(retention, "MontoISRRetenido") is None and ecf_type is not EcfType.PAYMENTS_ABROAD:
            case.report("withholding-amount-missing", _path(place, "Retencion"))
    elif vat is None and ecf_type is EcfType.PURCHASES:
        case.report("withholding-vat-missing", _path(place, "Retencion.MontoITBISRetenido"))


def _is_withheld_between_companies(case: Examination, retention: Fields, ecf_type: EcfType) -> bool:
    """Whether ITBIS is withheld of a company that issues e-CF, as the issuer of one does, by another company."""
    if ecf_type not in _SALES or case.day < _NO_WITHHOLDING_SINCE or not number(retention.get("MontoITBISRetenido")):
        return False
    parties = text(case.issuer, "RNCEmisor"), text(case.buyer, "RNCComprador")
    return all(rnc is not None and len(rnc) == _COMPANY_DIGITS for rnc in parties)


def _check_taxes(case: Examination, item: Fields, place: int, allowed: frozenset[TaxKind]) -> None:
    table = rows(item, "TablaImpuestoAdicional", "ImpuestoAdicional")
    codes = codes_of(item)
    seen: set[str] = set()
    needed: set[str] = set()
    for row_place, row in enumerate(table, 1):
        code = tax_code(row)
        tax = ADDITIONAL_TAXES.get(code or "")
        if tax is None:
            continue
        path = _path(place, f"TablaImpuestoAdicional.ImpuestoAdicional[{row_place}].TipoImpuesto")
        if tax.code in seen:
            case.report("tax-repeated", path, found=code)
            continue
        seen.add(tax.code)
        if tax.kind not in allowed:
            if allowed:  # where the type has no additional taxes at all, the schema objects to the table
                case.report("tax-not-in-type", path, found=code)
            continue
        if tax.specific is not None and tax.specific not in codes and not _in_bulk_alcohol(tax, item):
            case.report("tax-pair", path, found=code, expected=tax.specific, tax=tax.code)
        for name in _needed(tax, item):
            if name not in needed:
                needed.add(name)
                case.report("tax-data-missing", _path(place, name), tax=tax.code)
        if tax.kind is TaxKind.SPECIFIC_TOBACCO and not _says_contents(item):
            case.report("pack-size-missing", _path(place, "TablaSubcantidad"), tax=tax.code)
    if number(item.get("CantidadReferencia")) is not None and "UnidadReferencia" not in item:
        case.report("reference-unit-missing", _path(place, "UnidadReferencia"))


def _in_bulk_alcohol(tax: AdditionalTax, item: Fields) -> bool:
    return tax.kind in (TaxKind.AD_VALOREM_ALCOHOL, TaxKind.SPECIFIC_ALCOHOL) and in_bulk(item)


def _needed(tax: AdditionalTax, item: Fields) -> list[str]:
    if tax.kind is TaxKind.OTHER or _in_bulk_alcohol(tax, item):
        return []
    names = ["CantidadReferencia"]
    if tax.kind is TaxKind.SPECIFIC_ALCOHOL:
        names.append("GradosAlcohol")
    elif tax.specific is not None:
        names.append("PrecioUnitarioReferencia")
    missing = [name for name in names if not number(item.get(name))]
    if tax.kind is TaxKind.SPECIFIC_ALCOHOL and not _says_contents(item):
        missing.append("TablaSubcantidad")
    return missing


def _says_contents(item: Fields) -> bool:
    return any(number(row.get("Subcantidad")) for row in rows(item, "TablaSubcantidad", "SubcantidadItem"))
