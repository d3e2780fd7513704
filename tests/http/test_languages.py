"""Messages in both languages: each is one value that has both, and one place chooses."""

import ast
import importlib
import pkgutil
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

import fe.http
from fe.ecf.parse import messages as parse_messages
from fe.ecf.texts import Text
from fe.http import languages, messages
from fe.http.errors import ApiError, describe
from fe.http.languages import choose
from fe.http.messages import say
from fe.http.models.failures import say_response
from fe.http.request_bodies import RequestModel, check
from fe.http.server.answers import plain_error
from fe.portal.receipt import messages as receipt_messages

FE = Path(__file__).resolve().parents[2] / "fe"


def calls(*names: str) -> Iterator[tuple[str, ast.Call]]:
    """Every call of these names in the code, and where it stands."""
    for where, node in all_calls():
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", None)
        if called in names:
            yield where, node


@cache
def all_calls() -> list[tuple[str, ast.Call]]:
    return [
        (f"{path.relative_to(FE)}:{node.lineno}", node)
        for path in sorted(FE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
    ]


def words_of(node: ast.expr) -> str:
    """The constant parts of a text, without its values."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))


def values_of(node: ast.expr) -> list[str]:
    """The values in a text, as the code names them; a Text in a Text is itself, in whichever language."""
    parts = node.values if isinstance(node, ast.JoinedStr) else []
    shown = [ast.unparse(part.value) for part in parts if isinstance(part, ast.FormattedValue)]
    return sorted(one.removesuffix(".en").removesuffix(".es") for one in shown)


#: Words that are the same in both languages.
SAME = {"no", "No", "normal", "ITBIS", "e-NCF", "id", "{said}.", "{doubt}."}
#: Where a text may be given again as it is, and why.
REPEATING = {
    "http/reception/handlers.py",  # suppliers' programs speak the authority's protocol
    "accounts/provision.py",  # what only operators are told, at a terminal
    "portal/receipt/labels.py",  # names of the format, which have no translation
    "portal/pages/months.py",  # likewise, codes of a type that a later release knows
    "portal/operator_words.py",  # likewise, of stages that a later release knows
    "ecf/schema/messages.py",  # a value that is meant instead, which has no translation
    "ecf/schema/validator.py",  # likewise
    "certification/going_live.py",  # names of sequences
    "portal/receipt_words.py",  # likewise, of events that a later release knows
}


def test_every_text_of_the_code_is_written_in_two_languages_and_says_the_same_values_in_both() -> None:
    """mypy sees to the rest: an answer, and an error whose message a client reads, takes a Text and no `str`."""
    found = [
        (where, call.args[0], call.args[1])
        for where, call in calls("Text")
        if len(call.args) == 2 and not call.keywords
    ]
    written = [(where, en, es) for where, en, es in found if any(map(str.isalpha, words_of(en)))]

    assert len(written) > 150
    assert {words_of(en) for where, en, es in written if words_of(en) == words_of(es)} == SAME
    assert [where for where, en, es in written if values_of(en) != values_of(es)] == []


def data_texts(of: Any, where: str) -> Iterator[tuple[str, str, str]]:
    """Every pair of texts below a value that was read from a data file."""
    if isinstance(of, dict) and of.keys() == {"en", "es"} and isinstance(of["en"], str):
        yield where, of["en"], of["es"]
    elif isinstance(of, dict | list):
        for name, value in of.items() if isinstance(of, dict) else enumerate(of):
            yield from data_texts(value, f"{where} {name}")


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_every_text_of_a_data_file_has_the_same_placeholders_in_both_languages() -> None:
    read = {path.name: tomllib.loads(path.read_text("utf-8")) for path in sorted(FE.rglob("*.toml"))}
    found = [text for name, value in read.items() for text in data_texts(value, name)]

    assert len(found) > 150
    assert [where for where, en, es in found if placeholders(en) != placeholders(es)] == []
    assert {en for _, en, es in found if en == es} - SAME == {"total", "A4"}


@pytest.mark.parametrize(
    ("texts", "places", "computed"),
    [
        (
            messages.MESSAGES.text,
            ("http/", "portal/pages/received", "portal/webhook_visits"),
            {"no-number-none", "no-number-unknown", "no-number-expired", "no-number-paused", "no-number-used-up"}
            | {"code-goes-with", "seconds-go-with"},
        ),
        (
            receipt_messages.MESSAGES,
            ("portal/pages/new_receipt", "portal/receipt/messages"),
            {"no-number-none", "no-number-expired", "no-number-used-up", "nothing-done"},
        ),
    ],
    ids=["api", "new receipts"],
)
def test_say_gets_a_known_key_and_the_values_of_its_placeholders(
    texts: dict[str, Text], places: tuple[str, ...], computed: set[str]
) -> None:
    said = [(where, call) for where, call in calls("say") if where.startswith(places)]
    keys = {str(node.value) for _, call in said for node in ast.walk(call.args[0]) if isinstance(node, ast.Constant)}
    named = [(where, call, call.args[0].value) for where, call in said if isinstance(call.args[0], ast.Constant)]
    wrong = [
        where
        for where, call, key in named
        if call.keywords and {one.arg for one in call.keywords} != placeholders(texts[str(key)].en)
    ]

    assert wrong == []
    assert texts.keys() - keys <= computed
    assert {str(key) for _, _, key in named} | computed <= texts.keys()


def test_only_what_suppliers_are_told_repeats_its_english() -> None:
    repeated = [
        where
        for where, call in calls("Text")
        if len(call.args) == 2
        and isinstance(call.args[0], ast.Name)
        and isinstance(call.args[1], ast.Name)
        and call.args[0].id == call.args[1].id
    ]

    assert {where.partition(":")[0] for where in repeated} == REPEATING


def test_every_status_that_is_answered_has_its_words() -> None:
    statuses = {
        call.args[0].value
        for _, call in calls("ApiError", "plain_error", "ErrorAnswer", "_break_off")
        if call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, int)
    }

    # Include the statuses of the router and of h11.
    for status in sorted({*statuses, 400, 404, 405, 408, 413, 414, 417, 431, 501, 505} - {200}):
        text = messages.of_status(status)
        assert text.es not in (text.en, "Error de la solicitud", "Error del servicio"), status


def all_values(of: Any) -> list[Text]:
    found = [value for value in vars(of).values() if isinstance(value, Text)]
    tables = [value for value in vars(of).values() if isinstance(value, dict)]
    return [*found, *(one for table in tables for one in table.values() if isinstance(one, Text))]


API_TEXTS = [*messages.MESSAGES.text.values(), *messages.MESSAGES.field.values()]


@pytest.mark.parametrize("text", [*API_TEXTS, *all_values(parse_messages)], ids=str)
def test_the_spanish_of_a_message_is_another_text(text: Text) -> None:
    assert text.en
    assert text.es
    assert text.en != text.es
    assert text.said("en") == str(text) == text.en
    assert text.said("es") == text.es


def models() -> list[type[RequestModel]]:
    for module in pkgutil.walk_packages(fe.http.__path__, "fe.http."):
        importlib.import_module(module.name)
    found: list[type[RequestModel]] = []
    todo = [RequestModel]
    while todo:
        below = todo.pop().__subclasses__()
        found += [one for one in below if one.__module__.startswith("fe.http.")]
        todo += below
    return sorted(set(found), key=lambda one: one.__name__)


#: Of every kind of JSON, too small and too large.
_WRONG: list[Any] = [None, True, 0, -1, 10**19, "", "x", "x" * 3000, [], ["x"], [1], [None] * 600, {}, {"x": 1}]


@pytest.mark.parametrize("model", models(), ids=lambda model: model.__name__)
def test_whatever_is_wrong_with_a_field_is_said_in_our_own_words(model: type[RequestModel]) -> None:
    good = next(iter((model.model_config.get("json_schema_extra") or {}).get("examples", [{}])))  # type: ignore[union-attr,arg-type]
    said: list[Text] = []
    for body in [{}, *({**good, name: value} for name in model.model_fields for value in _WRONG)]:
        try:
            check(model, body)
        except ApiError as wrong:
            said.append(wrong.message)

    assert said
    assert [text for text in said if text.es == text.en or text.es.endswith("no tiene un valor admitido")] == []


def test_there_are_models() -> None:
    names = {one.__name__ for one in models()}

    assert {"NewInvoice", "BatchRequest", "NewSequence", "LoginRequest", "WebhookRequest"} <= names


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
    answer = describe(ApiError(400, say("from-after-to")))

    assert answer.body("en") == b'{"message":"from must not be later than to","statusCode":400}'
    assert answer.body("es") == b'{"message":"from no debe ser posterior a to","statusCode":400}'
    assert languages.HEADERS["es"] == (("Content-Language", "es"), ("Vary", "Accept-Language"))


def test_what_the_connection_says_is_in_utf_8_and_as_long_as_it_says() -> None:
    headers, body = plain_error(431, accepted=b"es")

    assert body.decode() == '{"message":"Las cabeceras son demasiado grandes","statusCode":431}'
    headers, body = plain_error(405, accepted=b"es")
    assert body.decode() == '{"message":"Método no permitido","statusCode":405}'
    assert dict(headers)[b"content-length"] == str(len(body)).encode()
    assert dict(headers)[b"content-language"] == b"es"


# --- why a submission failed

_PROBLEM = {"path": "Encabezado.IdDoc.TipoPago", "message": "TipoPago is missing", "messageEs": "falta TipoPago"}


@pytest.mark.parametrize(
    ("stored", "spanish"),
    [
        ({"status": "error", "error": "no", "errorEs": "no, en español"}, "no, en español"),
        # Stored by an earlier release.
        ({"status": "error", "error": "x", "problems": [_PROBLEM]}, "Encabezado.IdDoc.TipoPago: falta TipoPago"),
        (
            {"status": "error", "error": "x", "problems": [_PROBLEM, _PROBLEM]},
            "Encabezado.IdDoc.TipoPago: falta TipoPago (y 1 más)",
        ),
        ({"status": "error", "error": "a sentence that nobody knows"}, "a sentence that nobody knows"),
        # Written by the database's functions.
        (
            {"status": "error", "error": "x", "otherTaxLogId": "7"},
            "el número ya es de otro envío, taxLogId 7: no se envió nada",
        ),
        (
            {"status": "dead_letter", "error": "timeout", "errorEs": "de antes"},
            "sin éxito hasta ahora, y nada se ha perdido; lo revisa el operador del servicio (timeout)",
        ),
        (
            {"status": "error", "error": "given up by an operator: a duplicate (timeout)"},
            "abandonado por el operador del servicio: a duplicate (timeout)",
        ),
    ],
)
def test_why_a_submission_failed_is_said_in_spanish_too(stored: dict[str, Any], spanish: str) -> None:
    assert say_response(stored, "en") == stored
    assert say_response(stored, "es") == {**stored, "error": spanish}


@pytest.mark.parametrize("response", [None, {}, {"trackStatus": {"estado": "Aceptado"}, "mensajes": []}])
def test_an_answer_of_the_authority_stays_as_it_is(response: dict[str, Any] | None) -> None:
    assert say_response(response, "es") == response
