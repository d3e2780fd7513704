from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType
from fe.ecf.document import Document, read_xml
from fe.ecf.money import number
from fe.ecf.rules import apply_rules, check
from fe.ecf.totals import totals
from tests.ecf.drafts import any_draft, drafts
from tests.ecf.receipts import NOW, changed, fill, receipt

#: Each more than the tolerance of any of the drafts.
FAR = Decimal("1000.00")


@given(any_draft, st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_totals_do_not_depend_on_the_order_of_the_lines(document: Document, random: Any) -> None:
    items = list(document.content["DetallesItems"]["Item"])
    random.shuffle(items)

    assert totals(changed(document, "DetallesItems.Item", items)) == totals(document)


@pytest.mark.parametrize("ecf_type", EcfType)
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_what_is_computed_passes_every_check(ecf_type: EcfType, data: st.DataObject) -> None:
    document = fill(data.draw(drafts(ecf_type)))

    assert check(document, now=NOW) == []


@given(any_draft)
@settings(max_examples=100, deadline=None)
def test_the_total_is_the_sum_of_its_parts(document: Document) -> None:
    made = totals(document)
    parts = ("MontoGravadoTotal", "MontoExento", "TotalITBIS", "MontoImpuestoAdicional")

    assert made["MontoTotal"] == sum((made.get(name, Decimal(0)) for name in parts), Decimal(0))
    for name, value in made.items():
        if isinstance(value, Decimal) and not name.startswith("ITBIS"):
            assert value.as_tuple().exponent == -2, name


@given(any_draft)
@settings(max_examples=75, deadline=None)
def test_a_filled_document_says_the_same_after_the_trip_through_xml(document: Document) -> None:
    filled = fill(document)
    back = read_xml(build(filled))

    assert apply_rules(back, now=NOW) == []
    assert totals(back) == totals(filled)


def _amounts(value: Any, path: str) -> list[str]:
    """Paths of all amounts of `Totales`, rates left aside."""
    if isinstance(value, dict):
        return [one for name, below in value.items() for one in _amounts(below, f"{path}.{name}")]
    if isinstance(value, list):
        return [one for place, below in enumerate(value, 1) for one in _amounts(below, f"{path}[{place}]")]
    name = path.rpartition(".")[2]
    return [] if name.startswith(("ITBIS", "Tipo", "Tasa")) else [path]


@given(any_draft, st.data())
@settings(max_examples=150, deadline=None)
def test_one_wrong_amount_of_the_totals_is_one_problem_at_its_path(document: Document, data: st.DataObject) -> None:
    filled = changed(fill(document), "Encabezado.OtraMoneda", None)
    path = data.draw(st.sampled_from(_amounts(filled.content["Encabezado"]["Totales"], "Encabezado.Totales")))
    amount = number(filled.get(path))
    assert amount is not None
    wrong = changed(filled, path, str(amount + FAR))

    problems = apply_rules(wrong, now=NOW)

    paths = [one.path for one in problems]
    # What is payable and what a period comes to are judged by the total as it is stated.
    follow = (
        {"Encabezado.Totales.ValorPagar", "Encabezado.Totales.MontoPeriodo"} if path.endswith("MontoTotal") else set()
    )
    assert path in paths
    assert set(paths) <= {path} | follow


@given(any_draft, st.data())
@settings(max_examples=100, deadline=None)
def test_a_wrong_line_amount_is_reported_at_its_line(document: Document, data: st.DataObject) -> None:
    filled = fill(document)
    place = data.draw(st.integers(1, len(filled.content["DetallesItems"]["Item"])))
    path = f"DetallesItems.Item[{place}].MontoItem"
    amount = number(filled.get(path))
    assert amount is not None

    problems = apply_rules(changed(filled, path, str(amount + FAR)), now=NOW)

    assert ("line-amount", path) in [(one.code, one.path) for one in problems]


@pytest.mark.parametrize("ecf_type", EcfType)
def test_within_the_tolerance_nothing_is_said(ecf_type: EcfType) -> None:
    filled = receipt(ecf_type)
    total = number(filled.get("Encabezado.Totales.MontoTotal"))
    assert total is not None

    assert apply_rules(changed(filled, "Encabezado.Totales.MontoTotal", str(total + 1)), now=NOW) == []
    beyond = apply_rules(changed(filled, "Encabezado.Totales.MontoTotal", str(total + Decimal("1.01"))), now=NOW)
    assert "total-mismatch" in [one.code for one in beyond]
