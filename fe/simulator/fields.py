"""Reading JSON objects that people write by hand, so that a mistake in one is told and not swallowed."""

from collections.abc import Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeVar

from fe.ecf.catalogue import EcfType, Environment

Choice = TypeVar("Choice", bound=StrEnum)


class BadRecord(ValueError):
    """An object that cannot be read; the text names the field."""


def member(among: type[Choice], value: object, name: str) -> Choice:
    """The member of `among` with that value, in any case."""
    try:
        return among(str(value).lower())
    except ValueError:
        raise BadRecord(f"{name} must be one of {', '.join(among)}") from None


class Fields:
    """The members of a JSON object, taken one by one; what is left at the end was not expected."""

    def __init__(self, record: Mapping[str, Any]) -> None:
        self._left = dict(record)

    def done(self) -> None:
        """Raise BadRecord when a member was not taken: it is a spelling mistake more often than not."""
        if self._left:
            raise BadRecord(f"unknown field {sorted(self._left)[0]}")

    def take(self, name: str) -> Any:
        """The member, or None."""
        return self._left.pop(name, None)

    def text(self, name: str, *, default: str | None = None) -> str:
        """A string; without a default it must be there and not be empty."""
        value = self.take(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or not (value or default is not None):
            raise BadRecord(f"{name} must be a text")
        return value

    def rnc(self, name: str) -> str:
        """A tax id: 9 or 11 digits."""
        value = self.text(name)
        if not (value.isascii() and value.isdigit() and len(value) in (9, 11)):
            raise BadRecord(f"{name} must be an RNC (9 digits) or a cédula (11 digits)")
        return value

    def flag(self, name: str, *, default: bool = True) -> bool:
        """A boolean."""
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise BadRecord(f"{name} must be true or false")
        return value

    def integer(self, name: str, *, default: int | None = None) -> int:
        """A whole number from 0, also as a string of digits."""
        value = self.take(name)
        if value is None and default is not None:
            return default
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
            return int(value)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise BadRecord(f"{name} must be a whole number")
        return value

    def day(self, name: str) -> date | None:
        """A day as `YYYY-MM-DD` or `dd-MM-yyyy`."""
        value = self.take(name)
        if value is None:
            return None
        for form in ("%Y-%m-%d", "%d-%m-%Y"):
            try:
                return datetime.strptime(str(value), form).date()
            except ValueError:
                continue
        raise BadRecord(f"{name} must be a date, YYYY-MM-DD or dd-MM-yyyy")

    def seconds(self, name: str, *, default: float | None = None) -> float | None:
        """Seconds: a number from 0."""
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, int | Decimal) or isinstance(value, bool) or value < 0:
            raise BadRecord(f"{name} must be a number from 0")
        return float(value)

    def choice(self, name: str, among: type[Choice]) -> Choice | None:
        """A member of an enumeration, by its value in any case; None when it is missing."""
        value = self.take(name)
        return None if value is None else member(among, value, name)

    def environment(self, name: str) -> Environment | None:
        """An environment in any case; missing means all of them."""
        return self.choice(name, Environment)

    def ecf_type(self, name: str) -> EcfType:
        """A type of e-CF as `31` or `E31`."""
        value = str(self.take(name)).upper().removeprefix("E")
        try:
            return EcfType(value)
        except ValueError:
            raise BadRecord(f"{name} must be a type of e-CF such as E31") from None
