"""Texts of a form, a CSV or the API as checked values; each raises BadEntry with the API's name of the field."""

import re
from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum
from typing import Final, NewType, TypeVar

from fe.ecf.catalogue import EcfType
from fe.ecf.identity import CHECK_DIGIT, TaxId, tax_id
from fe.ecf.mail_address import BadAddress, MailAddress, parse_address
from fe.ecf.schema.codes import GEOGRAPHY, UNIT_ABBREVIATIONS, UNITS
from fe.ecf.schema.repairs import fold
from fe.ecf.taxes import ADDITIONAL_TAXES
from fe.ecf.texts import LocalizedError, Text

E = TypeVar("E", bound=StrEnum)

#: The key of an entry within its tenant: chosen by the API's client, else made by us.
EntryId = NewType("EntryId", str)

_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._~-]{0,63}")
ID_PATTERN: Final = r"^[0-9A-Za-z][0-9A-Za-z._~-]{0,63}$"
_PRICE = re.compile(r"[0-9]{1,16}(\.[0-9]{1,4})?", re.ASCII)
_GROUPED = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?", re.ASCII)
_PLACES = {place.value for place in GEOGRAPHY}
_UNIT_NAMES = {fold(name): unit.value for unit in UNITS for name in (unit.meaning, unit.meaning_es)}
_UNIT_CODES = {unit.value for unit in UNITS}

ID_FORM: Final = Text(
    "must be 1 to 64 letters without accents, digits, dots, hyphens, tildes and underscores, the first a letter or "
    "digit",
    "debe tener de 1 a 64 letras sin acento, dígitos, puntos, guiones, tildes (~) y guiones bajos, y empezar por una "
    "letra o un dígito",
)
_LENGTH = Text(
    "must be a text of 1 to {most} printable characters", "debe ser un texto de 1 a {most} caracteres imprimibles"
)
_TAX_ID = Text("must be an RNC of 9 digits or a cédula of 11", "debe ser un RNC de 9 dígitos o una cédula de 11")
_LOST_ZEROS = Text(
    "{number} is no valid RNC, and looks like the cédula {cedula} without its zeros: write all 11 digits if it is one",
    "{number} no es un RNC válido y parece la cédula {cedula} sin los ceros: si lo es, escriba los 11 dígitos",
)
_PLACE = Text(
    "must be a code of the authority's list, such as 320100", "debe ser un código de la lista de la DGII, como 320100"
)
_OTHER_PROVINCE = Text("is in another province than {province}", "está en otra provincia que {province}")
_TYPE = Text("must be one of: {names}", "debe ser uno de: {names}")
_TYPES = Text(*2 * (", ".join(one.prefix for one in EcfType),))
PRICE_FORM = Text(
    "must be a number from 0 on with at most 4 decimals, such as 1234.50",
    "debe ser un número desde 0 con 4 decimales como máximo, como 1234.50",
)
_UNIT_FORM = Text(
    "must be a code or name of a unit of measure, such as 43 (unit)",
    "debe ser el código o el nombre de una unidad de medida, como 43 (unidad)",
)
_TAX_FORM = Text(
    "{code}: is no code of an additional tax (001 to 039)",
    "{code}: no es el código de un impuesto adicional (001 a 039)",
)


class BadEntry(LocalizedError):
    """A field of an entry is not what it should be; `text` follows the name of `field`."""

    def __init__(self, field: str, text: Text) -> None:
        super().__init__(text)
        self.field = field


def read_id(text: str) -> EntryId | None:
    """Read the key of an entry; None where it cannot be one."""
    return EntryId(text) if _ID.fullmatch(text) else None


def line(field: str, text: str | None, most: int) -> str | None:
    """Read one line of text with its blanks put in order; None where it is empty."""
    said = " ".join((text or "").split())
    if len(said) > most or not said.isprintable():
        raise BadEntry(field, _LENGTH.fill(most=most))
    return said or None


def required_line(field: str, text: str | None, most: int) -> str:
    """Like `line`, for a text that must be there."""
    said = line(field, text, most)
    if said is None:
        raise BadEntry(field, _LENGTH.fill(most=most))
    return said


def rnc(field: str, text: str | None) -> TaxId | None:
    """Read an RNC or cédula, with or without hyphens and blanks. A wrong check digit is a remark, not an error."""
    digits = "".join((text or "").replace("-", " ").split())
    if not digits:
        return None
    found = tax_id(digits)
    if found is None:
        raise BadEntry(field, _TAX_ID)
    return found


def remarks_on(number: TaxId | None) -> tuple[Text, ...]:
    """Return a remark where the check digit is not right, or a spreadsheet may have dropped zeros of a cédula."""
    if number is None or number.checks:
        return ()
    cedula = number.digits.zfill(11)
    text = _LOST_ZEROS if number.digits != cedula and TaxId(cedula).checks else CHECK_DIGIT
    return (text.fill(number=number.digits, cedula=cedula),)


def email(field: str, text: str | None) -> MailAddress | None:
    """Read a mail address."""
    said = (text or "").strip()
    try:
        return parse_address(said) if said else None
    except BadAddress as bad:
        raise BadEntry(field, bad.text) from None


def phone(field: str, text: str | None) -> str | None:
    """Read a telephone number; ten digits become 809-555-0142."""
    said = line(field, text, 20)
    digits = re.sub(r"[^0-9]", "", said or "")
    return f"{digits[:3]}-{digits[3:6]}-{digits[6:]}" if len(digits) == 10 else said


def places(municipality: str | None, province: str | None) -> tuple[str | None, str | None]:
    """Read the codes of a municipality and its province; the province follows from the municipality."""
    town, region = (municipality or "").strip() or None, (province or "").strip() or None
    for field, code in (("municipality", town), ("province", region)):
        if code is not None and (code not in _PLACES or (field == "province") != code.endswith("0000")):
            raise BadEntry(field, _PLACE)
    if town is None:
        return None, region
    if region is not None and region[:2] != town[:2]:
        raise BadEntry("municipality", _OTHER_PROVINCE.fill(province=region))
    return town, f"{town[:2]}0000"


def receipt_type(field: str, text: str | None) -> EcfType | None:
    """Read a type of receipt: 31 or E31."""
    said = (text or "").strip().upper().removeprefix("E")
    return one_of(field, said, EcfType, _TYPES) if said else None


def price(field: str, text: str | None) -> Decimal | None:
    """Read a price as people type it: 1234.5, 1,234.50, RD$ 1,234.50. A comma before decimals is refused."""
    said = (text or "").upper().removeprefix("RD").strip().removeprefix("$").strip()
    if not said:
        return None
    if _GROUPED.fullmatch(said):
        said = said.replace(",", "")
    if not _PRICE.fullmatch(said):
        raise BadEntry(field, PRICE_FORM)
    return Decimal(said)


def unit(field: str, text: str | None) -> str | None:
    """Read a unit of measure: its code, its name or an abbreviation."""
    said = (text or "").strip()
    if not said or said in _UNIT_CODES:
        return said or None
    folded = fold(said)
    meant = UNIT_ABBREVIATIONS.get(folded) or _UNIT_NAMES.get(folded)
    if meant is None:
        raise BadEntry(field, _UNIT_FORM)
    return meant


def additional_taxes(field: str, codes: Sequence[str]) -> tuple[str, ...]:
    """Read codes of additional taxes, each once, in order."""
    for code in codes:
        if code not in ADDITIONAL_TAXES:
            raise BadEntry(field, _TAX_FORM.fill(code=code[:10]))
    return tuple(sorted(set(codes)))


def one_of(field: str, text: str, kind: type[E], names: Text) -> E:
    """Read one of a few words; `names` lists them."""
    try:
        return kind(text)
    except ValueError:
        raise BadEntry(field, _TYPE.fill(names=names)) from None
