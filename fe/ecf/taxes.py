"""Taxes as data: VAT rates, the additional taxes 001-039, and which rate is in force on which day.

Source: authority.md#additional-taxes (format document, table I). The specific taxes on alcohol and cigarettes
are indexed every quarter, so their rates carry periods. A day outside every known period gets the last rate before it,
marked as not confirmed: amounts can still be computed, and `rules` says that the rate was assumed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum

from fe.ecf.money import HUNDRED

#: ITBIS in per cent by IndicadorFacturacion 1, 2, 3.
VAT_PERCENT = {1: Decimal(18), 2: Decimal(16), 3: Decimal(0)}

#: IndicadorFacturacion values.
NOT_BILLABLE, EXEMPT = 0, 4

#: UnidadMedida of goods sold in bulk, which pay no specific tax on alcohol and another ad-valorem base.
BULK = "18"


class TaxKind(Enum):
    """How an additional tax is computed; the value is the element of `Totales` that takes its amount."""

    OTHER = ("OtrosImpuestosAdicionales", "other")
    SPECIFIC_ALCOHOL = ("MontoImpuestoSelectivoConsumoEspecifico", "alcohol")
    SPECIFIC_TOBACCO = ("MontoImpuestoSelectivoConsumoEspecifico", "tobacco")
    AD_VALOREM_ALCOHOL = ("MontoImpuestoSelectivoConsumoAdvalorem", "alcohol")
    AD_VALOREM_TOBACCO = ("MontoImpuestoSelectivoConsumoAdvalorem", "tobacco")

    @property
    def element(self) -> str:
        """The element of `Totales/ImpuestosAdicionales/ImpuestoAdicional` that takes its amount."""
        return self.value[0]


#: The elements that take the amount of an additional tax, in the schema's order.
AMOUNT_ELEMENTS = (
    "MontoImpuestoSelectivoConsumoEspecifico",
    "MontoImpuestoSelectivoConsumoAdvalorem",
    "OtrosImpuestosAdicionales",
)

SPECIFIC = frozenset({TaxKind.SPECIFIC_ALCOHOL, TaxKind.SPECIFIC_TOBACCO})
AD_VALOREM = frozenset({TaxKind.AD_VALOREM_ALCOHOL, TaxKind.AD_VALOREM_TOBACCO})


@dataclass(frozen=True, slots=True)
class AdditionalTax:
    """One row of the authority's table I, under its Spanish name.

    `specific` is, for an ad-valorem tax, the code of the specific tax on the same goods. `takes_discounts` and
    `takes_surcharges` say whether global adjustments change the base (taxes 001-005 only).
    """

    code: str
    name: str
    kind: TaxKind
    specific: str | None = None
    takes_discounts: bool = True
    takes_surcharges: bool = True


_DRINKS = (
    "Cerveza",
    "Vinos de uva",
    "Vermut y demás vinos de uvas frescas",
    "Demás bebidas fermentadas",
    "Alcohol etílico sin desnaturalizar (80% o más)",
    "Alcohol etílico sin desnaturalizar (inferior a 80%)",
    "Aguardientes de uva",
    "Whisky",
    "Ron y demás aguardientes de caña",
    "Gin y ginebra",
    "Vodka",
    "Licores",
    "Los demás (bebidas y alcoholes)",
)
_CIGARETTES = (
    "Cigarrillos que contengan tabaco, cajetilla de 20 unidades",
    "Los demás cigarrillos, 20 unidades",
    "Cigarrillos que contengan tabaco, cajetilla de 10 unidades",
    "Los demás cigarrillos, 10 unidades",
)


def _table() -> dict[str, AdditionalTax]:
    rows = [
        AdditionalTax("001", "Propina legal", TaxKind.OTHER),
        AdditionalTax("002", "Contribución al desarrollo de las telecomunicaciones", TaxKind.OTHER),
        AdditionalTax("003", "Servicios de seguros en general", TaxKind.OTHER, takes_surcharges=False),
        AdditionalTax("004", "Servicios de telecomunicaciones", TaxKind.OTHER),
        AdditionalTax(
            "005", "Expedición de la primera placa", TaxKind.OTHER, takes_discounts=False, takes_surcharges=False
        ),
    ]
    # Ad valorem follows the specific codes in the same order, 17 further on: 023 is beer as 006 is.
    for offset, name in enumerate(_DRINKS):
        rows.append(AdditionalTax(f"{6 + offset:03d}", name, TaxKind.SPECIFIC_ALCOHOL))
        rows.append(AdditionalTax(f"{23 + offset:03d}", name, TaxKind.AD_VALOREM_ALCOHOL, specific=f"{6 + offset:03d}"))
    for offset, name in enumerate(_CIGARETTES):
        rows.append(AdditionalTax(f"{19 + offset:03d}", name, TaxKind.SPECIFIC_TOBACCO))
        rows.append(
            AdditionalTax(f"{36 + offset:03d}", name, TaxKind.AD_VALOREM_TOBACCO, specific=f"{19 + offset:03d}")
        )
    return {row.code: row for row in sorted(rows, key=lambda row: row.code)}


#: Every code of table I, in its order.
ADDITIONAL_TAXES: Mapping[str, AdditionalTax] = _table()


@dataclass(frozen=True, slots=True)
class Period:
    """A rate and the days it is known to be in force, both included. `until` None: no end is known or foreseen."""

    rate: Decimal
    since: date
    until: date | None = None
    #: The resolution, law or notice that says so.
    source: str = ""

    def covers(self, day: date) -> bool:
        """Whether the rate is known to be in force on `day`."""
        return self.since <= day and (self.until is None or day <= self.until)


@dataclass(frozen=True, slots=True)
class RateInForce:
    """The rate to compute with: per cent, or pesos for the specific taxes. `confirmed` False: assumed, see `Rates`."""

    rate: Decimal
    confirmed: bool


def _begin(period: Period) -> date:
    return period.since


def _percent(rate: str) -> tuple[Period, ...]:
    return (Period(Decimal(rate), date.min),)


def _quarter(rate: str, year: int, first_month: int, source: str) -> Period:
    last_month, last_day = {1: (3, 31), 4: (6, 30), 7: (9, 30), 10: (12, 31)}[first_month]
    return Period(Decimal(rate), date(year, first_month, 1), date(year, last_month, last_day), source)


def _undated(rate: str) -> Period:
    # A rate the format document prints without saying for which quarter: good to compute with, never confirmed.
    return Period(Decimal(rate), date.min, date.min, "format document of October 2025, undated")


_RESOLUTION_2025 = "resolution DDG-AR1-2025-00006, as newspapers of 18-09-2025 give it"

# Pesos per litre of absolute alcohol. The quarters of 2026 but the third are not known.
_ALCOHOL = (
    _undated("632.58"),
    _quarter("633.85", 2020, 4, "the authority's certification test set"),
    _quarter("737.57", 2025, 7, _RESOLUTION_2025),
    _quarter("745.60", 2025, 10, _RESOLUTION_2025),
    _quarter("764.29", 2026, 7, "law 30-26 of 18-06-2026 and notice 10-26"),
)
# Pesos per packet of 20 and of 10.
_PACKET_20 = (
    _undated("53.51"),
    _quarter("62.39", 2025, 7, _RESOLUTION_2025),
    _quarter("63.07", 2025, 10, _RESOLUTION_2025),
)
_PACKET_10 = (
    _undated("26.75"),
    _quarter("31.20", 2025, 7, _RESOLUTION_2025),
    _quarter("31.53", 2025, 10, _RESOLUTION_2025),
)

_PERIODS: dict[str, tuple[Period, ...]] = {
    "001": _percent("10"),
    "002": _percent("2"),
    "003": _percent("16"),
    "004": _percent("10"),
    "005": _percent("17"),
    "019": _PACKET_20,
    "020": _PACKET_20,
    "021": _PACKET_10,
    "022": _PACKET_10,
} | {
    code: {TaxKind.SPECIFIC_ALCOHOL: _ALCOHOL, TaxKind.AD_VALOREM_ALCOHOL: _percent("10")}.get(tax.kind, _percent("20"))
    for code, tax in ADDITIONAL_TAXES.items()
    if tax.kind not in (TaxKind.OTHER, TaxKind.SPECIFIC_TOBACCO)
}


@dataclass(frozen=True, slots=True)
class Rates:
    """Rates of the additional taxes by code, each with the periods it was in force, in any order.

    Where several periods cover a day the latest begun counts, and of two that began together the first named. `fixed`
    overrides them whatever the day: what a document itself states.
    """

    periods: Mapping[str, tuple[Period, ...]] = field(default_factory=lambda: _PERIODS)
    fixed: Mapping[str, Decimal] = field(default_factory=dict)

    def on(self, code: str, day: date) -> RateInForce:
        """Return the rate of `code` on `day`. KeyError for a code that is not in table I.

        In no known period: the last one begun before, not confirmed.
        """
        override = self.fixed.get(code)
        if override is not None:
            return RateInForce(override, True)
        periods = self.periods[code]
        known = [period for period in periods if period.covers(day)]
        if known:
            return RateInForce(max(known, key=_begin).rate, True)
        begun = [period for period in periods if period.since <= day]
        return RateInForce((max(begun, key=_begin) if begun else min(periods, key=_begin)).rate, False)

    def knowing(self, more: Mapping[str, tuple[Period, ...]]) -> "Rates":
        """Return these rates with further periods, which count before those known so far."""
        added = {code: (*each, *self.periods[code]) for code, each in more.items()}
        return Rates({**self.periods, **added}, self.fixed)

    def stating(self, fixed: Mapping[str, Decimal]) -> "Rates":
        """Return these rates with those of `fixed` in their place."""
        return Rates(self.periods, {**self.fixed, **fixed})


def quarter_end(day: date) -> date:
    """The last day of the calendar quarter of `day`: until then a rate that is indexed every quarter is known."""
    last_month = (day.month + 2) // 3 * 3
    return date(day.year, last_month, 31 if last_month in (3, 12) else 30)


#: Rates known at the time of this release. Operators set later quarters (`fe rates`), and `knowing` adds them.
RATES = Rates()


@dataclass(frozen=True, slots=True)
class Vat:
    """A VAT rate in the forms the formulas use."""

    percent: Decimal
    fraction: Decimal
    gross: Decimal


#: By IndicadorFacturacion: 1, 2, 3.
VAT = {k: Vat(percent, percent / HUNDRED, 1 + percent / HUNDRED) for k, percent in VAT_PERCENT.items()}
