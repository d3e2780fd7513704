"""Array parameters in Postgres's binary form.

For a list psycopg looks up its type, dumps each element and escapes it byte by byte: a statement with a batch of 32
rows takes several times as long (docs/performance.md). And the type it finds depends on the values, so that one
statement is prepared under several types. Here the caller names the type; elements may be None.
"""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from struct import Struct
from typing import ClassVar
from uuid import UUID

import psycopg
from psycopg.abc import AdaptContext
from psycopg.adapt import Dumper
from psycopg.pq import Format

#: Number of dimensions, whether any element is null, the elements' type; then the length of the one dimension, and the
#: index of its first element.
_HEAD, _DIMENSION = Struct("!iiI"), Struct("!ii")
_LENGTH = Struct("!i").pack
_NULL = b"\xff\xff\xff\xff"

_INT4, _INT8, _MOMENT, _DAY = Struct("!ii").pack, Struct("!iq").pack, Struct("!iq").pack, Struct("!ii").pack
_INTERVAL = Struct("!iqii").pack
_UUID, _TRUE, _FALSE = _LENGTH(16), _LENGTH(1) + b"\x01", _LENGTH(1) + b"\x00"
_EPOCH, _EPOCH_DAY = datetime(2000, 1, 1, tzinfo=UTC), date(2000, 1, 1).toordinal()
#: The first byte is the version of jsonb's binary form.
_JSONB = b"\x01"
_to_json = json.JSONEncoder(allow_nan=False).encode


class Array:
    """A parameter: `values` as they were given, and as `data` how they are sent. Made by the functions below."""

    __slots__ = ("data", "values")
    #: The array's type, and its elements', in pg_type.
    oid: ClassVar[int]
    element: ClassVar[int]

    def __init__(self, values: Sequence[object], elements: Sequence[bytes]) -> None:
        """`elements` are each a length and its bytes, or the mark of a null."""
        self.values = values
        if elements:
            # The flag for nulls is always set: only a reader looks for them.
            head = _HEAD.pack(1, 1, self.element) + _DIMENSION.pack(len(elements), 1)
            self.data = head + b"".join(elements)
        else:
            self.data = _HEAD.pack(0, 0, self.element)


class _Booleans(Array):
    __slots__ = ()
    oid, element = 1000, 16


class _Bytes(Array):
    __slots__ = ()
    oid, element = 1001, 17


class _Int4s(Array):
    __slots__ = ()
    oid, element = 1007, 23


class _Texts(Array):
    __slots__ = ()
    oid, element = 1009, 25


class _Int8s(Array):
    __slots__ = ()
    oid, element = 1016, 20


class _Days(Array):
    __slots__ = ()
    oid, element = 1182, 1082


class _Moments(Array):
    __slots__ = ()
    oid, element = 1185, 1184


class _Intervals(Array):
    __slots__ = ()
    oid, element = 1187, 1186


class _Uuids(Array):
    __slots__ = ()
    oid, element = 2951, 2950


class _Jsonbs(Array):
    __slots__ = ()
    oid, element = 3807, 3802


def booleans(values: Sequence[bool | None]) -> Array:
    """A boolean[]."""
    return _Booleans(values, [_NULL if value is None else _TRUE if value else _FALSE for value in values])


def blobs(values: Sequence[bytes | None]) -> Array:
    """A bytea[]."""
    return _Bytes(values, [_NULL if value is None else _LENGTH(len(value)) + value for value in values])


def int4s(values: Sequence[int | None]) -> Array:
    """An int[]. Raises struct.error for what does not fit."""
    return _Int4s(values, [_NULL if value is None else _INT4(4, value) for value in values])


def int8s(values: Sequence[int | None]) -> Array:
    """A bigint[]. Raises struct.error for what does not fit."""
    return _Int8s(values, [_NULL if value is None else _INT8(8, value) for value in values])


def texts(values: Sequence[str | None]) -> Array:
    """A text[]; of members of a StrEnum, their values. The server refuses a text with a NUL in it."""
    return _Texts(values, [_NULL if value is None else _text(value) for value in values])


def days(values: Sequence[date | None]) -> Array:
    """A date[]."""
    return _Days(values, [_NULL if value is None else _DAY(4, value.toordinal() - _EPOCH_DAY) for value in values])


def moments(values: Sequence[datetime | None]) -> Array:
    """A timestamptz[]. Raises TypeError for one without a time zone."""
    return _Moments(values, [_NULL if value is None else _MOMENT(8, _microseconds(value - _EPOCH)) for value in values])


def intervals(values: Sequence[timedelta | None]) -> Array:
    """An interval[], of days and of what is left of one."""
    return _Intervals(
        values,
        [
            _NULL if value is None else _INTERVAL(16, value.seconds * 1_000_000 + value.microseconds, value.days, 0)
            for value in values
        ],
    )


def uuids(values: Sequence[UUID | None]) -> Array:
    """A uuid[]."""
    return _Uuids(values, [_NULL if value is None else _UUID + value.bytes for value in values])


def jsonbs(values: Sequence[object]) -> Array:
    """A jsonb[] of what json can write; None is null, not JSON's null. Raises as json does, and ValueError for NaN."""
    return _Jsonbs(values, [_NULL if value is None else _blob(_JSONB + _to_json(value).encode()) for value in values])


def _text(value: str) -> bytes:
    written = value.encode()
    return _LENGTH(len(written)) + written


def _blob(value: bytes) -> bytes:
    return _LENGTH(len(value)) + value


def _microseconds(span: timedelta) -> int:
    return (span.days * 86_400 + span.seconds) * 1_000_000 + span.microseconds


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def __init__(self, cls: type[Array], context: AdaptContext | None = None) -> None:
        super().__init__(cls, context)
        self.oid = cls.oid

    def dump(self, obj: Array) -> bytes:
        """Return the bytes written at construction."""
        return obj.data


for _kind in (_Booleans, _Bytes, _Int4s, _Texts, _Int8s, _Days, _Moments, _Intervals, _Uuids, _Jsonbs):
    psycopg.adapters.register_dumper(_kind, _ArrayDumper)
