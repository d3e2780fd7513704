"""Calendar months of Santo Domingo, as people and paths write them."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from fe.ecf.texts import Text

_NAMES = (
    Text("January", "enero"),
    Text("February", "febrero"),
    Text("March", "marzo"),
    Text("April", "abril"),
    Text("May", "mayo"),
    Text("June", "junio"),
    Text("July", "julio"),
    Text("August", "agosto"),
    Text("September", "septiembre"),
    Text("October", "octubre"),
    Text("November", "noviembre"),
    Text("December", "diciembre"),
)
_FORM = re.compile(r"(20[0-9]{2})-(0[1-9]|1[0-2])")


@dataclass(frozen=True, slots=True, order=True)
class YearMonth:
    """A month of the years 2000 to 2099."""

    year: int
    month: int

    @classmethod
    def read(cls, text: str) -> "YearMonth | None":
        """Read YYYY-MM; None when it is none."""
        found = _FORM.fullmatch(text)
        return None if found is None else cls(int(found[1]), int(found[2]))

    @classmethod
    def of(cls, day: date) -> "YearMonth":
        """Return the month of a day."""
        return cls(day.year, day.month)

    @property
    def first(self) -> date:
        """Its first day."""
        return date(self.year, self.month, 1)

    @property
    def last(self) -> date:
        """Its last day."""
        return date(self.year, self.month, monthrange(self.year, self.month)[1])

    @property
    def before(self) -> "YearMonth":
        """The month before."""
        return YearMonth(self.year, self.month - 1) if self.month > 1 else YearMonth(self.year - 1, 12)

    @property
    def after(self) -> "YearMonth":
        """The month after."""
        return YearMonth(self.year, self.month + 1) if self.month < 12 else YearMonth(self.year + 1, 1)

    @property
    def compact(self) -> str:
        """YYYYMM, as the authority's files have it."""
        return f"{self.year:04d}{self.month:02d}"

    @property
    def name(self) -> Text:
        """Its name for people: November 2026."""
        of_month = _NAMES[self.month - 1]
        return Text(f"{of_month.en} {self.year}", f"{of_month.es} {self.year}")

    def __str__(self) -> str:
        """YYYY-MM."""
        return f"{self.year:04d}-{self.month:02d}"


@dataclass(frozen=True, slots=True)
class OneDay:
    """A day, where sums of a month are asked for one day."""

    first: date

    @property
    def last(self) -> date:
        """The day."""
        return self.first

    @property
    def after(self) -> "OneDay":
        """The day after."""
        return OneDay(self.first + timedelta(days=1))


Period = YearMonth | OneDay
