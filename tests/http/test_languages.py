"""Messages in both languages: one table that has every message of the code, and one place that chooses."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fe.ecf.parse import _XML_ERRORS
from fe.http import errors, languages, messages, request_bodies
from fe.http.errors import describe
from fe.http.languages import choose, say

ROOT = Path(__file__).resolve().parents[2]
#: Where messages of the API are raised. Reception speaks the authority's protocol to suppliers, in its own way.
_SOURCES = [
    *(path for path in (ROOT / "fe" / "http").rglob("*.py") if "reception" not in path.parts),
    ROOT / "fe" / "ecf" / "parse.py",
    ROOT / "fe" / "accounts" / "sequences.py",
]
_RAISED = {"ApiError", "MalformedJson", "MalformedXml", "BadSequence", "NoSequence", "_unauthorized", "error"}
#: What is told of tokens and files to operators, not to clients.
_GAP = re.compile(r"\{~?\}")


def template(node: ast.expr) -> str | None:
    """A message as the table has it: a gap for each value; None for what is not written there."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)  # type: ignore[misc]  # parts of an f-string are texts
    return None


def raised() -> Iterator[tuple[str, str]]:
    for path in _SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in _RAISED:
                continue
            at = 1 if node.func.id == "ApiError" else 0
            if len(node.args) > at:
                text = template(node.args[at])
                if text is not None and len(text) > 4:
                    yield f"{path.name}:{node.lineno}", text


def is_known(text: str) -> bool:
    """Whether the table has it, or something with gaps where it has values of its own."""
    return say(_GAP.sub("x", text), "es") != _GAP.sub("x", text)


def test_every_message_that_is_raised_has_its_row() -> None:
    found = list(raised())

    assert len(found) > 60
    assert [(where, text) for where, text in found if not is_known(text)] == []


def test_so_have_those_that_stand_in_tables() -> None:
    tables = [
        *(f"x {words}" for words in request_bodies._KINDS.values()),
        *_XML_ERRORS.values(),
        *(words.format(prefix="E31") for words in errors._NO_NUMBER.values()),
    ]

    assert [text for text in tables if not is_known(text)] == []


@pytest.mark.parametrize(("english", "spanish"), list(messages.SPANISH.items()), ids=lambda text: str(text)[:40])
def test_each_row_says_its_values_in_both_languages(english: str, spanish: str) -> None:
    gaps = _GAP.findall(english)
    assert _GAP.findall(spanish) == gaps or english.startswith("{} must be {} between")
    values = iter(f"<{n}>" for n in range(9))
    filled = _GAP.sub(lambda _: next(values), english)

    said = say(filled, "es")

    assert say(filled, "en") == filled
    assert said != filled or english in ("xml: {~}",)
    assert all(f"<{n}>" in said for n in range(len(gaps))) or english.startswith("{} must be {} between")


def test_a_message_in_a_message_is_said_in_the_language_too() -> None:
    spanish = "xml: a una etiqueta le falta su > (línea 1, columna 2)"
    assert say("xml: a tag lacks its > (line 1, column 2)", "es") == spanish
    assert say("the body is not JSON: Expecting value (line 1, column 1)", "es").startswith("el cuerpo: no es JSON")
    assert say("something that nobody wrote down", "es") == "something that nobody wrote down"


def test_braces_of_a_client_are_no_gaps() -> None:
    assert say("there is no query parameter {x}{}; there are page", "es") == "no hay un parámetro {x}{}; existen page"


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        (None, "en"),
        ("", "en"),
        ("es", "es"),
        ("ES-do", "es"),
        ("es-DO,es;q=0.9,en;q=0.8", "es"),
        ("en,es;q=0.9", "en"),
        ("en-US, es;q=1.0", "en"),
        ("en;q=0.5, es;q=0.6", "es"),
        ("fr, es;q=0.2", "es"),
        ("fr", "en"),
        ("*", "en"),
        ("*, es;q=0.5", "en"),
        ("es;q=0", "en"),
        ("es;q=x", "en"),
        ("es" + "," * 500, "en"),
        ("\xff;es", "en"),
    ],
)
def test_the_language_is_the_one_that_is_wanted_most(accepted: str | None, language: str) -> None:
    # Spanish is given to who names it; who names other languages alone reads English.
    expected = language
    assert choose(accepted) == expected


def test_an_error_has_its_body_in_both_languages() -> None:
    answer = describe(errors.ApiError(400, "from must not be later than to"))

    assert answer.body("en") == b'{"message":"from must not be later than to","statusCode":400}'
    assert answer.body("es") == b'{"message":"from no debe ser posterior a to","statusCode":400}'
    assert languages.HEADERS["es"] == (("Content-Language", "es"), ("Vary", "Accept-Language"))
