"""What a refused value was meant to be is told within bounds, whatever stands there."""

import pytest

from fe.ecf.schema.kinds import kinds
from fe.ecf.schema.model import Element, Simple
from fe.ecf.schema.repairs import allowed, code_meant, meant


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
