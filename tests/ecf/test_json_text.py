"""JSON that keeps every digit."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from fe.ecf import json_text
from fe.ecf.json_text import write_canonical_json, write_json
from fe.ecf.parse import MalformedJson, from_json, parse_json

_DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**12), max_value=10**12)
_TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=12)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | _DECIMALS | _TEXTS,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(_TEXTS, below, max_size=4),
    max_leaves=20,
)


@given(_VALUES)
def test_written_json_reads_back_equal(value: Any) -> None:
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
def test_value_without_a_json_form_is_refused(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        write_json(value)


def slowly(value: Any) -> bytes:
    """The reference: the standard library, decimals written out."""
    return json_text.unmark(json_text._SORTED.encode(value).encode())


_NUMBERS = (
    st.integers(-(10**20) + 1, 10**20 - 1)
    | st.sampled_from([0, -1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1])
    | st.decimals(allow_nan=False, allow_infinity=False, places=4)
    | st.sampled_from([Decimal(text) for text in ("0.0000001", "-0.00000012", "0.000001", "0.0", "-0.00", "1.50")])
)
_ALL_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    ["E-", "1E-7", '"\\/', "\x7f"]
)
_ALL_VALUES = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _ALL_TEXTS,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(_ALL_TEXTS, below, max_size=6),
    max_leaves=25,
)


@given(_ALL_VALUES)
@settings(max_examples=500)
def test_the_quick_writer_writes_the_same_bytes(value: Any) -> None:
    """Digests and stored originals of every release before are compared with these."""
    assert write_canonical_json(value) == slowly(value)


_BYTES = st.sampled_from(
    [
        *'{}[]:,"\\ \t\n-+.eE0123456789',
        "\\u0000",
        "\\ud800",
        "\\u003a",
        '"a":',
        '"a"',
        "null",
        "true",
        "NaN",
        "Infinity",
        "12345678901234567890",
        "123456789012345678901",
        "1e5",
        "0.10",
        "-0",
        "01",
        "\ufeff",
        "\uffff",
        "ñ",
        "\x00",
        "\x1f",
    ]
)


def outcome(read: Callable[[bytes], Any], raw: bytes) -> tuple[object, ...]:
    try:
        value = read(raw)
    except MalformedJson as refused:
        return (refused.message, refused.line, refused.column)
    return (repr(value),)  # tells -0.0 from 0.0, 1 from True, Decimal("1.50") from Decimal("1.5")


@given(
    st.lists(_BYTES, max_size=14).map(lambda parts: "".join(parts).encode())
    | st.binary(max_size=30)
    | _ALL_VALUES.map(slowly)
    | st.tuples(_ALL_VALUES.map(slowly), st.integers(0, 200), _BYTES).map(
        lambda t: t[0][: t[1]] + t[2].encode() + t[0][t[1] :]
    )
)
@settings(max_examples=600)
@example(b'{"a":1,"a":1}')
@example(b'{"a":1,"a":":"}')
@example(b'{"a":{"b":1,"b":2},"c":"::"}')
@example(b"[-0, -0.0, 18446744073709551616, 100000000000000000000, 1E2, 1.5]")
@example(b'{"a" : 1 , "b":"x:y"}')
@example(b"[" * 64 + b"]" * 64)
@example(b"[" * 65 + b"]" * 65)
@example(b'["\xc3("]')
@example(b'{"\\u0061":1,"a":2}')
def test_quick_reader_agrees_with_the_standard_one(raw: bytes) -> None:
    quickly = outcome(parse_json, raw)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(from_json, "_read_quickly", lambda *_: from_json._UNSURE)
        assert quickly == outcome(parse_json, raw)


def test_an_ordinary_receipt_is_read_by_the_quick_reader() -> None:
    assert from_json._read_quickly(b'{"a":{"b":[1,2.50,"x",{"c":null}]}}', 4) is not from_json._UNSURE
