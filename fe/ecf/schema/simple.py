r"""The simple types of the format, by the names that the tables of elements (ecf.csv, other_documents.csv) give them.

Patterns are those of the authority's XSDs, in XSD syntax, so `\d` and `\w` are Unicode's and a pattern holds for the
whole text. Where an XSD leaves a decimal point unescaped, ours does too (`any_point`): any digit may then stand in its
place, and a percentage of "3 + 2 digits" may be 12345. We validate as the authority does.
"""

import re
from functools import cache

from fe.ecf.schema.codes import CODES, GEOGRAPHY, UNITS
from fe.ecf.schema.model import Base, Code, Simple, ValueForm

#: A longer list is not written out in a sentence.
MANY_CODES = 100


def _text(name: str, longest: int, shortest: int | None) -> Simple:
    if shortest == longest:
        said, said_es = f"exactly {longest} characters", f"exactamente {longest} caracteres"
    elif shortest is None or shortest == 1:
        said, said_es = f"at most {longest} characters", f"máximo {longest} caracteres"
    else:
        said, said_es = f"{shortest} to {longest} characters", f"de {shortest} a {longest} caracteres"
    return Simple(name, Base.STRING, said, said_es, shortest=shortest, longest=longest)


def _coded(
    name: str,
    values: tuple[Code, ...],
    base: Base = Base.STRING,
    *,
    digits: int | None = None,
    decimals: int | None = None,
) -> Simple:
    """One of a list of codes. Under Base.INTEGER the number counts, not its spelling: `01` is `1`."""
    if MANY_CODES >= len(values) > 10:
        said = said_es = ", ".join(code.value for code in values)
    elif len(values) > MANY_CODES:
        some = values[0].value
        said, said_es = f"a code of the list, such as {some}", f"un código de la lista, como {some}"
    else:
        said = ", ".join(f"{code.value} ({code.meaning})" for code in values)
        said_es = ", ".join(f"{code.value} ({code.meaning_es})" for code in values)
    return Simple(name, base, said, said_es, ValueForm.CODE, codes=values, digits=digits, decimals=decimals)


def _integer(
    name: str, digits: int, *, minimum: int | None = None, above: int | None = None, maximum: int | None = None
) -> Simple:
    """A whole number without sign of at most `digits` digits."""
    said, said_es = f"a whole number of up to {digits} digits", f"un número entero de hasta {digits} dígitos"
    if minimum is not None and maximum is not None:
        said, said_es = f"a whole number from {minimum} to {maximum}", f"un número entero de {minimum} a {maximum}"
    elif above is not None:
        said, said_es = f"{said}, above {above}", f"{said_es}, mayor que {above}"
    return Simple(
        name,
        Base.INTEGER,
        said,
        said_es,
        ValueForm.NUMBER,
        pattern=f"[0-9]{{1,{digits}}}",
        minimum=minimum,
        above=above,
        maximum=maximum,
        digits=digits,
        decimals=None,
    )


def _decimal(
    name: str,
    whole: int,
    decimals: int,
    *,
    exactly: bool = False,
    signed: bool = False,
    above: int | None = None,
    any_point: bool = False,
    pad: int = 0,
) -> Simple:
    """A number with a point: `whole` digits before it and up to (or `exactly`, if any) `decimals` after it."""
    sign = "[+-]?" if signed else ""
    point = "." if any_point else r"\."
    said = f"a number of up to {whole} digits with {'none or ' if exactly else 'up to '}{decimals} decimals"
    said_es = f"un número de hasta {whole} dígitos con {'ninguno o ' if exactly else 'hasta '}{decimals} decimales"
    if signed:
        said, said_es = f"{said}, negative allowed", f"{said_es}, puede ser negativo"
    elif above is None:
        said, said_es = f"{said}, 0 or more", f"{said_es}, 0 o mayor"
    else:
        said, said_es = f"{said}, above {above}", f"{said_es}, mayor que {above}"
    return Simple(
        name,
        Base.DECIMAL,
        said,
        said_es,
        ValueForm.NUMBER,
        pattern=f"{sign}[0-9]{{1,{whole}}}({point}[0-9]{{{'' if exactly else '1,'}{decimals}}})?",
        above=above,
        digits=whole + decimals,
        decimals=decimals,
        pad=pad,
    )


def _letters(name: str, longest: int) -> Simple:
    said, said_es = f"at most {longest} letters, commas and blanks", f"máximo {longest} letras, comas y espacios"
    return Simple(name, Base.STRING, said, said_es, longest=longest, pattern=r"[a-zA-ZñÑáéíóúÁÉÍÓÚ,\s]*")


def _words(name: str, longest: int) -> Simple:
    """At least three characters without digits, a letter at the end."""
    return Simple(
        name,
        Base.STRING,
        f"3 to {longest} characters without digits, the last one a letter",
        f"de 3 a {longest} caracteres sin dígitos, el último una letra",
        longest=longest,
        pattern=r"\D[^0-9]+[a-zA-ZñÑáéíóúÁÉÍÓÚ]",
    )


_DAY = r"(3[01]|[12][0-9]|0?[1-9])\-(1[012]|0?[1-9])"
_A_DATE = ("a date dd-MM-yyyy", "una fecha dd-MM-aaaa")
_A_TIME = ("a date and time dd-MM-yyyy HH:mm:ss", "una fecha y hora dd-MM-aaaa HH:mm:ss")
_CLOCK = "(2[0-3]|[01]?[0-9]):([0-5]?[0-9]):([0-5]?[0-9])"
_RNC = ("a tax id: 9 digits (RNC) or 11 (cédula)", "un RNC de 9 dígitos o una cédula de 11")
_AN_E_NCF = ("an e-NCF of 13 characters, such as E310000000001", "un e-NCF de 13 caracteres, como E310000000001")

_NUMBERS = (
    _decimal("amount", 16, 2, pad=2),
    _decimal("amount-above-0", 16, 2, above=0, pad=2),
    _decimal("amount-signed", 16, 2, signed=True, any_point=True, pad=2),
    # RFCE: none or exactly two decimals, where an e-CF may have one (authority.md#formats).
    _decimal("amount-2", 16, 2, exactly=True, any_point=True, pad=2),
    _decimal("amount-2-above-0", 16, 2, exactly=True, above=0, any_point=True, pad=2),
    _decimal("amount-2-signed", 16, 2, exactly=True, signed=True, any_point=True, pad=2),
    Simple(
        "approved-amount",
        Base.DECIMAL,
        "a number of up to 16 digits with exactly 2 decimals",
        "un número de hasta 16 dígitos con exactamente 2 decimales",
        ValueForm.NUMBER,
        pattern=r"[0-9]+(\.[0-9]{2})",
        digits=18,
        decimals=2,
        pad=2,
    ),
    _decimal("price", 16, 4, pad=2),
    _decimal("quantity", 16, 2),
    _decimal("quantity-above-0", 16, 2, above=0),
    _decimal("fine-quantity", 16, 3, any_point=True),
    _decimal("percentage", 3, 2, above=0, any_point=True),
    _decimal("exchange-rate", 3, 4, above=0, any_point=True),
    _decimal("exchange-rate-or-0", 3, 4, any_point=True),
    _integer("whole-2", 2),
    _integer("whole-10", 10),
    _integer("whole-20", 20),
    _integer("to-1000", 4, minimum=1, maximum=1000),
    _integer("to-10000", 5, minimum=1, maximum=10_000),
    _integer("pages-4", 4, above=1),
    _integer("pages-5", 5, above=1),
)
_DATES = (
    Simple("date", Base.STRING, *_A_DATE, ValueForm.DATE, pattern=rf"{_DAY}\-((19|20)\d{{2}})", dated=True),
    Simple(
        "date-from-2000",
        Base.STRING,
        "a date dd-MM-yyyy from the year 2000 on",
        "una fecha dd-MM-aaaa desde el año 2000",
        ValueForm.DATE,
        dated=True,
        pattern=rf"{_DAY}\-((20|20)\d{{2}})",
    ),
    Simple(
        "timestamp",
        Base.STRING,
        *_A_TIME,
        ValueForm.TIMESTAMP,
        longest=19,
        dated=True,
        pattern=rf"(3[01]|[12][0-9]|0[1-9])-(1[0-2]|0[1-9])-((19|20)\d{{2}}) {_CLOCK}",
    ),
    Simple(
        "timestamp-any-year",
        Base.STRING,
        *_A_TIME,
        ValueForm.TIMESTAMP,
        dated=True,
        pattern=f"(3[01]|[12][0-9]|0[1-9])-(1[0-2]|0[1-9])-[0-9]{{4}} {_CLOCK}",
    ),
    Simple("seed-time", Base.DATE_TIME, "an ISO 8601 date and time", "una fecha y hora ISO 8601"),
)
_IDENTITIES = (
    Simple("rnc", Base.STRING, *_RNC, pattern="[0-9]{11}|[0-9]{9}"),
    Simple("rnc-trimmed", Base.INTEGER, *_RNC, pattern="[0-9]{11}|[0-9]{9}"),  # blanks around the digits are ignored
    Simple("e-ncf", Base.STRING, *_AN_E_NCF, pattern="[a-z0-9A-Z]{13}", shortest=13, longest=13),
    Simple(
        "e-ncf-or-ncf",
        Base.STRING,
        "an e-NCF of 13 characters, or an NCF of 11 or 9",
        "un e-NCF de 13 caracteres, o un NCF de 11 o 9",
        pattern="[a-z0-9A-Z]{13}|[a-z0-9A-Z]{11}|[a-z0-9A-Z]{9}",
    ),
    Simple(
        "phone",
        Base.STRING,
        "a telephone number ddd-ddd-dddd",
        "un teléfono ddd-ddd-dddd",
        longest=12,
        pattern=r"\d{3}-\d{3}-\d{4}",
    ),
    Simple(
        "e-mail",
        Base.STRING,
        "an e-mail address of at most 80 characters (no underscore)",
        "un correo de máximo 80 caracteres (sin guion bajo)",
        longest=80,
        pattern=r"\w+([-+.]\w+)*@\w+([-.]\w+)*\.\w+([-.]\w+)*",
    ),
    Simple(
        "terms",
        Base.STRING,
        "at most 15 letters, digits and blanks",
        "máximo 15 letras, dígitos y espacios",
        pattern=r"[\s\d\w]{1,15}",
    ),
    Simple("security-code", Base.STRING, "6 characters", "6 caracteres", pattern=".{6}"),
    Simple("seed", Base.STRING, "any text", "cualquier texto"),
)
_CODED = (
    *(
        _coded(name, CODES[name])
        for name in (
            *("income-type", "account-type", "amount-or-percent", "adjustment", "transport-way", "currency"),
            "additional-tax",
        )
    ),
    *(
        _coded(name, CODES[name], Base.INTEGER)
        for name in (
            *("ecf-type", "credit-note-age", "yes", "tax-included", "payment-type", "payment-form"),
            *("billing-indicator", "goods-or-service", "rule-10-07", "withholding-agent", "modification"),
            *("affiliation", "settlement", "approval", "receipt", "reason-not-received"),
        )
    ),
    _coded("version", CODES["version"], Base.DECIMAL),
    _coded("version-as-spelled", CODES["version"]),
    _coded("version-short", CODES["version"], Base.DECIMAL, digits=2, decimals=1),
    _coded("consumer", CODES["ecf-type"][1:2], Base.INTEGER),
    # For global adjustments, and for the lines of a structured payload.
    _coded("billable-indicator", CODES["billing-indicator"][1:], Base.INTEGER),
    _coded("place", GEOGRAPHY),
    _coded("unit", UNITS, Base.INTEGER),
    _coded("unit-as-spelled", UNITS),  # as types 33 and 44 have it: the spelling counts, `07` is not a unit
)
_TYPES = {each.name: each for each in (*_NUMBERS, *_DATES, *_IDENTITIES, *_CODED)}
_SIZED = re.compile(r"(text|letters|words)-(?:([0-9]+)-)?([0-9]+)")


@cache
def simple_type(name: str) -> Simple:
    """Return the type of that name; KeyError if there is none.

    `text-20` is a text of 1 to 20 characters, `text-11-19` one of 11 to 19, `text-0-20` one that may be empty;
    `letters-20` and `words-60` are texts of at most that length.
    """
    sized = _SIZED.fullmatch(name)
    if sized is None:
        return _TYPES[name]
    kind, shortest, longest = sized[1], sized[2], int(sized[3])
    if kind == "text":
        return _text(name, longest, 1 if shortest is None else int(shortest) or None)
    return _letters(name, longest) if kind == "letters" else _words(name, longest)
