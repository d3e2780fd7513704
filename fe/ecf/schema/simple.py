r"""The simple types of the format: one name for each kind of value, used by the tables of elements.

Patterns are those of the authority's XSDs, in XSD syntax, so `\d` and `\w` are Unicode's and a pattern holds for the
whole text. Where an XSD leaves a decimal point unescaped, ours does too (`any_point`): any digit may then stand in its
place, and a percentage of "3 + 2 digits" may be 12345. We validate as the authority does.
"""

from functools import lru_cache

from fe.ecf.schema import codes
from fe.ecf.schema.geography import GEOGRAPHY
from fe.ecf.schema.model import Base, Code, Simple, ValueForm
from fe.ecf.schema.units import UNITS

#: A longer list is not written out in a sentence.
MANY_CODES = 100


@lru_cache
def text(longest: int, shortest: int | None = 1) -> Simple:
    """Any text of so many characters."""
    name = f"text-{longest}" if shortest == 1 else f"text-{shortest or 0}-{longest}"
    if shortest == longest:
        said, said_es = f"exactly {longest} characters", f"exactamente {longest} caracteres"
    elif shortest is None or shortest == 1:
        said, said_es = f"at most {longest} characters", f"máximo {longest} caracteres"
    else:
        said, said_es = f"{shortest} to {longest} characters", f"de {shortest} a {longest} caracteres"
    return Simple(name, Base.STRING, said, said_es, shortest=shortest, longest=longest)


def coded(
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


def integer(
    name: str, digits: int, *, minimum: int | None = None, above: int | None = None, maximum: int | None = None
) -> Simple:
    """A whole number without sign of at most so many digits."""
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


def decimal(
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


# --- amounts and other numbers --------------------------------------------------------------------------------------

AMOUNT = decimal("amount", 16, 2, pad=2)
AMOUNT_ABOVE_0 = decimal("amount-above-0", 16, 2, above=0, pad=2)
AMOUNT_SIGNED = decimal("amount-signed", 16, 2, signed=True, any_point=True, pad=2)
PRICE = decimal("price", 16, 4, pad=2)
QUANTITY = decimal("quantity", 16, 2)
QUANTITY_ABOVE_0 = decimal("quantity-above-0", 16, 2, above=0)
FINE_QUANTITY = decimal("fine-quantity", 16, 3, any_point=True)
PERCENTAGE = decimal("percentage", 3, 2, above=0, any_point=True)
EXCHANGE_RATE = decimal("exchange-rate", 3, 4, above=0, any_point=True)
EXCHANGE_RATE_OR_0 = decimal("exchange-rate-or-0", 3, 4, any_point=True)

WHOLE_2 = integer("whole-2", 2)
WHOLE_10 = integer("whole-10", 10)
WHOLE_20 = integer("whole-20", 20)
TO_1000 = integer("to-1000", 4, minimum=1, maximum=1000)
TO_10000 = integer("to-10000", 5, minimum=1, maximum=10_000)
PAGES_4 = integer("pages-4", 4, above=1)
PAGES_5 = integer("pages-5", 5, above=1)

# --- dates ----------------------------------------------------------------------------------------------------------

DATE = Simple(
    "date",
    Base.STRING,
    "a date dd-MM-yyyy",
    "una fecha dd-MM-aaaa",
    ValueForm.DATE,
    pattern=r"(3[01]|[12][0-9]|0?[1-9])\-(1[012]|0?[1-9])\-((19|20)\d{2})",
    dated=True,
)
TIMESTAMP = Simple(
    "timestamp",
    Base.STRING,
    "a date and time dd-MM-yyyy HH:mm:ss",
    "una fecha y hora dd-MM-aaaa HH:mm:ss",
    ValueForm.TIMESTAMP,
    longest=19,
    dated=True,
    pattern=(
        r"(3[01]|[12][0-9]|0[1-9])-(1[0-2]|0[1-9])-((19|20)\d{2}) (2[0-3]|[01]?[0-9]):([0-5]?[0-9]):([0-5]?[0-9])"
    ),
)

# --- identities -----------------------------------------------------------------------------------------------------

_RNC = ("a tax id: 9 digits (RNC) or 11 (cédula)", "un RNC de 9 dígitos o una cédula de 11")
RNC = Simple("rnc", Base.STRING, *_RNC, pattern="[0-9]{11}|[0-9]{9}")
E_NCF = Simple(
    "e-ncf",
    Base.STRING,
    "an e-NCF of 13 characters, such as E310000000001",
    "un e-NCF de 13 caracteres, como E310000000001",
    pattern="[a-z0-9A-Z]{13}",
    shortest=13,
    longest=13,
)
MODIFIED_NCF = text(19, 11)
PHONE = Simple(
    "phone",
    Base.STRING,
    "a telephone number ddd-ddd-dddd",
    "un teléfono ddd-ddd-dddd",
    longest=12,
    pattern=r"\d{3}-\d{3}-\d{4}",
)
E_MAIL = Simple(
    "e-mail",
    Base.STRING,
    "an e-mail address of at most 80 characters (no underscore)",
    "un correo de máximo 80 caracteres (sin guion bajo)",
    longest=80,
    pattern=r"\w+([-+.]\w+)*@\w+([-.]\w+)*\.\w+([-.]\w+)*",
)
TERMS = Simple(
    "terms",
    Base.STRING,
    "at most 15 letters, digits and blanks",
    "máximo 15 letras, dígitos y espacios",
    pattern=r"[\s\d\w]{1,15}",
)


@lru_cache
def alphabetic(longest: int) -> Simple:
    """Letters, commas and blanks only."""
    return Simple(
        f"letters-{longest}",
        Base.STRING,
        f"at most {longest} letters, commas and blanks",
        f"máximo {longest} letras, comas y espacios",
        longest=longest,
        pattern=r"[a-zA-ZñÑáéíóúÁÉÍÓÚ,\s]*",
    )


@lru_cache
def words(longest: int) -> Simple:
    """At least three characters without digits, a letter at the end."""
    return Simple(
        f"words-{longest}",
        Base.STRING,
        f"3 to {longest} characters without digits, the last one a letter",
        f"de 3 a {longest} caracteres sin dígitos, el último una letra",
        longest=longest,
        pattern=r"\D[^0-9]+[a-zA-ZñÑáéíóúÁÉÍÓÚ]",
    )


# --- codes ----------------------------------------------------------------------------------------------------------

VERSION = coded("version", codes.VERSION_1, Base.DECIMAL)
ECF_TYPE = coded("ecf-type", codes.ECF_TYPES, Base.INTEGER)
CREDIT_NOTE_AGE = coded("credit-note-age", codes.CREDIT_NOTE_AGES, Base.INTEGER)
YES = coded("yes", codes.YES, Base.INTEGER)
TAX_INCLUDED = coded("tax-included", codes.TAX_INCLUDED, Base.INTEGER)
INCOME_TYPE = coded("income-type", codes.INCOME_TYPES)
PAYMENT_TYPE = coded("payment-type", codes.PAYMENT_TYPES, Base.INTEGER)
PAYMENT_FORM = coded("payment-form", codes.PAYMENT_FORMS, Base.INTEGER)
ACCOUNT_TYPE = coded("account-type", codes.ACCOUNT_TYPES)
BILLING_INDICATOR = coded("billing-indicator", codes.BILLING_INDICATORS, Base.INTEGER)
BILLABLE_INDICATOR = coded("billable-indicator", codes.BILLABLE_INDICATORS, Base.INTEGER)
GOODS_OR_SERVICE = coded("goods-or-service", codes.GOODS_OR_SERVICE, Base.INTEGER)
AMOUNT_OR_PERCENT = coded("amount-or-percent", codes.AMOUNT_OR_PERCENT)
ADJUSTMENT = coded("adjustment", codes.ADJUSTMENTS)
RULE_10_07 = coded("rule-10-07", codes.RULE_10_07, Base.INTEGER)
WITHHOLDING_AGENT = coded("withholding-agent", codes.WITHHOLDING_AGENTS, Base.INTEGER)
MODIFICATION = coded("modification", codes.MODIFICATIONS, Base.INTEGER)
AFFILIATION = coded("affiliation", codes.AFFILIATIONS, Base.INTEGER)
SETTLEMENT = coded("settlement", codes.SETTLEMENTS, Base.INTEGER)
TRANSPORT_WAY = coded("transport-way", codes.TRANSPORT_WAYS)
CURRENCY = coded("currency", codes.CURRENCIES)
ADDITIONAL_TAX = coded("additional-tax", codes.ADDITIONAL_TAXES)
LOCALITY = coded("place", GEOGRAPHY)
UNIT = coded("unit", UNITS, Base.INTEGER)
#: As types 33 and 44 have it: the spelling counts, `07` is not a unit.
UNIT_AS_SPELLED = coded("unit-as-spelled", UNITS)
