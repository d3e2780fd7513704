"""The 608: numbers that became void in a month, as the tax authority's file has them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from fe.month.period import YearMonth

#: Numbers of one file, a line each.
MOST_NUMBERS = 10_000


@dataclass(frozen=True, slots=True)
class VoidedNumber:
    """A void number, the day on which it became void, and the reason (`fe.ecf.voiding.REASONS`)."""

    e_ncf: str
    voided_on: date
    reason: int


def file_608(rnc: str, month: YearMonth, numbers: Sequence[VoidedNumber]) -> bytes:
    """Write the file: a head and the numbers, CRLF between lines and none at the end."""
    rows = [(one.e_ncf, f"{one.voided_on:%Y%m%d}", str(one.reason)) for one in numbers]
    lines = [("608", rnc, month.compact, str(len(rows))), *rows]
    return "\r\n".join("|".join(fields) for fields in lines).encode("ascii")


def name_608(rnc: str, month: YearMonth) -> str:
    """Name the file as the authority does."""
    return f"DGII_F_608_{rnc}_{month.compact}.TXT"
