"""Rows as records: psycopg's `class_row`, for records with fields that are enums."""

from collections.abc import Mapping
from enum import Enum
from functools import cache
from types import UnionType
from typing import Any, TypeVar, get_args, get_type_hints

from psycopg.rows import BaseRowFactory, kwargs_row

T = TypeVar("T")


def record_row(record: type[T]) -> BaseRowFactory[T]:
    """Make each row a `record` by the names of its columns; a field whose type is an enum (or None) gets its member.

    A field with a default may have no column. Reading raises ValueError where a column holds what the enum does not
    have: by its constraints none does.
    """
    enums = _enums_of(record)  # type: ignore[arg-type]  # a class is hashable, which mypy does not see of type[T]

    def make(**values: Any) -> T:
        for name, enum in enums.items():
            value = values.get(name)
            if value is not None:
                values[name] = enum(value)
        return record(**values)

    return kwargs_row(make)


@cache
def _enums_of(record: Any) -> Mapping[str, type[Enum]]:
    return {name: enum for name, hint in get_type_hints(record).items() if (enum := _enum_of(hint)) is not None}


def _enum_of(hint: Any) -> type[Enum] | None:
    """The enum among the types that a field may have; beside it there is None at most."""
    for one in get_args(hint) if isinstance(hint, UnionType) else (hint,):
        if isinstance(one, type) and issubclass(one, Enum):
            return one
    return None
