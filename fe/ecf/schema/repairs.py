"""Proposals for a value that the format refuses, and examples of values that it takes.

The same facets that refused a value accept its proposal. A `certain` one loses nothing and has no second reading.
"""

import re
import unicodedata
from collections.abc import Iterator
from datetime import datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from functools import cache, lru_cache
from typing import Any, NamedTuple

from fe.ecf.dates import ZONE, last_day, show_day
from fe.ecf.schema.codes import GEOGRAPHY, UNIT_ABBREVIATIONS, UNITS
from fe.ecf.schema.model import Base, Code, Element, Simple, ValueForm
from fe.ecf.schema.xsd import violations

#: Longer texts are not read as codes, dates or amounts.
_LONGEST = 64
_PESOS = re.compile(r"RD\$|DOP|(?<![A-Za-z])\$", re.IGNORECASE)
_NUMBER_NOISE = re.compile(r"US\$|USD|[€%\s_']", re.IGNORECASE)
_THOUSANDS = re.compile(r"[+-]?[0-9]{1,3}(?:[,'_ ][0-9]{3})+(?:\.[0-9]+)?")
_EUROPEAN = re.compile(r"[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+|[+-]?[0-9]+,[0-9]{1,2}")
#: `1,000` is a thousand here, and 1 where the comma is the decimal point; `1.000` the other way round.
_ONE_GROUP = re.compile(r"[+-]?[0-9]{1,3}[,.][0-9]{3}")
_YEAR_FIRST = re.compile(r"([0-9]{4})([-/. ]?)([0-9]{1,2})[-/. ]?([0-9]{1,2})(?:[T ](.*))?")
_DAY_FIRST = re.compile(r"([0-9]{1,2})([-/. ])([0-9]{1,2})[-/. ]([0-9]{4}|[0-9]{2})(?:[T ,]+(.*))?")
_NAMED_MONTH = re.compile(r"([0-9]{1,2})[-/. ]+(?:de )?([a-z]{3,10})\.?[-/. ,]+(?:de |del )?([0-9]{4})(?:[T ,]+(.*))?")
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2}))?(?:\.[0-9]+)?\s*(z|[+-][0-9]{2}:?[0-9]{2})?(am|pm)?")
_LABELS = re.compile(r"RNC|C[EÉ]DULA|TEL[EÉ]FONO|TEL", re.IGNORECASE)
_SIGNS = re.compile(r"[\s().:/+-]")
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
#: A binary float has 15 decimal digits that can be relied on, and is written with up to 17.
_FLOAT = Context(prec=15)
_FLOAT_DIGITS = 15


class Reading(NamedTuple):
    """A value that may have been meant. `certain`: nothing is lost, and there is no second reading."""

    value: str
    certain: bool


@lru_cache(maxsize=8192)  # the format's own are some hundreds; the others are whatever was sent
def _folded(text: str) -> str:
    bare = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in bare if c.isalnum())


def fold(text: str) -> str:
    """Return a name without case, accents, blanks and signs: `e-NCF` and `ENCF` are the same."""
    return _folded(text[:_LONGEST])


def meant(simple: Simple, given: object, name: str = "") -> Reading | None:
    """Return the value that a refused one stands for, if it can be told; the format takes it.

    `name` is that of the element: it tells a municipality from a province of the same name.
    """
    text = str(int(given) if isinstance(given, bool) else given)
    if len(text) > _LONGEST:
        bare = text.strip()
        if bare != text and not violations(simple, bare):
            return Reading(bare, True)
        return _shortened(simple, bare)
    for candidate in _candidates(simple, text.strip(), name):
        if candidate.value != given and not violations(simple, candidate.value):
            return candidate
    return _shortened(simple, text.strip())


def _shortened(simple: Simple, text: str) -> Reading | None:
    """A free text cut to its length."""
    if simple.pattern is not None or simple.codes or simple.longest is None or len(text) <= simple.longest:
        return None
    cut = text[: simple.longest].rstrip()
    return None if violations(simple, cut) else Reading(cut, False)


def code_meant(codes: tuple[Code, ...], given: object, name: str = "") -> Reading | None:
    """Return the code that was meant: by its case, its number, or its meaning in either language."""
    text = str(given).strip()[:_LONGEST]
    wanted = fold(text)
    for code in codes:
        if fold(code.value) == wanted and wanted:
            return Reading(code.value, True)
    number = _decimal(text.rstrip("%"))
    if number is None:
        return _by_word(codes, wanted, name)
    equal = [code.value for code in codes if _decimal(code.value) == number]
    if equal:
        return Reading(equal[0], True)
    if not (text.endswith("%") or len(codes) > 10 or "." in text or number > 9):
        return None
    # 18, 18% and 0.18 are a rate: no code has such a number.
    percent = (number * 100 if 0 < number < 1 else number).normalize()
    found = _by_word(codes, str(percent), name)
    return None if found is None else Reading(found.value, True)


def _by_word(codes: tuple[Code, ...], wanted: str, name: str) -> Reading | None:
    """The one code that means the word; else the one code whose meaning has it, which is a guess."""
    if not wanted:
        return None
    if codes is UNITS and wanted in UNIT_ABBREVIATIONS:
        return Reading(UNIT_ABBREVIATIONS[wanted], True)
    for whole in (True, False):
        found = [
            code.value
            for code in codes
            if any(
                wanted == fold(said) if whole else wanted in map(fold, said.split())
                for said in (code.meaning, code.meaning_es)
            )
        ]
        if codes is GEOGRAPHY and len(found) > 1:
            found = _of_the_level(found, name)
        if len(found) == 1:
            return Reading(found[0], whole)
    return None


def _of_the_level(places: list[str], name: str) -> list[str]:
    """Of places with one name those that the element asks for: a province ends in 0000, a municipality in 00."""
    if name.startswith("Provincia"):
        return [one for one in places if one.endswith("0000")]
    return [one for one in places if one.endswith("00") and not one.endswith("0000")]


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
    """Return what an element might hold: the smallest content the format takes. It is for a person to replace."""
    if of.simple is None:
        made = {child.name: example(child) for child in of.children if child.required} or {
            child.name: example(child) for child in of.children[:1]
        }
        return [made] if of.many > 1 else made
    return sample(of.simple, of.name)


@cache
def sample(simple: Simple, name: str = "") -> str:
    """Return a value that the format takes in an element of that name."""
    codes = [code.value for code in simple.codes[:1]]
    for candidate in (*_BY_NAME.get(name, ()), *codes, *_BY_KIND.get(simple.name, ()), *_EXAMPLES):
        if not violations(simple, candidate):
            return candidate
    return "1" * (simple.shortest or 1)


_MARKET, _TOOL_SHOP = "Colmado La Esquina SRL", "Ferretería del Este SRL"
_PRICE = "1180.00"
_BY_NAME: dict[str, tuple[str, ...]] = {
    "NombreItem": ("Martillo",),
    "DescripcionItem": ("Martillo de carpintero, mango de madera",),
    "CantidadItem": ("1",),
    "PrecioUnitarioItem": (_PRICE,),
    "CodigoItem": ("MART-16",),
    "TipoCodigo": ("Interna",),
    "UnidadMedida": ("43",),
    "UnidadReferencia": ("43",),
    "ITBIS1": ("18",),
    "ITBIS2": ("16",),
    "ITBIS3": ("0",),
    "RazonSocialEmisor": (_TOOL_SHOP,),
    "NombreComercial": ("Ferretería del Este",),
    "RazonSocialComprador": (_MARKET,),
    "ContactoComprador": ("María Pérez",),
    "DireccionEmisor": ("Calle El Conde 12",),
    "DireccionComprador": ("Calle Duarte 5",),
    "PaisComprador": ("Estados Unidos",),
    "RazonModificacion": ("Devolución de mercancía",),
    "DetalleMotivoRechazo": ("La mercancía no fue recibida",),
    "FechaVencimientoSecuencia": ("31-12-2028",),
    "TasaImpuestoAdicional": ("10.00",),
    "TipoMoneda": ("USD",),
    "NCFModificado": ("E310000000001",),
}
_BY_KIND: dict[str, tuple[str, ...]] = {
    "rnc": ("131880657",),
    "rnc-trimmed": ("131880657",),
    "exchange-rate": ("60.2500",),
    "exchange-rate-or-0": ("60.2500",),
    "percentage": ("10.00",),
    "price": (_PRICE,),
    "quantity": ("1",),
    "quantity-above-0": ("1",),
    "fine-quantity": ("1",),
    "terms": ("30 días",),
}
#: By form: the first one that the format takes.
_EXAMPLES = (
    *("02-03-2026", "02-03-2026 10:00:00", "E310000000001", "809-555-0100", _PRICE, "1", "2"),
    *("ventas@example.com", "Texto"),
    *("ABCDEF", "FOB", "131880657"),
)


def _candidates(simple: Simple, text: str, name: str) -> Iterator[Reading]:
    yield Reading(text, True)
    if simple.codes:
        code = code_meant(simple.codes, text, name)
        if code is not None:
            yield code
        return
    if simple.form in (ValueForm.DATE, ValueForm.TIMESTAMP):
        yield from _dates(text, with_time=simple.form is ValueForm.TIMESTAMP)
    elif simple.form is ValueForm.NUMBER or simple.base in (Base.INTEGER, Base.DECIMAL):
        yield from _numbers(simple, text)
    elif simple.name in ("rnc", "phone"):
        digits = re.sub(r"[^0-9]", "", text)
        certain = _SIGNS.sub("", _LABELS.sub("", text)) == digits
        yield Reading(digits, certain)
        digits = digits[1:] if len(digits) == 11 and digits[0] == "1" else digits
        yield Reading(f"{digits[:3]}-{digits[3:6]}-{digits[6:]}", certain)
    elif simple.name == "e-ncf":
        number = number_meant(text)
        if number is not None:
            yield Reading(number, is_as_written(text, number))
    elif simple.name == "e-mail":
        bare = text.removeprefix("mailto:").strip()
        yield Reading(bare, True)
        yield Reading(re.sub(r"\s+", "", bare), False)
    yield Reading(text.upper(), False)


def number_meant(text: str) -> str | None:
    """Return the e-NCF that was meant: without signs, in capitals, its number filled with zeros; None if it is none."""
    bare = re.sub(r"[^0-9A-Z]", "", text.upper()[:_LONGEST])
    found = re.fullmatch(r"(?:NCF)?E?(3[1-4]|4[13-7])([0-9]{1,10})", bare)
    if found is None:
        return None
    return f"E{found[1]}{found[2]:0>10}" if bare.startswith(("E", "NCFE")) or len(found[2]) == 10 else None


def is_as_written(text: str, number: str) -> bool:
    """Return whether an e-NCF has the very digits of the text: zeros that are filled in are a guess."""
    return re.sub("[^0-9]", "", text) == number[1:]


def _numbers(simple: Simple, text: str) -> Iterator[Reading]:
    bare = _PESOS.sub("", text).strip()
    certain = _ONE_GROUP.fullmatch(bare) is None
    if _THOUSANDS.fullmatch(bare):
        bare = re.sub("[,'_ ]", "", bare)
    elif _EUROPEAN.fullmatch(bare):
        bare = bare.replace(".", "").replace(",", ".")
    if simple.name in ("percentage", "whole-2"):  # the second holds the rates of ITBIS
        bare = bare.rstrip("% ")
    yield Reading(bare, certain)
    plain = _NUMBER_NOISE.sub("", bare)  # another currency, or blanks among the digits
    number = _decimal(plain)
    if number is None or abs(number) >= 10**16:
        return
    certain = certain and plain == bare
    rounded = number.quantize(Decimal(1).scaleb(-(simple.decimals or 0)), ROUND_HALF_UP)
    if rounded == number:  # only zeros may go
        yield Reading(plain, certain)
        yield Reading(format(rounded, "f"), certain)
    elif rounded:
        digits = len(number.as_tuple().digits)
        is_noise = digits > _FLOAT_DIGITS and _FLOAT.plus(number) == rounded
        yield Reading(format(rounded, "f"), certain and is_noise)


def _dates(text: str, *, with_time: bool) -> Iterator[Reading]:
    day: tuple[int, int, int] | None = None
    rest = ""
    certain = True
    lowered = unicodedata.normalize("NFKD", text.casefold())
    if found := _YEAR_FIRST.fullmatch(text):
        day, rest = (int(found[4]), int(found[3]), int(found[1])), found[5] or ""
        certain = bool(found[2]) or len(found[3]) == len(found[4]) == 2
    elif found := _DAY_FIRST.fullmatch(text):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        day = (second, first, year) if second > 12 else (first, second, year)
        rest = found[5] or ""
        # 11/05/2026 may be in May or in November; with dashes it is written as the format has it.
        certain = year > 99 and (found[2] == "-" or max(first, second) > 12 or first == second)
        day = (*day[:2], year + 2000 if year < 100 else year)
    elif (found := _NAMED_MONTH.fullmatch(lowered)) and found[2][:3] in _MONTHS:
        day, rest = (int(found[1]), _MONTHS[found[2][:3]], int(found[3])), found[4] or ""
    if day is None:
        return
    clock = _CLOCK.fullmatch(rest.casefold().replace(" ", "").replace(".m", "m") if rest else "00:00:00")
    moment = None if clock is None else _moment(day, clock)
    if moment is None:
        if not with_time:
            yield Reading(f"{day[0]:02}-{day[1]:02}-{day[2]:04}", False)
        return
    here = moment if moment.tzinfo is None else moment.astimezone(ZONE)
    if with_time:
        yield Reading(f"{show_day(here)} {here:%H:%M:%S}", certain and bool(rest))
        return
    # A time of day has no place there, and midnight of another zone is no day of this one.
    is_day = (here.hour, here.minute, here.second) == (0, 0, 0)
    yield Reading(show_day(here.date() if moment.tzinfo is None else last_day(moment)), certain and is_day)


def _moment(day: tuple[int, int, int], clock: re.Match[str]) -> datetime | None:
    hour = int(clock[1]) % 12 + (12 if clock[5] == "pm" else 0) if clock[5] else int(clock[1])
    offset = (clock[4] or "").upper()
    try:
        written = f"{day[2]:04}-{day[1]:02}-{day[0]:02}T{hour:02}:{clock[2]}:{clock[3] or '00'}{offset}"
        moment = datetime.fromisoformat(written)
        moment.astimezone(ZONE)
    except (ValueError, OverflowError):
        return None
    return moment


def _decimal(text: str) -> Decimal | None:
    """Read a number of a plausible size: `1E999999` is a million digits once it is written out."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        return None
    return number if number.is_finite() and abs(number.adjusted()) <= _LONGEST else None
