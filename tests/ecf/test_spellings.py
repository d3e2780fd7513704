"""A code that is a whole number is the same however it is spelt (`1`, `01`, `+1`, 1.0): to the schema, in what is
written, and so in every amount and rule."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.document import Document, read_payload
from fe.ecf.lines import indicator
from fe.ecf.parse import parse_json
from fe.ecf.reading import as_whole
from fe.ecf.rules import apply_rules
from fe.ecf.schema import validate
from fe.ecf.schema.kinds import kind
from fe.ecf.schema.model import Base, Element
from fe.ecf.totals import totals
from tests.ecf.receipts import changed, draft, fill, line
from tests.ecf.strategies import DOCUMENT_KINDS, documents

NOW = datetime(2026, 11, 26, 12, tzinfo=UTC)
GOLDEN = Path(__file__).parent / "golden"
SPELLINGS = {"zero": "0{}".format, "plus": "+{}".format, "number": lambda text: Decimal(f"{text}.0")}
spelt = pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)


def respelt(of: Element, content: Any, spell: Any, found: list[str]) -> Any:
    """The same content, its codes that are whole numbers spelt otherwise; but TipoeCF, which says what it is."""
    if isinstance(content, list):
        return [respelt(of, one, spell, found) for one in content]
    if of.simple is None:
        return {
            name: respelt(of.by_name[name], value, spell, found) if name in of.by_name else value
            for name, value in content.items()
        }
    if of.simple.codes and of.simple.base is Base.INTEGER and of.name != "TipoeCF" and content is not None:
        found.append(of.name)
        return spell(str(content))
    return content


def told(document: Document) -> tuple[Any, list[tuple[str, str]]]:
    problems = [(each.path, each.code) for each in apply_rules(document, now=NOW)]
    return totals(document) if document.root is Root.ECF else None, problems


@spelt
@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.json")))
def test_amounts_and_rules_of_whole_documents_are_the_same(name: str, spelling: Any) -> None:
    document = read_payload(parse_json((GOLDEN / f"{name}.json").read_bytes()), roots=list(Root))
    found: list[str] = []
    root = kind(document.root, document.type).root

    other = replace(document, content=respelt(root, document.content, spelling, found))

    assert told(other) == told(document)
    assert found or document.root is Root.ANECF


@given(st.data())
def test_and_of_any_that_follows_the_format(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(DOCUMENT_KINDS).flatmap(lambda one: documents(one)))
    spelling = data.draw(st.sampled_from(list(SPELLINGS.values())))
    root = kind(document.root, document.type).root

    assert told(replace(document, content=respelt(root, document.content, spelling, []))) == told(document)


@pytest.mark.parametrize("value", ["1", "01", "+1", " 1 ", 1, Decimal("1.0"), Decimal("1")])
def test_an_indicator_is_its_number(value: object) -> None:
    assert indicator(value) == 1


@pytest.mark.parametrize(
    "value", ["5", "-1", "1.5", Decimal("1.5"), 1.0, True, "uno", "1e0", [1], Decimal("NaN"), 10**30]
)
def test_unknown_spelling_is_none(value: object) -> None:
    assert indicator(value) is None


@pytest.mark.parametrize("value", [None, "", "  "])
def test_line_without_an_indicator_is_exempt(value: object) -> None:
    assert indicator(value) == 4


@spelt
@pytest.mark.parametrize("included", ["0", "1"])
def test_a_receipt_is_filled_in_with_the_same_amounts(spelling: Any, included: str) -> None:
    """A line whose indicator is a number with decimals, as some languages write it, was left out of the total."""
    document = draft(EcfType.CREDIT_FISCAL, [line("1180.00"), line(indicator="3")])
    document = changed(document, "Encabezado.IdDoc.IndicadorMontoGravado", included)
    root = kind(document.root, document.type).root

    filled = fill(replace(document, content=respelt(root, document.content, spelling, [])))

    amounts = filled.content["Encabezado"]["Totales"]
    assert amounts == fill(document).content["Encabezado"]["Totales"]
    assert amounts["MontoTotal"] == Decimal("1280.00" if included == "1" else "1492.40")
    assert validate(build(filled)) == []


def test_a_code_is_spelt_as_the_lists_have_it() -> None:
    assert [as_whole(text) for text in (None, "1", "01", "+1", "10", "1.5", "x", "")] == [
        None,
        "1",
        "1",
        "1",
        "10",
        "1.5",
        "x",
        "",
    ]
