from datetime import date
from decimal import Decimal
from itertools import pairwise

import pytest

from fe.ecf.taxes import ADDITIONAL_TAXES, RATES, SPECIFIC, VAT, Period, RateInForce, Rates, TaxKind, quarter_end


def test_the_table_has_the_39_codes_in_order() -> None:
    assert list(ADDITIONAL_TAXES) == [f"{code:03d}" for code in range(1, 40)]


@pytest.mark.parametrize(
    ("first", "last", "kind"),
    [
        (1, 5, TaxKind.OTHER),
        (6, 18, TaxKind.SPECIFIC_ALCOHOL),
        (19, 22, TaxKind.SPECIFIC_TOBACCO),
        (23, 35, TaxKind.AD_VALOREM_ALCOHOL),
        (36, 39, TaxKind.AD_VALOREM_TOBACCO),
    ],
)
def test_codes_are_of_the_kinds_of_the_format(first: int, last: int, kind: TaxKind) -> None:
    kinds = {ADDITIONAL_TAXES[f"{code:03d}"].kind for code in range(first, last + 1)}

    assert kinds == {kind}


def test_every_ad_valorem_tax_knows_the_specific_tax_on_the_same_goods() -> None:
    for code in range(23, 40):
        tax = ADDITIONAL_TAXES[f"{code:03d}"]
        assert tax.specific == f"{code - 17:03d}"
        assert ADDITIONAL_TAXES[tax.specific].name == tax.name


@pytest.mark.parametrize(
    ("code", "day", "rate", "confirmed"),
    [
        ("001", date(2026, 11, 20), "10", True),
        ("002", date(2026, 11, 20), "2", True),
        ("003", date(2026, 11, 20), "16", True),
        ("004", date(2026, 11, 20), "10", True),
        ("005", date(2026, 11, 20), "17", True),
        ("023", date(2020, 4, 1), "10", True),
        ("035", date(2020, 4, 1), "10", True),
        ("036", date(2020, 4, 1), "20", True),
        ("039", date(2020, 4, 1), "20", True),
        ("006", date(2020, 4, 1), "633.85", True),
        ("018", date(2020, 6, 30), "633.85", True),
        ("006", date(2020, 7, 1), "633.85", False),
        ("006", date(2019, 1, 1), "632.58", False),
        ("006", date(2025, 10, 1), "745.60", True),
        ("006", date(2026, 2, 1), "745.60", False),
        ("006", date(2026, 9, 30), "764.29", True),
        ("006", date(2026, 11, 20), "764.29", False),
        ("019", date(2025, 12, 31), "63.07", True),
        ("022", date(2025, 7, 1), "31.20", True),
        ("019", date(2020, 4, 1), "53.51", False),
        ("021", date(2020, 4, 1), "26.75", False),
    ],
)
def test_rate_of_a_day_is_marked_when_assumed(code: str, day: date, rate: str, confirmed: bool) -> None:
    in_force = RATES.on(code, day)

    assert (in_force.rate, in_force.confirmed) == (Decimal(rate), confirmed)


def test_every_code_has_a_rate_on_any_day() -> None:
    for code in ADDITIONAL_TAXES:
        for day in (date.min, date(2020, 4, 1), date.max):
            assert RATES.on(code, day).rate > 0


def test_periods_of_a_code_do_not_overlap() -> None:
    for periods in RATES.periods.values():
        for before, after in pairwise(periods):
            assert before.until is not None
            assert before.until < after.since


def test_stated_rate_overrides_the_table() -> None:
    rates = RATES.stating({"006": Decimal("800.00")})

    assert rates.on("006", date(2020, 4, 1)).rate == Decimal("800.00")
    assert RATES.on("006", date(2020, 4, 1)).rate == Decimal("633.85")


def test_a_new_quarter_is_a_new_row() -> None:
    rates = Rates({"006": (*RATES.periods["006"], Period(Decimal("750.00"), date(2026, 10, 1), date(2026, 12, 31)))})

    assert rates.on("006", date(2026, 11, 20)).confirmed
    assert rates.on("006", date(2026, 11, 20)).rate == Decimal("750.00")


def test_vat_rates_are_18_16_and_0() -> None:
    assert {k: (vat.percent, vat.fraction, vat.gross) for k, vat in VAT.items()} == {
        1: (Decimal(18), Decimal("0.18"), Decimal("1.18")),
        2: (Decimal(16), Decimal("0.16"), Decimal("1.16")),
        3: (Decimal(0), Decimal(0), Decimal(1)),
    }


# --- what an operator adds --------------------------------------------------------------------------------------------


def test_added_period_overrides_known_periods() -> None:
    added = (
        Period(Decimal("800.00"), date(2025, 10, 1), date(2025, 12, 31)),
        Period(Decimal("752.10"), date(2026, 1, 1), date(2026, 3, 31)),
    )
    rates = RATES.knowing({"006": added})

    assert rates.on("006", date(2025, 11, 1)) == RateInForce(Decimal("800.00"), True)
    assert rates.on("006", date(2026, 2, 1)) == RateInForce(Decimal("752.10"), True)
    assert rates.on("006", date(2026, 4, 1)) == RateInForce(Decimal("752.10"), False)
    assert rates.on("006", date(2025, 8, 1)) == RATES.on("006", date(2025, 8, 1))
    assert rates.on("007", date(2026, 2, 1)) == RateInForce(Decimal("745.60"), False)


def test_of_periods_that_overlap_the_latest_begun_counts() -> None:
    rates = RATES.knowing({"001": (Period(Decimal(11), date(2026, 1, 1)), Period(Decimal(12), date(2026, 7, 1)))})

    assert rates.on("001", date(2025, 12, 31)).rate == 10
    assert rates.on("001", date(2026, 6, 30)).rate == 11
    assert rates.on("001", date(2026, 7, 1)) == RateInForce(Decimal(12), True)


@pytest.mark.parametrize(
    ("day", "end"),
    [
        (date(2026, 1, 1), date(2026, 3, 31)),
        (date(2026, 6, 30), date(2026, 6, 30)),
        (date(2026, 8, 15), date(2026, 9, 30)),
        (date(2026, 12, 31), date(2026, 12, 31)),
    ],
)
def test_a_quarter_ends_with_its_third_month(day: date, end: date) -> None:
    assert quarter_end(day) == end


def test_rate_that_changes_names_its_source() -> None:
    for code, tax in ADDITIONAL_TAXES.items():
        if tax.kind in SPECIFIC:
            assert all(period.source for period in RATES.periods[code]), code
