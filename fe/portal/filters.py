"""Read the filter form above a list; invalid parts raise an error that names them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import TypeVar
from urllib.parse import urlencode
from uuid import UUID

from fe.ecf.dates import ZONE
from fe.ecf.texts import Text

T = TypeVar("T")

_INSTANT = timedelta(milliseconds=1)
_NO_DAY = Text("A date has the form 2026-12-31.", "Escriba la fecha así: 2026-12-31.")
_NO_RNC = Text("A tax id has 9 or 11 digits.", "Un RNC tiene 9 dígitos y una cédula 11.")
_NO_AMOUNT = Text("An amount has the form 1180.50.", "Escriba el monto así: 1180.50.")
_AMOUNT = re.compile(r"[0-9]{1,16}(\.[0-9]{1,2})?")
_NO_SUCH = Text("This choice does not exist.", "Esta opción no existe.")
#: Longest search text.
_LONGEST = 254


@dataclass
class Filters:
    """Fields of a list's form. `problem` describes the first invalid one."""

    query: Mapping[str, str]
    problem: Text | None = None
    _given: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """Return the typed text without surrounding blanks, to show it again."""
        typed = self.query.get(name, "").strip()[:_LONGEST].replace("\0", "")
        if typed:
            self._given[name] = typed
        return typed

    def digits(self, name: str) -> str | None:
        """Read a tax id, with dashes or without."""
        typed = self.text(name).replace("-", "")
        if typed and not (typed.isascii() and typed.isdigit() and len(typed) in (9, 11)):
            self.problem = self.problem or _NO_RNC
            return None
        return typed or None

    def choice(self, name: str, choices: Mapping[str, T]) -> T | None:
        """Read one of these."""
        typed = self.text(name)
        if typed and typed not in choices:
            self.problem = self.problem or _NO_SUCH
        return choices.get(typed)

    def since(self, name: str) -> datetime | None:
        """Read a day: its beginning in Santo Domingo."""
        day = self.day(name)
        return None if day is None else datetime.combine(day, time.min, ZONE)

    def until(self, name: str) -> datetime | None:
        """Read a day: its end there."""
        day = self.day(name)
        return None if day is None else datetime.combine(day, time.min, ZONE) + timedelta(days=1) - _INSTANT

    def place(self, name: str = "before") -> UUID | None:
        """Read the offset of a page; the first page if invalid."""
        try:
            return UUID(self.query.get(name, ""))
        except ValueError:
            return None

    def again(self, **more: object) -> str:
        """Return the filters as a query string, for links to other pages of the list."""
        return urlencode({**self._given, **{name: str(value) for name, value in more.items() if value is not None}})

    def amount(self, name: str) -> Decimal | None:
        """Read an amount, with or without commas between thousands."""
        typed = self.text(name).replace(",", "")
        if typed and not _AMOUNT.fullmatch(typed):
            self.problem = self.problem or _NO_AMOUNT
            return None
        return Decimal(typed) if typed else None

    def day(self, name: str) -> date | None:
        """Read a day."""
        typed = self.text(name)
        try:
            day = date.fromisoformat(typed) if typed else None
        except ValueError:
            day = None
        if typed and (day is None or not 2000 <= day.year <= 2200):
            self.problem = self.problem or _NO_DAY
            return None
        return day
