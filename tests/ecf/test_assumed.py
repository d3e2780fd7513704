"""Remarks on a document as it was handed in, and on its totals as they were filled in."""

from datetime import UTC, datetime
from typing import Any

import pytest

from fe.ecf.catalogue import EcfType
from fe.ecf.document import Document
from fe.ecf.rules import apply_rules, assumptions, of_the_issue_date
from tests.ecf.breaking import ID
from tests.ecf.receipts import NOW, changed, draft, fill, line, receipt, withheld


def silent(ecf_type: EcfType, *indicators: str | None) -> Document:
    lines = [{**line(), "IndicadorFacturacion": indicator} for indicator in indicators]
    return draft(ecf_type, lines)


def codes(document: Document) -> list[tuple[str, str | None, str | None]]:
    return [(one.code, one.found, one.expected) for one in apply_rules(document, now=NOW)]


def test_lines_without_indicator_are_one_remark_at_the_first_of_them() -> None:
    (found,) = assumptions(silent(EcfType.CONSUMER, "1", None, None, "4"))

    assert (found.code, found.path, found.severity) == (
        "exempt-assumed",
        "DetallesItems.Item[2].IndicadorFacturacion",
        "conditional",
    )
    assert "missing in 2 of the lines" in found.message
    assert "falta IndicadorFacturacion en 2 de las líneas" in found.message_es


@pytest.mark.parametrize("ecf_type", [EcfType.MINOR_EXPENSES, EcfType.SPECIAL_REGIME, EcfType.PAYMENTS_ABROAD])
def test_types_that_cannot_be_taxed_get_no_remark(ecf_type: EcfType) -> None:
    assert assumptions(silent(ecf_type, None)) == []


def test_lines_that_say_their_indicator_get_no_remark() -> None:
    assert assumptions(silent(EcfType.CONSUMER, "4", "2", "1")) == []


@pytest.mark.parametrize(
    ("issued", "found"), [("31-12-2024", ["issue-date-past"]), ("01-01-2025", []), ("not a day", []), (None, [])]
)
def test_issue_date_of_the_year_before_last_is_remarked(issued: str | None, found: list[str]) -> None:
    document = changed(receipt(EcfType.CONSUMER), "Encabezado.Emisor.FechaEmision", issued)

    assert [one.code for one in of_the_issue_date(document, datetime(2026, 11, 20, tzinfo=UTC))] == found


def test_total_of_prices_with_itbis_inside_that_loses_a_cent_is_remarked() -> None:
    document = receipt(EcfType.CONSUMER, [line("3200.00")], included=True)

    assert codes(document) == [("total-not-prices", "3199.99", "3200.00")]


def test_total_of_prices_with_itbis_inside_that_adds_up_is_in_order() -> None:
    assert codes(receipt(EcfType.CONSUMER, [line("118.00")], included=True)) == []


@pytest.mark.parametrize(
    ("paid", "found"),
    [(["118.00"], []), (["100.00", "18.00"], []), (["118.00", "2.00"], [("payments-differ", "120.00", "118.00")])],
)
def test_payments_that_do_not_add_up_are_remarked(paid: list[str], found: list[Any]) -> None:
    payments = {"FormaDePago": [{"FormaPago": "1", "MontoPago": amount} for amount in paid]}
    document = changed(fill(draft(EcfType.CONSUMER, [line("100.00")])), f"{ID}.TablaFormasPago", payments)

    assert codes(document) == found


@pytest.mark.parametrize(
    ("paid", "found"),
    [("118.00", []), ("90.00", []), ("100.00", [("payments-differ", "100.00", "118.00")])],
)
def test_payments_net_of_withholdings_are_accepted(paid: str, found: list[Any]) -> None:
    bought = withheld(EcfType.PURCHASES, line("100.00"), vat="18.00", income="10.00")
    payments = {"FormaDePago": [{"FormaPago": "1", "MontoPago": paid}]}
    document = changed(fill(draft(EcfType.PURCHASES, [bought])), f"{ID}.TablaFormasPago", payments)

    assert codes(document) == found
