"""Proposals for refused values stay within bounds for any input."""

import gc

import pytest

from fe.ecf.catalogue import EcfType, Root
from fe.ecf.schema.kinds import kind, kinds
from fe.ecf.schema.model import Element, Simple
from fe.ecf.schema.naming import name_problem
from fe.ecf.schema.repairs import allowed, code_meant, meant


def test_caches_of_sent_names_are_bounded() -> None:
    """They are whatever a client makes up: each would be kept as long as the process lives."""
    the_kind = kind(Root.ECF, EcfType.CREDIT_FISCAL)

    def kept() -> int:
        cached = (one for one in gc.get_objects() if type(one) is type(kind))
        return sum(one.cache_info().currsize for one in cached if one.cache_info().maxsize is None)

    name_problem(the_kind, the_kind.root, "Encabesado", "")  # what is the format's own
    before = kept()
    for number in range(50):
        name_problem(the_kind, the_kind.root, f"Encabesado{number}", "")

    assert kept() == before


def _simples() -> dict[str, Simple]:
    found: dict[str, Simple] = {}
    waiting: list[Element] = [kind.root for kind in kinds()]
    while waiting:
        element = waiting.pop()
        waiting.extend(element.children)
        if element.simple is not None:
            found[element.simple.name] = element.simple
    return found


@pytest.mark.parametrize(
    "text",
    [
        *("850E08993148", "1E9999999", "-1E+99999999999999999999", "1e-9999999999999", "0E999999999", "1E308"),
        *("9" * 64, "Infinity", "NaN", "sNaN", "1_000", "٣", "1E50", "１"),
    ],
)
def test_a_number_of_any_size_has_no_reading_or_a_short_one(text: str) -> None:
    for simple in _simples().values():
        said = [meant(simple, text), code_meant(simple.codes, text), *allowed(simple, text)]
        assert all(len(one) < 200 for one in said if one is not None), simple.name
