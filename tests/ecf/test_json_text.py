"""JSON that keeps every digit."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fe.ecf.json_text import write_canonical_json, write_json
from fe.ecf.parse import parse_json

_DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**12), max_value=10**12)
_TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=12)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | _DECIMALS | _TEXTS,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(_TEXTS, below, max_size=4),
    max_leaves=20,
)


@given(_VALUES)
def test_what_is_written_reads_as_what_it_was(value: Any) -> None:
    assert parse_json(write_json(value)) == value
    assert parse_json(write_canonical_json(value)) == value


@pytest.mark.parametrize("token", ["0.10", "450.50", "-0.0000001", "12345678901234567.890", "7", "-3"])
def test_a_number_is_written_as_it_was_read(token: str) -> None:
    assert write_json(parse_json(f'{{"a":[{token}]}}'.encode())) == f'{{"a":[{token}]}}'.encode()


def test_the_order_of_members_is_kept_or_sorted() -> None:
    value = {"b": Decimal("1.50"), "a": {"d": 1, "c": "ñ"}}

    assert write_json(value) == '{"b":1.50,"a":{"d":1,"c":"ñ"}}'.encode()
    assert write_canonical_json(value) == '{"a":{"c":"ñ","d":1},"b":1.50}'.encode()


@pytest.mark.parametrize("value", [{1, 2}, object(), b"bytes", float("nan"), float("inf")])
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        write_json(value)
