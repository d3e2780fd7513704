"""Nothing English stands in the Spanish of any problem, whichever way it came about."""

import re
from collections.abc import Iterator
from itertools import islice

import pytest

from fe.ecf.build import build
from fe.ecf.catalogue import SUBMITTABLE
from fe.ecf.document import NotADocument, read_payload
from fe.ecf.problems import Problem, serialize_problem
from fe.ecf.rules import RULES
from fe.ecf.schema import validate
from fe.ecf.schema.messages import MESSAGES
from tests.ecf.mutations import mutations
from tests.ecf.strategies import DOCUMENT_KINDS, whole_document
from tests.mistakes.corpus import mistakes
from tests.mistakes.test_mistakes import problems_of

#: Words that no Spanish sentence has.
_ENGLISH = re.compile(
    r"\b(the|of|or|and|is|are|not|with|without|must|send|write|at most|digits?|up to|start|number|date|text|"
    r"whole|exactly|characters|did you|leave|add|above|below|from|this|that|what|before|after|value|object|list)\b"
)


def _spanish(of: Problem) -> list[str]:
    """Texts that a Spanish reader sees, without the client's own values."""
    said = serialize_problem(of)
    texts = [said["messageEs"], said.get("fixEs", ""), said.get("expectedEs", "")]
    return [text.replace(of.found, "") if of.found else text for text in texts]


def _of_values() -> Iterator[Problem]:
    for kind in (one for one in DOCUMENT_KINDS if one.name in ("e-CF 34", "RFCE", "ACECF", "ANECF")):
        tree = build(whole_document(kind))
        for _ in islice(mutations(kind.root, tree), 0, None, 7):  # each way of breaking, at another element
            yield from validate(tree)[:3]


def _of_payloads() -> Iterator[Problem]:
    for mistake in mistakes():
        yield from problems_of(mistake.given)
    for payload in ({}, {"header": 1}, {"ECF": 1}, {"Encabezado": {"IdDoc": {"eNCF": "31"}}}, {"ANECF": {"x": 1}}):
        try:
            read_payload(payload, roots=SUBMITTABLE)
        except NotADocument as error:
            yield from error.problems


@pytest.mark.parametrize("source", [_of_values, _of_payloads])
def test_spanish_problem_has_no_english(source: object) -> None:
    assert callable(source)
    codes = set()
    for problem in source():
        codes.add(problem.code)
        for text in _spanish(problem):
            assert _ENGLISH.search(text) is None, (problem.code, text)
    assert len(codes) >= 8, codes


def test_every_code_has_spanish_without_english() -> None:
    rules = {rule.code: (rule.message_es, rule.fix_es) for rule in RULES.values()}
    forms = {code: (text.message_es, text.fix_es) for code, text in MESSAGES.items()}
    for code, texts in (rules | forms).items():
        for text in texts:
            bare = re.sub(r"\{\w+\}", "", text)
            assert "{expected}" not in text, code
            assert _ENGLISH.search(bare) is None, (code, text)
