"""The authority's codes in our own words, and the pages made of them."""

import re
from pathlib import Path
from typing import Any

import pytest

from fe.ecf.verdicts import EXPLANATIONS, OTHER, explain, page
from fe.simulator import rejection_reasons

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.mark.parametrize(("language", "name"), [("en", "verdicts.md"), ("es", "veredictos.md")])
def test_the_page_is_made_of_the_table(language: Any, name: str) -> None:
    written = (DOCS / name).read_text(encoding="utf-8")

    assert written == page(language), f"run: python -m fe.ecf.verdicts {language} > docs/{name}"


def test_every_code_that_was_seen_or_promised_is_explained() -> None:
    known = {each.code for each in EXPLANATIONS}
    given = {*rejection_reasons._INTERFACE.values(), *rejection_reasons._LIVE.values()}

    assert {str(code) for code in given} <= known
    assert {"2150", "3243", "004"} <= known
    assert len(known) == len(EXPLANATIONS)


def test_explanation_has_meaning_and_action_in_both_languages() -> None:
    for each in (*EXPLANATIONS, OTHER):
        assert each.meaning != each.meaning_es
        assert each.action != each.action_es
        assert all(text.endswith(".") for text in (each.meaning, each.meaning_es, each.action, each.action_es))


@pytest.mark.parametrize(
    ("codigo", "valor", "explained"),
    [
        ("1209", "usado", "1209"),
        ("4", "agotada", "4"),
        ("004", "intente de nuevo", "004"),
        ("01", "esquema", "1"),
        ("0", "no cuadra el ISC", ""),
        ("9999", "otra cosa", ""),
        ("", "sin codigo", ""),
    ],
)
def test_a_code_is_taken_as_it_came_and_then_as_a_number(codigo: str, valor: str, explained: str) -> None:
    ((shown, found),) = explain([{"codigo": codigo, "valor": valor}, {"codigo": codigo, "valor": "again"}])

    assert (shown, found.code) == (codigo, explained)


@pytest.mark.parametrize("messages", [[], [{"codigo": "0", "valor": ""}], [{"codigo": "0", "valor": "Aceptado"}], [{}]])
def test_message_without_content_is_not_explained(messages: list[dict[str, Any]]) -> None:
    assert list(explain(messages)) == []


@pytest.mark.parametrize(("document", "anchor"), [("authority", "messages"), ("interface", "messages")])
def test_every_code_of_the_reference_is_explained(document: str, anchor: str) -> None:
    text = (DOCS / "reference" / f"{document}.md").read_text(encoding="utf-8")
    section = re.split(r"\n\n(?=<a |## )|\n## ", text.partition(f'<a id="{anchor}"></a>')[2], maxsplit=1)[0]
    named = set(re.findall(r"(?<![\w.-])(\d{1,4})(?= [a-záA-Z`])", section)) - {"0"}

    assert len(named) > 6
    assert named <= {each.code for each in EXPLANATIONS}
