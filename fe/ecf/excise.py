"""The additional taxes of a document's lines, codes 001-039 (authority.md#additional-taxes).

Per code only sums are kept while the lines are walked; the one division and the one rounding of each amount come at the
end. So amounts do not depend on the order of the lines.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Protocol

from fe.ecf.money import HUNDRED, ONE, ZERO, cents, number
from fe.ecf.reading import Fields, coded, rows, whole
from fe.ecf.taxes import AD_VALOREM, ADDITIONAL_TAXES, BULK, SPECIFIC, VAT, AdditionalTax, Rates, TaxKind

#: In bulk there is no retail price: the list price, raised by this, stands in for it.
_BULK_MARKUP = Decimal("1.30")

#: The two taxes of telecommunication services, which rule 10-07 takes out of the price together with VAT.
_TELECOM = ("002", "004")


def rates_for(totals: Fields, rates: Rates, day: date) -> Rates:
    """Return the rates to compute a document with: those in force on `day`; where none is known, what it states itself.

    `totals` is its `Totales`. Filling in and checking both take theirs from here: what is filled in is not refused.
    """
    stated: dict[str, Decimal] = {}
    for row in rows(totals, "ImpuestosAdicionales", "ImpuestoAdicional"):
        code, rate = tax_code(row), number(row.get("TasaImpuestoAdicional"))
        if code is None or code not in ADDITIONAL_TAXES or rate is None or rate <= 0:
            continue
        if not rates.on(code, day).confirmed:
            stated[code] = rate
    return rates.stating(stated) if stated else rates


class GlobalAdjustments(Protocol):
    """Totals of the global discounts and surcharges, by IndicadorFacturacion."""

    discounts: list[Decimal]
    surcharges: list[Decimal]


@dataclass(frozen=True, slots=True)
class Burden:
    """The additional taxes of a document.

    `rows` are those of `ImpuestosAdicionales`, in the order of the codes, and only with amounts above zero, as the
    schema asks. `in_vat_base` is the part that VAT at 18% is due on: excise (006-039) on lines at that rate.
    """

    total: Decimal
    in_vat_base: Decimal
    rows: list[dict[str, Any]]


_NO_BURDEN = Burden(ZERO, ZERO, [])


class _Part:
    """Sums of one code over the lines at the 18% rate, or over the others."""

    __slots__ = ("direct", "retail")

    def __init__(self) -> None:
        self.direct = ZERO  # an amount of tax already, but for rounding
        self.retail = ZERO  # retail value less 1.18 x specific tax: still to be divided by 1.18 and by 1 + rate

    def amount(self, rate: Decimal) -> Decimal:
        if not self.retail:
            return self.direct
        return self.direct + self.retail * rate / (VAT[1].gross * (ONE + rate))


class _Sums:
    """Sums of one code: MontoItem by indicator (001-005), and tax at 18% lines and elsewhere (006-039)."""

    __slots__ = ("amounts", "at_full_rate", "elsewhere")

    def __init__(self) -> None:
        self.amounts = [ZERO] * 5
        self.at_full_rate = _Part()
        self.elsewhere = _Part()


def litres_of_alcohol(item: Fields) -> Decimal:
    """Return a line's litres of absolute alcohol: degrees% x reference quantity x sub-quantity x quantity.

    Several sub-quantities are summed. A missing factor makes it zero; the rules report that.
    """
    degrees, reference = number(item.get("GradosAlcohol")), number(item.get("CantidadReferencia"))
    quantity = number(item.get("CantidadItem"))
    if degrees is None or reference is None or quantity is None:
        return ZERO
    inside = ZERO
    for row in rows(item, "TablaSubcantidad", "SubcantidadItem"):
        inside += number(row.get("Subcantidad")) or ZERO
    return degrees / HUNDRED * reference * inside * quantity


def packets(item: Fields) -> Decimal:
    """Return how many reference units a line holds: quantity x reference quantity."""
    return (number(item.get("CantidadItem")) or ZERO) * (number(item.get("CantidadReferencia")) or ZERO)


def tax_code(row: Fields, name: str = "TipoImpuesto") -> str | None:
    """Read the code of an additional tax: three digits."""
    return coded(row, name, 3)


def codes_of(item: Fields) -> list[str]:
    """Return the additional-tax codes of a line, each once, in their order."""
    codes = (tax_code(row) for row in rows(item, "TablaImpuestoAdicional", "ImpuestoAdicional"))
    return list(dict.fromkeys(one for one in codes if one))


def in_bulk(item: Fields) -> bool:
    """Whether a line's goods are sold in bulk."""
    return whole(item, "UnidadMedida") == BULK


class Excise:
    """Sums of the additional taxes over the lines of one document, at the rates of one day."""

    __slots__ = ("_day", "_rates", "_sums")

    def __init__(self, rates: Rates, day: date) -> None:
        self._rates = rates
        self._day = day
        self._sums: dict[str, _Sums] = {}

    @property
    def codes(self) -> list[str]:
        """The codes met so far, in the table's order."""
        return sorted(self._sums)

    def rate(self, code: str) -> Decimal:
        """Return the rate of a code: per cent, or pesos for the specific taxes."""
        return self._rates.on(code, self._day).rate

    def rule_1007_divisor(self) -> Decimal:
        """Divisor that turns a price under rule 10-07 into its base: 1 + VAT + both telecommunication taxes."""
        return VAT[1].gross + sum((self.rate(code) for code in _TELECOM), ZERO) / HUNDRED

    def add(self, item: Fields, k: int, amount: Decimal) -> None:
        """Count a line's codes. Unknown codes are left to the schema."""
        taxes = [ADDITIONAL_TAXES[one] for one in codes_of(item) if one in ADDITIONAL_TAXES]
        specific = {tax.code: self._specific(tax, item) for tax in taxes if tax.kind in SPECIFIC}
        for tax in taxes:
            sums = self._sums.get(tax.code)
            if sums is None:
                sums = self._sums[tax.code] = _Sums()
            part = sums.at_full_rate if k == 1 else sums.elsewhere
            if tax.kind is TaxKind.OTHER:
                sums.amounts[k] += amount
            elif tax.kind in SPECIFIC:
                part.direct += specific[tax.code]
            elif tax.kind is TaxKind.AD_VALOREM_ALCOHOL and in_bulk(item):
                price, quantity = number(item.get("PrecioUnitarioItem")), number(item.get("CantidadItem"))
                part.direct += (price or ZERO) * _BULK_MARKUP * (quantity or ZERO) * self.rate(tax.code) / HUNDRED
            else:
                retail = (number(item.get("PrecioUnitarioReferencia")) or ZERO) * packets(item)
                base = retail - VAT[1].gross * specific.get(tax.specific or "", ZERO)
                if base > 0:
                    part.retail += base

    def _specific(self, tax: AdditionalTax, item: Fields) -> Decimal:
        if tax.kind is TaxKind.SPECIFIC_TOBACCO:
            return packets(item) * self.rate(tax.code)
        return ZERO if in_bulk(item) else litres_of_alcohol(item) * self.rate(tax.code)

    def burden(
        self,
        amounts: Sequence[Decimal],
        adjust: GlobalAdjustments,
        included: bool,
        by_rule_1007: bool,
        allowed: frozenset[TaxKind],
    ) -> Burden:
        """Compute the amounts of all codes whose kind is `allowed`.

        `amounts` are the lines' sums by indicator, over which global adjustments are spread in proportion.
        """
        if not self._sums:
            return _NO_BURDEN
        total = in_vat_base = ZERO
        made: list[dict[str, Any]] = []
        for code in self.codes:
            tax = ADDITIONAL_TAXES[code]
            if tax.kind not in allowed:
                continue
            rate, sums = self.rate(code), self._sums[code]
            if tax.kind is TaxKind.OTHER:
                base = self._other_base(tax, sums, amounts, adjust, included, by_rule_1007)
                amount = cents(base * rate / HUNDRED)
            else:
                fraction = rate / HUNDRED if tax.kind in AD_VALOREM else rate
                at_full_rate = sums.at_full_rate.amount(fraction)
                amount = cents(at_full_rate + sums.elsewhere.amount(fraction))
                in_vat_base += cents(at_full_rate)
            if amount > 0:
                total += amount
                made.append({"TipoImpuesto": code, "TasaImpuestoAdicional": rate, tax.kind.element: amount})
        return Burden(cents(total), in_vat_base, made)

    def _other_base(
        self,
        tax: AdditionalTax,
        sums: _Sums,
        amounts: Sequence[Decimal],
        adjust: GlobalAdjustments,
        included: bool,
        by_rule_1007: bool,
    ) -> Decimal:
        total = ZERO
        for k, amount in enumerate(sums.amounts):
            if not amount:
                continue
            base = amount
            if by_rule_1007 and k == 1 and tax.code in _TELECOM:
                base = amount / self.rule_1007_divisor()
            elif included and k in VAT and tax.code != "005":
                # The text says 1.18, having services at that rate in mind; a line at 16% or 0% has its own VAT inside.
                base = amount / VAT[k].gross
            change = ZERO
            if tax.takes_surcharges:
                change += adjust.surcharges[k]
            if tax.takes_discounts:
                change -= adjust.discounts[k]
            if change and amounts[k]:  # lines that make up for each other, which the schema objects to, have no share
                base += change * amount / amounts[k]
            total += base
        return total
