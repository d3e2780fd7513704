"""Tax ids and fiscal numbers: RNC and cédula with their check digits, e-NCF, and the older NCF in references."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from fe.ecf.catalogue import EcfType
from fe.ecf.texts import Text

#: How an e-NCF and a tax id (RNC or cédula) are written, for expressions; `e_ncf` and `tax_id` read them.
E_NCF_FORM = r"E[0-9]{12}"
TAX_ID_FORM = r"(?:[0-9]{9}|[0-9]{11})"

_RNC_WEIGHTS = (7, 9, 8, 6, 5, 4, 3, 2)
_TYPES = {ecf_type.value: ecf_type for ecf_type in EcfType}
_E_NCF = re.compile(E_NCF_FORM)
#: Series letter, two digits of the type, eight of the number; the letter E is kept for electronic receipts.
_NCF_11 = re.compile(r"[A-DF-Z]([0-9]{2})[0-9]{8}", re.ASCII)
#: Until 2018: series, business unit, point of emission, area (8 digits), type (2), number (8).
_NCF_19 = re.compile(r"[A-Z][0-9]{8}([0-9]{2})[0-9]{8}", re.ASCII)


#: Message about a number whose `checks` is false.
CHECK_DIGIT = Text(
    "{number} does not pass the check: look at its digits. Some real numbers do not pass either",
    "{number} no pasa la verificación: revise los dígitos. Algunos números reales tampoco la pasan",
)


class TaxIdKind(StrEnum):
    """Which register an id is of."""

    RNC = "RNC"
    CEDULA = "cédula"


@dataclass(frozen=True, slots=True)
class TaxId:
    """An RNC (9 digits) or a cédula (11 digits), in the form documents carry: digits only."""

    digits: str

    def __post_init__(self) -> None:
        """ValueError when it has neither length, or anything but digits."""
        if len(self.digits) not in (9, 11) or not (self.digits.isascii() and self.digits.isdigit()):
            raise ValueError("an RNC has 9 digits and a cédula 11")

    @property
    def kind(self) -> TaxIdKind:
        """An RNC or a cédula: the length says it."""
        return TaxIdKind.RNC if len(self.digits) == 9 else TaxIdKind.CEDULA

    @property
    def checks(self) -> bool:
        """Whether the last digit is the one the other digits call for.

        A sign of a slip of the pen, not a proof: the registry has issued RNCs and cédulas whose digit does not check.
        """
        return _checks(self.digits)

    def __str__(self) -> str:
        """The digits."""
        return self.digits


@lru_cache(maxsize=4096)
def _tax_id(text: str) -> TaxId | None:
    try:
        return TaxId(text)
    except ValueError:
        return None


def tax_id(text: str) -> TaxId | None:
    """Read an RNC or cédula, or None where `text` has not the form of one."""
    return _tax_id(text) if len(text) <= 11 else None


@lru_cache(maxsize=4096)  # issuers and buyers come again and again
def _checks(digits: str) -> bool:
    if len(digits) == 9:
        return int(digits[8]) == _rnc_check_digit(digits)
    return _luhn_sum(digits) % 10 == 0


def _rnc_check_digit(digits: str) -> int:
    return (10 - sum(w * int(d) for w, d in zip(_RNC_WEIGHTS, digits, strict=False)) % 11) % 9 + 1


def _luhn_sum(digits: str) -> int:
    total = 0
    for position, digit in enumerate(reversed(digits)):
        value = int(digit) << (position & 1)
        total += value - 9 if value > 9 else value
    return total


@dataclass(frozen=True, slots=True)
class ENcf:
    """The number of an electronic receipt: E, two digits of the type, ten of the sequence (authority.md#e-ncf)."""

    type: EcfType
    number: int

    def __str__(self) -> str:
        """As documents carry it: `E310000000001`."""
        return f"E{self.type.value}{self.number:010d}"


def e_ncf(text: str) -> ENcf | None:
    """Read an e-NCF, or None where `text` is none: another letter or length, no such type, the number zero."""
    ecf_type = _TYPES.get(text[1:3]) if _E_NCF.fullmatch(text) else None
    if ecf_type is None:
        return None
    number = int(text[3:])
    return ENcf(ecf_type, number) if number else None


#: Which e-CF takes the place of a receipt on paper: the paper's type and the electronic one.
ELECTRONIC_OF_PAPER = {
    "01": EcfType.CREDIT_FISCAL,
    "02": EcfType.CONSUMER,
    "03": EcfType.DEBIT_NOTE,
    "04": EcfType.CREDIT_NOTE,
    "11": EcfType.PURCHASES,
    "13": EcfType.MINOR_EXPENSES,
    "14": EcfType.SPECIAL_REGIME,
    "15": EcfType.GOVERNMENTAL,
    "16": EcfType.EXPORTS,
    "17": EcfType.PAYMENTS_ABROAD,
}


@dataclass(frozen=True, slots=True)
class Referred:
    """A receipt another one refers to, electronic or on paper. `type` is None for paper types without a counterpart."""

    text: str
    electronic: bool
    type: EcfType | None


def referred(text: str) -> Referred | None:
    """Read NCFModificado: an e-NCF (13 characters) or an NCF on paper (11, or 19 until 2018); None when neither."""
    if len(text) == 13:
        electronic = e_ncf(text)
        return None if electronic is None else Referred(text, True, electronic.type)
    match = (_NCF_11 if len(text) == 11 else _NCF_19).fullmatch(text)
    return None if match is None else Referred(text, False, ELECTRONIC_OF_PAPER.get(match[1]))
