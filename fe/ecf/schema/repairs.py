"""What a value that the format refuses was meant to be, where its kind leaves one reading; and examples of good ones.

A candidate is only given when the format takes it, by the same facets that refused the value.
"""

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from functools import cache, lru_cache
from typing import Any

from fe.ecf.schema.model import Base, Code, Element, Simple, ValueForm
from fe.ecf.schema.xsd import violations

#: Longer texts are not looked at: nobody writes a code, a date or an amount so.
_LONGEST = 64
_NUMBER_NOISE = re.compile(r"RD\$|US\$|DOP|USD|[$€%\s_']", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")
_EUROPEAN = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+|[+-]?[0-9]+,[0-9]{1,2}")
_YEAR_FIRST = re.compile(r"([0-9]{4})[-/. ]?([0-9]{1,2})[-/. ]?([0-9]{1,2})(?:[T ](.*))?")
_DAY_FIRST = re.compile(r"([0-9]{1,2})[-/. ]([0-9]{1,2})[-/. ]([0-9]{4}|[0-9]{2})(?:[T ,]+(.*))?")
_NAMED_MONTH = re.compile(r"([0-9]{1,2})[-/. ]+(?:de )?([a-z]{3,10})\.?[-/. ,]+(?:de |del )?([0-9]{4})(?:[T ,]+(.*))?")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:\.[0-9]+)?\s*(?:Z|[+-][0-9]{2}:?[0-9]{2})?(am|pm)?")
_MONTHS = {
    name: number
    for number, names in enumerate(
        ("ene jan", "feb", "mar", "abr apr", "may", "jun", "jul", "ago aug", "sep set", "oct", "nov", "dic dec"), 1
    )
    for name in names.split()
}
#: More codes than these are not listed in an answer; those that begin alike are.
MAX_CODES = 100
_ALIKE = 20


@lru_cache(maxsize=8192)  # the format's own are some hundreds; the others are whatever was sent
def _folded(text: str) -> str:
    bare = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in bare if c.isalnum())


def fold(text: str) -> str:
    """What is left of a name without case, accents, blanks and signs: `e-NCF` and `ENCF` are the same."""
    return _folded(text[:_LONGEST])


def meant(simple: Simple, given: object) -> str | None:
    """Give the value that was meant by one the format refuses, if it can be told; the format takes it."""
    text = str(int(given) if isinstance(given, bool) else given)
    if len(text) > _LONGEST:
        bare = text.strip()
        return bare if bare != text and not violations(simple, bare) else None
    for candidate in _candidates(simple, text.strip()):
        if candidate != given and not violations(simple, candidate):
            return candidate
    return None


def code_meant(codes: tuple[Code, ...], given: object) -> str | None:
    """Give the code that was meant: by its case, its number, or what it means, in either language."""
    text = str(given).strip()[:_LONGEST]
    wanted = fold(text)
    for code in codes:
        if fold(code.value) == wanted and wanted:
            return code.value
    number = _decimal(text.rstrip("%"))
    if number is not None:
        equal = [code.value for code in codes if _decimal(code.value) == number]
        if equal:
            return equal[0]
        wanted = str((number * 100 if 0 < number < 1 else number).normalize())
        if text.rstrip("%") != text or len(codes) > 10 or "." in text or number > 9:
            return _by_word(codes, wanted)
        return None
    return _by_word(codes, wanted)


def _by_word(codes: tuple[Code, ...], wanted: str) -> str | None:
    """The one code whose meaning is the word, or has it."""
    if not wanted:
        return None
    for whole in (True, False):
        found = [
            code.value
            for code in codes
            if any(
                wanted == fold(said) if whole else wanted in map(fold, said.split())
                for said in (code.meaning, code.meaning_es)
            )
        ]
        if len(found) == 1:
            return found[0]
    return None


def allowed(simple: Simple, given: object = "") -> tuple[str, ...]:
    """The codes a value may be; of a long list those that begin as the given one does, or else are alike."""
    values = tuple(code.value for code in simple.codes)
    if len(values) <= MAX_CODES:
        return values
    text = str(given).strip()
    for length in range(min(len(text), 6), 0, -1):
        alike = [value for value in values if value.startswith(text[:length])]
        if alike:
            return tuple(alike[:_ALIKE])
    return values[:_ALIKE]


def example(of: Element) -> Any:
    """Give what an element might hold: the smallest content the format takes. It is for a person to replace."""
    if of.simple is None:
        made = {child.name: example(child) for child in of.children if child.required} or {
            child.name: example(child) for child in of.children[:1]
        }
        return [made] if of.many > 1 else made
    return sample(of.simple)


@cache
def sample(simple: Simple) -> str:
    """Give a value that the format takes."""
    for candidate in _EXAMPLES:
        if not violations(simple, candidate):
            return candidate
    return simple.codes[0].value if simple.codes else "1" * (simple.shortest or 1)


_EXAMPLES = (
    *("131880657", "E310000000001", "31-12-2028", "31-12-2028 10:00:00", "809-555-0100", "1", "01", "1.00", "2"),
    *("ventas@example.com", "Texto", "ABCDEF"),
)


def _candidates(simple: Simple, text: str) -> Iterator[str]:
    yield text
    if simple.codes:
        code = code_meant(simple.codes, text)
        if code is not None:
            yield code
        return
    if simple.form in (ValueForm.DATE, ValueForm.TIMESTAMP):
        yield from _dates(text, with_time=simple.form is ValueForm.TIMESTAMP)
    elif simple.form is ValueForm.NUMBER or simple.base in (Base.INTEGER, Base.DECIMAL):
        yield from _numbers(simple, text)
    elif simple.name in ("rnc", "phone"):
        digits = re.sub(r"[^0-9]", "", text)
        yield digits
        digits = digits[1:] if len(digits) == 11 and digits[0] == "1" else digits
        yield f"{digits[:3]}-{digits[3:6]}-{digits[6:]}"
    elif simple.name == "e-ncf":
        yield number_meant(text) or text
    elif simple.name == "e-mail":
        yield re.sub(r"\s+", "", text.removeprefix("mailto:"))
    yield text.upper()


def number_meant(text: str) -> str | None:
    """Give the e-NCF that was meant: without signs, in capitals, its number filled with zeros; None if it is none."""
    bare = re.sub(r"[^0-9A-Z]", "", text.upper()[:_LONGEST])
    found = re.fullmatch(r"(?:NCF)?E?(3[1-4]|4[13-7])([0-9]{1,10})", bare)
    if found is None:
        return None
    return f"E{found[1]}{found[2]:0>10}" if bare.startswith(("E", "NCFE")) or len(found[2]) == 10 else None


def _numbers(simple: Simple, text: str) -> Iterator[str]:
    bare = _NUMBER_NOISE.sub("", text)
    if _THOUSANDS.fullmatch(bare):
        bare = bare.replace(",", "")
    elif _EUROPEAN.fullmatch(bare):
        bare = bare.replace(".", "").replace(",", ".")
    yield bare
    number = _decimal(bare)
    if number is not None:
        rounded = number.quantize(Decimal(1).scaleb(-(simple.decimals or 0))) if abs(number) < 10**16 else number
        if rounded == number:  # only zeros may go
            yield format(rounded, "f")


def _dates(text: str, *, with_time: bool) -> Iterator[str]:
    day: tuple[int, int, int] | None = None
    rest = ""
    lowered = unicodedata.normalize("NFKD", text.casefold())
    if found := _YEAR_FIRST.fullmatch(text):
        day, rest = (int(found[3]), int(found[2]), int(found[1])), found[4] or ""
    elif found := _DAY_FIRST.fullmatch(text):
        first, second, year = int(found[1]), int(found[2]), int(found[3])
        day = (second, first, year) if second > 12 else (first, second, year)
        rest = found[4] or ""
        day = (*day[:2], year + 2000 if year < 100 else year)
    elif (found := _NAMED_MONTH.fullmatch(lowered)) and found[2][:3] in _MONTHS:
        day, rest = (int(found[1]), _MONTHS[found[2][:3]], int(found[3])), found[4] or ""
    if day is None:
        return
    written = f"{day[0]:02}-{day[1]:02}-{day[2]:04}"
    if not with_time:
        yield written
        return
    clock = _CLOCK.fullmatch(rest.casefold().replace(" ", "").replace(".m", "m") if rest else "00:00:00")
    if clock is not None:
        hour = int(clock[1]) % 12 + (12 if clock[4] == "pm" else 0) if clock[4] else int(clock[1])
        yield f"{written} {hour:02}:{clock[2]}:{clock[3] or '00'}"


def _decimal(text: str) -> Decimal | None:
    """Read a number of a size that somebody may have meant: `1E999999` is a million digits once it is written out."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _LONGEST else None
