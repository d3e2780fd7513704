"""The header amounts of an e-CF from its lines and global adjustments (authority.md#totals).

`Tally` walks the lines once, in any order; `compose` makes the content of `Totales` out of it. `totals` is both for a
whole document. Every amount is rounded half up at the second decimal, once, from sums that are exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.dates import read_day
from fe.ecf.document import Document
from fe.ecf.excise import Excise
from fe.ecf.lines import INDICATORS, indicator, line_amount
from fe.ecf.money import HUNDRED, ZERO, cents, exact, number
from fe.ecf.reading import Fields, rows, section, text, whole
from fe.ecf.taxes import EXEMPT, NOT_BILLABLE, RATES, VAT, Rates, TaxKind

#: Where the amounts of a line's Retencion are summed: withheld (1), or perceived (2, not in force).
_WITHHOLDING = {
    "1": ("TotalITBISRetenido", "TotalISRRetencion"),
    "2": ("TotalITBISPercepcion", "TotalISRPercepcion"),
}

Amounts = dict[str, Any]
_NUMBERS, _ONLY_GROUPS = frozenset({int, Decimal}), frozenset({dict})


@dataclass(frozen=True, slots=True)
class TotalsShape:
    """Which amounts the `Totales` of a type has (authority.md#types)."""

    vat: tuple[int, ...] = (1, 2, 3)
    exempt: bool = True
    additional: frozenset[TaxKind] = frozenset(TaxKind)
    not_billable: bool = True
    withholdings: frozenset[str] = frozenset()
    adjustments: bool = True
    rule_1007: bool = True

    @property
    def says_whether_included(self) -> bool:
        """Whether the type has IndicadorMontoGravado: those with VAT at 18 and 16 per cent do."""
        return 1 in self.vat


_ALL_WITHHOLDINGS = frozenset(name for pair in _WITHHOLDING.values() for name in pair)
_FULL = TotalsShape(withholdings=_ALL_WITHHOLDINGS)
_NONE: frozenset[TaxKind] = frozenset()

SHAPES: Mapping[EcfType, TotalsShape] = {
    EcfType.CREDIT_FISCAL: _FULL,
    EcfType.CONSUMER: TotalsShape(),
    EcfType.DEBIT_NOTE: _FULL,
    EcfType.CREDIT_NOTE: _FULL,
    EcfType.PURCHASES: TotalsShape(
        additional=_NONE, not_billable=False, withholdings=_ALL_WITHHOLDINGS, rule_1007=False
    ),
    EcfType.MINOR_EXPENSES: TotalsShape(
        vat=(), additional=_NONE, not_billable=False, adjustments=False, rule_1007=False
    ),
    EcfType.SPECIAL_REGIME: TotalsShape(vat=(), additional=frozenset({TaxKind.OTHER}), rule_1007=False),
    EcfType.GOVERNMENTAL: TotalsShape(),
    EcfType.EXPORTS: TotalsShape(vat=(3,), exempt=False, additional=_NONE, rule_1007=False),
    EcfType.PAYMENTS_ABROAD: TotalsShape(
        vat=(),
        additional=_NONE,
        not_billable=False,
        withholdings=frozenset({"TotalISRRetencion"}),
        adjustments=False,
        rule_1007=False,
    ),
}


class Tally:
    """Sums over the lines of one document. Call `add` for each line inside `money.exact()`, in any order."""

    __slots__ = ("amounts", "billed", "excise", "lines", "withheld")

    def __init__(self, rates: Rates, day: date) -> None:
        self.lines = 0
        self.amounts = [ZERO] * 5
        self.billed = [False] * 5
        self.withheld: dict[str, Decimal] = {}
        self.excise = Excise(rates, day)

    def add(self, item: Fields, amount: Decimal) -> None:
        """Count one line whose `MontoItem` is `amount`. An unknown IndicadorFacturacion counts as a line only."""
        self.lines += 1
        k = indicator(item.get("IndicadorFacturacion"))
        if k is None:
            return
        self.amounts[k] += amount
        self.billed[k] = True
        if "Retencion" in item:
            self._withhold(section(item, "Retencion"))
        if "TablaImpuestoAdicional" in item:
            self.excise.add(item, k, amount)

    def _withhold(self, retention: Fields) -> None:
        targets = _WITHHOLDING["2" if whole(retention, "IndicadorAgenteRetencionoPercepcion") == "2" else "1"]
        for source, target in zip(("MontoITBISRetenido", "MontoISRRetenido"), targets, strict=True):
            amount = number(retention.get(source))
            if amount is not None:
                self.withheld[target] = self.withheld.get(target, ZERO) + amount

    def net(self, k: int, included: bool) -> Decimal:
        """Return the lines' sum for indicator `k` with VAT taken out, before adjustments. `k` from 1 to 4."""
        return cents(without_vat(self.amounts[k], k, included))

    def divisor(self, adjust: "Adjustments") -> Decimal | None:
        """Return the divisor of rule 10-07, where a discount of that rule counts."""
        return self.excise.rule_1007_divisor() if adjust.rule_1007 > 0 else None


def without_vat(amount: Decimal, k: int, included: bool, divisor: Decimal | None = None) -> Decimal:
    """Take VAT out of an amount that includes it. Lines at 18 per cent have the `divisor` of rule 10-07, if any."""
    if not included or k not in VAT:
        return amount
    return amount / (VAT[k].gross if divisor is None or k != 1 else divisor)


@dataclass(slots=True)
class Adjustments:
    """Global discounts and surcharges by IndicadorFacturacion, and the discounts of rule 10-07 apart."""

    discounts: list[Decimal] = field(default_factory=lambda: [ZERO] * 5)
    surcharges: list[Decimal] = field(default_factory=lambda: [ZERO] * 5)
    present: list[bool] = field(default_factory=lambda: [False] * 5)
    rule_1007: Decimal = ZERO

    def net(self, k: int) -> Decimal:
        """Return surcharges minus discounts for indicator `k`."""
        return self.surcharges[k] - self.discounts[k]


_NO_ADJUSTMENTS = Adjustments()


def is_rule_1007(row: Fields) -> bool:
    """Whether a global discount is one of rule 10-07 (telecommunications)."""
    return whole(row, "IndicadorNorma1007") == "1"


def adjusted_indicator(row: Fields, tally: Tally) -> int | None:
    """Which IndicadorFacturacion (1 to 4) a global adjustment touches: the one it names, else the only one billed."""
    named = row.get("IndicadorFacturacionDescuentooRecargo")
    if named is not None:
        return indicator(named) or None
    billed = [k for k in range(1, 5) if tally.billed[k]]
    return billed[0] if len(billed) == 1 else None


def adjustment_amount(row: Fields, k: int, tally: Tally, included: bool) -> Decimal | None:
    """Return the amount a percentage adjustment stands for, or None where it is no percentage.

    The base is the lines' sum with VAT taken out; under rule 10-07 it is the sum as priced, since that discount is
    taken off what is payable.
    """
    percent = number(row.get("ValorDescuentooRecargo"))
    if percent is None or text(row, "TipoValor") != "%":
        return None
    base = tally.amounts[k] if is_rule_1007(row) else tally.net(k, included)
    return cents(base * percent / HUNDRED)


def adjustments(content: Fields, tally: Tally, included: bool) -> Adjustments:
    """Read DescuentosORecargos. A sent amount counts; where only a percentage was sent, what that makes."""
    if "DescuentosORecargos" not in content:
        return _NO_ADJUSTMENTS
    result = Adjustments()
    for row in rows(content, "DescuentosORecargos", "DescuentoORecargo"):
        k = adjusted_indicator(row, tally)
        if k is None:
            continue
        amount = number(row.get("MontoDescuentooRecargo"))
        if amount is None:
            amount = adjustment_amount(row, k, tally, included) or ZERO
        if text(row, "TipoAjuste") == "R":
            result.surcharges[k] += amount
        elif included and is_rule_1007(row):
            result.rule_1007 += amount
            continue
        else:
            result.discounts[k] += amount
        result.present[k] = True
    return result


def compose(tally: Tally, adjust: Adjustments, *, shape: TotalsShape, included: bool, sent: Fields) -> Amounts:
    """Make the content of `Totales`: the elements `shape` has and the document needs, as Decimals with two decimals.

    `sent` is what the client already says of SaldoAnterior and MontoAvancePago. Call inside `money.exact()`.
    """
    made: Amounts = {}
    divisor = tally.divisor(adjust) if included else None
    by_rule_1007 = divisor is not None
    taxable = tax = ZERO
    burden = tally.excise.burden(tally.amounts, adjust, included, by_rule_1007, shape.additional)
    for k in shape.vat:
        if not (tally.billed[k] or adjust.present[k]):
            continue
        base = cents(without_vat(tally.amounts[k], k, included, divisor)) + adjust.net(k)
        vat = cents((base + burden.in_vat_base if k == 1 else base) * VAT[k].fraction)
        made[f"MontoGravadoI{k}"] = cents(base)
        made[f"ITBIS{k}"] = VAT[k].percent
        made[f"TotalITBIS{k}"] = vat
        taxable += base
        tax += vat
    if made:
        made["MontoGravadoTotal"] = cents(taxable)
        made["TotalITBIS"] = cents(tax)
    total = taxable + tax + burden.total
    if shape.exempt and (tally.billed[EXEMPT] or adjust.present[EXEMPT]):
        made["MontoExento"] = cents(tally.amounts[EXEMPT] + adjust.net(EXEMPT))
        total += made["MontoExento"]
    if burden.rows:
        made["MontoImpuestoAdicional"] = burden.total
        made["ImpuestosAdicionales"] = {"ImpuestoAdicional": burden.rows}
    made["MontoTotal"] = total = cents(total)
    if shape.not_billable and tally.billed[NOT_BILLABLE]:
        made["MontoNoFacturable"] = cents(tally.amounts[NOT_BILLABLE])
        if any(tally.billed[1:]):
            made["MontoPeriodo"] = cents(total + tally.amounts[NOT_BILLABLE])
    withheld = {name: cents(amount) for name, amount in tally.withheld.items() if name in shape.withholdings}
    if withheld or by_rule_1007 or "SaldoAnterior" in sent or "MontoAvancePago" in sent:
        made["ValorPagar"] = payable(total, sent, adjust.rule_1007)
    made.update(withheld)
    return made


def payable(total: Decimal, sent: Fields, rule_1007: Decimal) -> Decimal:
    """Compute ValorPagar. Withholdings do not reduce it; the balance carries its own sign."""
    advance = number(sent.get("MontoAvancePago")) or ZERO
    balance = number(sent.get("SaldoAnterior")) or ZERO
    return cents(total - advance + balance - rule_1007)


def says_included(id_doc: Fields) -> bool:
    """Whether an IdDoc says that the lines' amounts have VAT inside (IndicadorMontoGravado 1)."""
    return whole(id_doc, "IndicadorMontoGravado") == "1"


def vat_included(content: Fields) -> bool:
    """Whether the lines' amounts have VAT inside (IndicadorMontoGravado 1)."""
    return says_included(section(section(content, "Encabezado"), "IdDoc"))


def issue_day(content: Fields) -> date | None:
    """Return FechaEmision, which decides which rates and thresholds are in force."""
    written = text(section(section(content, "Encabezado"), "Emisor"), "FechaEmision")
    return read_day(written) if written else None


def totals(document: Document, *, rates: Rates = RATES) -> Amounts:
    """Compute the content of `Totales` of an e-CF, without regard to its own values (except balance and advance).

    `rates` are those of the additional taxes; the day is FechaEmision (without one: the last known rates). A line
    without MontoItem counts with what its price and quantity make. ValueError when the document is no ECF.
    """
    if document.root is not Root.ECF or document.type is None:
        raise ValueError("only an e-CF has totals to compute")
    content = document.content
    tally = Tally(rates, issue_day(content) or date.max)
    included = vat_included(content)
    with exact():
        for item in rows(content, "DetallesItems", "Item"):
            amount = number(item.get("MontoItem"))
            tally.add(item, (line_amount(item) or ZERO) if amount is None else amount)
        return compose(
            tally,
            adjustments(content, tally, included),
            shape=SHAPES[document.type],
            included=included,
            sent=section(section(content, "Encabezado"), "Totales"),
        )


def totals_without_rates(document: Document) -> Amounts | None:
    """Compute as `totals` does; None where rates of additional taxes decide."""
    content = document.content
    if [item for item in rows(content, "DetallesItems", "Item") if "TablaImpuestoAdicional" in item]:
        return None
    if any(map(is_rule_1007, rows(content, "DescuentosORecargos", "DescuentoORecargo"))):
        return None
    return totals(document)


def plain_totals(document: Document) -> tuple[Decimal, Decimal] | None:
    """Compute MontoTotal and TotalITBIS as `totals` does, at a fifth of its price: a POST waits for it.

    None unless all lines have one IndicadorFacturacion and amounts, or prices and quantities, and nothing else counts.
    """
    content = document.content
    items = section(content, "DetallesItems").get("Item")
    if not items or not _ONLY_GROUPS.issuperset(map(type, items)) or "DescuentosORecargos" in content:
        return None
    given = items[0].get("IndicadorFacturacion")
    for item in items:
        if "TablaImpuestoAdicional" in item or "Retencion" in item or item.get("IndicadorFacturacion") != given:
            return None
    k = INDICATORS.get(given) if type(given) is str else None
    if k is None or document.type is None:
        return None
    shape = SHAPES[document.type]
    if k not in shape.vat and not (k == EXEMPT and shape.exempt):
        return None
    with exact():
        amounts: list[Any] = [line_amount(item) if (sent := item.get("MontoItem")) is None else sent for item in items]
        if not _NUMBERS.issuperset(map(type, amounts)):
            return None
        amount = cents(Decimal(sum(amounts)))
        if k == EXEMPT:
            return amount, ZERO
        vat = VAT[k]
        if vat.percent and vat_included(content):
            amount = cents(amount / vat.gross)
        tax = cents(amount * vat.fraction)
        return amount + tax, tax
