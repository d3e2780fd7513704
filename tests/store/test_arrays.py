"""Our own writer of arrays: Postgres reads the same values as from psycopg, and returns them unchanged."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta, timezone
from struct import error as StructError
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from fe.lifecycle import Status
from fe.store.postgres.arrays import (
    Array,
    blobs,
    booleans,
    days,
    int4s,
    int8s,
    intervals,
    jsonbs,
    moments,
    texts,
    uuids,
)

LOCAL = timezone(timedelta(hours=-4))
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))
MOMENTS = st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 28), timezones=st.sampled_from([UTC, LOCAL]))
INTERVALS = st.timedeltas(timedelta(days=-100_000), timedelta(days=100_000))
JSON = st.recursive(
    st.booleans() | st.integers() | TEXT | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner | st.none()) | st.dictionaries(TEXT, inner | st.none()),
    max_leaves=8,
)

Write = Callable[[Any], Array]
#: The type, how we write it, what it may hold, and what psycopg is given for it.
KINDS: list[tuple[str, Write, st.SearchStrategy[Any], Callable[[Any], object]]] = [
    ("boolean[]", booleans, st.booleans(), lambda value: value),
    ("bytea[]", blobs, st.binary(), lambda value: value),
    ("int[]", int4s, st.integers(-(2**31), 2**31 - 1), lambda value: value),
    ("bigint[]", int8s, st.integers(-(2**63), 2**63 - 1), lambda value: value),
    ("text[]", texts, TEXT, lambda value: value),
    ("date[]", days, st.dates(), lambda value: value),
    ("timestamptz[]", moments, MOMENTS, lambda value: value),
    ("interval[]", intervals, INTERVALS, lambda value: value),
    ("uuid[]", uuids, st.uuids(), lambda value: value),
    ("jsonb[]", jsonbs, JSON, Jsonb),
]


@pytest.fixture(scope="module")
def conn(postgres: str) -> Iterator[psycopg.Connection]:
    with psycopg.connect(postgres, autocommit=True) as connected:
        yield connected


def ours_and_psycopgs(conn: psycopg.Connection, kind: str, ours: Array, theirs: Sequence[object]) -> tuple[Any, ...]:
    """Both, as Postgres writes them."""
    call = f"SELECT (%s::{kind})::text, (%s::{kind})::text"
    row = conn.execute(call.encode(), [ours, list(theirs)]).fetchone()
    assert row is not None
    return row


@pytest.mark.parametrize(("kind", "write", "elements", "plain"), KINDS, ids=[kind for kind, *_ in KINDS])
def test_postgres_reads_what_psycopg_would_have_written(
    conn: psycopg.Connection,
    kind: str,
    write: Write,
    elements: st.SearchStrategy[Any],
    plain: Callable[[Any], object],
) -> None:
    @given(st.lists(elements | st.none()))
    def compare(values: list[Any]) -> None:
        theirs = [None if value is None else plain(value) for value in values]

        ours, psycopgs = ours_and_psycopgs(conn, kind, write(values), theirs)

        assert ours == psycopgs

    compare()


def test_members_of_an_enum_are_written_by_their_values(conn: psycopg.Connection) -> None:
    row = conn.execute("SELECT %s::text[]", [texts([Status.ACCEPTED])]).fetchone()

    assert row == ([Status.ACCEPTED.value],)


def test_the_type_is_the_same_whatever_the_values(conn: psycopg.Connection) -> None:
    """Of one statement there is one prepared, and a function is found by the types of what it is given."""
    for values in ([], [None], [1], [2**40]):
        assert conn.execute("SELECT pg_typeof(%s)::text", [int8s(values)]).fetchone() == ("bigint[]",)


@pytest.mark.parametrize(
    ("write", "value", "error"),
    [
        (int8s, 2**63, StructError),
        (int4s, 2**31, StructError),
        (moments, datetime(2026, 1, 1), TypeError),
        (jsonbs, float("nan"), ValueError),
        (jsonbs, UUID(int=1), TypeError),
        (texts, "\ud800", UnicodeEncodeError),
    ],
)
def test_what_cannot_be_written_is_refused(write: Write, value: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        write([value])


def test_a_text_with_a_nul_is_refused_by_the_server(conn: psycopg.Connection) -> None:
    with pytest.raises(psycopg.DataError):
        conn.execute("SELECT %s::text[]", [texts(["a\0b"])])


def test_a_day_and_a_moment_are_exact(conn: psycopg.Connection) -> None:
    moment = datetime(2026, 11, 6, 15, 0, 0, 123456, tzinfo=LOCAL)

    row = conn.execute(
        "SELECT %s::date[], %s::timestamptz[]", [days([date(2026, 2, 28)]), moments([moment])]
    ).fetchone()

    assert row == ([date(2026, 2, 28)], [moment])
