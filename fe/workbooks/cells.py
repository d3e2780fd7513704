"""Read single cells: numbers, days, codes and texts. Whatever has two readings is a fault and never guessed."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum, auto
from functools import lru_cache

from fe.ecf.dates import show_day
from fe.ecf.schema.codes import UNIT_ABBREVIATIONS
from fe.ecf.schema.model import Code
from fe.ecf.texts import LocalizedError, Text
from fe.workbooks.tables import Cell


class BadCell(LocalizedError):
    """A cell that cannot be read, and why."""


class Style(Enum):
    """How numbers that are typed as text are written."""

    POINT = auto()
    COMMA = auto()


#: Excel's day 0, for days after February 1900, and the days that are believed: of the years 2000 to 2099.
_DAY_ZERO = date(1899, 12, 30)
_DAYS = range(36526, 73051)
_ERRORS = frozenset({"#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!"})
_CURRENCY = re.compile(r"^(?:RD\$|US\$|DOP|\$)\s*|\s*(?:RD\$|DOP)$", re.IGNORECASE)
_PLAIN = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?", re.ASCII)
#: Thousands in groups of three, then decimals: certain whenever both signs or two groups are there.
_POINTED = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+|[+-]?[0-9]{1,3}(?:,[0-9]{3}){2,}", re.ASCII)
_COMMAED = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+|[+-]?[0-9]{1,3}(?:\.[0-9]{3}){2,}", re.ASCII)
#: One sign with three digits after it may be either.
_EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2}([.,])[0-9]{3}", re.ASCII)
_COMMA_DECIMAL = re.compile(r"[+-]?[0-9]+,[0-9]+", re.ASCII)
_DAY_FIRST = re.compile(r"([0-9]{1,2})[-/.]([0-9]{1,2})[-/.]([0-9]{4})", re.ASCII)
_YEAR_FIRST = re.compile(r"([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[T ]00:00(?::00)?)?", re.ASCII)


def text_of(cell: Cell) -> str:
    """Return a cell as text. Raises BadCell for the error of a formula, or a moment where a text belongs."""
    if isinstance(cell, str):
        said = cell.strip()
        if said in _ERRORS:
            raise BadCell(Text(f"the formula ends in {said}", f"la fórmula da {said}"))
        return said
    if isinstance(cell, bool):
        return "1" if cell else "0"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else format(cell, ".15g")
    if isinstance(cell, (datetime, date)):
        return show_day(cell.date() if isinstance(cell, datetime) else cell)
    return str(cell)


def style_of(texts: Iterable[str]) -> Style | None:
    """Say how the numbers of a file are written, where those that have one reading agree."""
    found = set()
    for text in texts:
        bare = _bare(text)
        if _POINTED.fullmatch(bare) or (_PLAIN.fullmatch(bare) and "." in bare and not _EITHER.fullmatch(bare)):
            found.add(Style.POINT)
        elif _COMMAED.fullmatch(bare) or (_COMMA_DECIMAL.fullmatch(bare) and not _EITHER.fullmatch(bare)):
            found.add(Style.COMMA)
    return found.pop() if len(found) == 1 else None


def number_of(cell: Cell, style: Style | None) -> Decimal | str:
    """Return a number, or the text where it is none: validating says so. Raises BadCell where it has two readings.

    A cell that is a number has the 15 digits that Excel counts by, without what a formula's binary sum adds.
    """
    if isinstance(cell, (bool, date, datetime, timedelta)):
        raise BadCell(Text("must be a number", "debe ser un número"))
    if isinstance(cell, (int, float)):
        return _shortest(Decimal(format(cell, ".15g")))
    bare = _bare(text_of(cell))
    if (either := _EITHER.fullmatch(bare)) is not None:
        if style is None:
            raise BadCell(
                Text(
                    f"“{bare}” can be read in two ways: write it as a number or with two decimals",
                    f"«{bare}» se puede leer de dos formas: escríbalo como número o con dos decimales",
                )
            )
        is_decimal = (either[1] == ".") is (style is Style.POINT)
        return Decimal(bare.replace(either[1], "." if is_decimal else ""))
    if _PLAIN.fullmatch(bare):
        return Decimal(bare)
    if _POINTED.fullmatch(bare):
        return Decimal(bare.replace(",", ""))
    if _COMMAED.fullmatch(bare):
        return Decimal(bare.replace(".", "").replace(",", "."))
    if _COMMA_DECIMAL.fullmatch(bare):
        return Decimal(bare.replace(",", "."))
    return text_of(cell)


def _shortest(number: Decimal) -> Decimal:
    """Return the number without an exponent."""
    return Decimal(format(number, "f"))


def _bare(text: str) -> str:
    return _CURRENCY.sub("", text.strip()).replace("\xa0", "").replace(" ", "")


def day_of(cell: Cell) -> str:
    """Return a day as documents write it; a number is Excel's count of days. Raises BadCell."""
    if isinstance(cell, datetime):
        return show_day(cell.date())
    if isinstance(cell, date):
        return show_day(cell)
    if isinstance(cell, (int, float)) and not isinstance(cell, bool):
        if int(cell) == cell and int(cell) in _DAYS:
            return show_day(_DAY_ZERO + timedelta(days=int(cell)))
        raise _no_day()
    said = text_of(cell)
    if (found := _YEAR_FIRST.fullmatch(said)) is not None:
        year, month, day = found.groups()
    elif (found := _DAY_FIRST.fullmatch(said)) is not None:
        day, month, year = found.groups()
    else:
        raise _no_day()
    try:
        return show_day(date(int(year), int(month), int(day)))
    except ValueError:
        raise _no_day() from None


def _no_day() -> BadCell:
    return BadCell(Text("must be a date: day-month-year", "debe ser una fecha: día-mes-año"))


@lru_cache(maxsize=4096)
def fold(text: str) -> str:
    """Return a text in small letters, without accents and signs: what people do not tell apart in a heading."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return " ".join(re.findall(r"[a-z0-9%$]+", plain.encode("ascii", "ignore").decode()))


def code_of(cell: Cell, codes: Sequence[Code]) -> str:
    """Return the code that a cell names: by itself, by its words, or as lists show it (`1 - ITBIS 18%`).

    Any other text is returned as it stands, and validating reports it. Raises BadCell.
    """
    known = _names_of(tuple(codes))
    if isinstance(cell, float) and not cell.is_integer():
        cell = f"{format(cell * 100, '.10g')}%"
    if not isinstance(cell, str) and cell == 0 and "0" in known and "itbis 0%" in known:
        raise BadCell(
            Text(
                "0 is either ITBIS 0% (write 3) or not billable (write those words)",
                "0 es ITBIS 0% (escriba 3) o no facturable (escriba esas palabras)",
            )
        )
    said = text_of(cell)
    first = said.partition(" - ")[0].strip()
    for one in (said, first, first.zfill(2)):
        if (code := known.get(fold(one))) is not None:
            return code
    return said


@lru_cache(maxsize=256)
def _names_of(codes: tuple[Code, ...]) -> Mapping[str, str]:
    """Codes by what people call them; a name that two share is none."""
    named: dict[str, str] = {}
    twice = set()
    for code in codes:
        names = {fold(code.meaning), fold(code.meaning_es), fold(code.meaning_es).removeprefix("itbis ")}
        for name in names - {""}:
            if named.setdefault(name, code.value) != code.value:
                twice.add(name)
    for name in twice:
        del named[name]
    if len(codes) > 40:  # units of measure
        values = {code.value for code in codes}
        named = {**{short: code for short, code in UNIT_ABBREVIATIONS.items() if code in values}, **named}
    return {**named, **{fold(code.value): code.value for code in codes}}
