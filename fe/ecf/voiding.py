"""Voiding of number ranges: ranges, the ANECF, and the numbers that the authority leaves out (authority.md#voiding)."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from lxml import etree

from fe.ecf.build import build
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.dates import show_moment
from fe.ecf.document import Document
from fe.ecf.texts import LocalizedError, Text

#: Types and ranges of a type in one ANECF. The authority's text says 8 types, its XSD 10.
MOST_TYPES = 8
MOST_RANGES = 10_000
_LARGEST = 9_999_999_999

#: Reasons of voiding, as the authority's format 608 numbers them.
REASONS: dict[int, Text] = {
    1: Text("Damaged pre-printed invoice", "Deterioro de factura preimpresa"),
    2: Text("Printing error (pre-printed invoice)", "Errores de impresión (factura preimpresa)"),
    3: Text("Defective print", "Impresión defectuosa"),
    4: Text("Correction of the information", "Corrección de la información"),
    5: Text("Exchange of products", "Cambio de productos"),
    6: Text("Return of products", "Devolución de productos"),
    7: Text("Products left out", "Omisión de productos"),
    8: Text("Errors in the number sequence", "Errores en secuencia de NCF"),
}

_NUMBER = re.compile(r"E[0-9]{12}")
#: Numbers and nothing else, as the authority lists those that it leaves out.
_ONLY_NUMBERS = re.compile(r"\s*E[0-9]{12}(?:[\s,;]+E[0-9]{12})*[\s.]*")


class BadRanges(LocalizedError):
    """Ranges that no ANECF can have."""


@dataclass(frozen=True, slots=True, order=True)
class NumberRange:
    """Numbers of one type, both ends included."""

    type: EcfType
    first: int
    last: int

    @property
    def count(self) -> int:
        """How many numbers."""
        return self.last - self.first + 1

    @property
    def prefix(self) -> str:
        """The prefix of its numbers."""
        return self.type.prefix

    @property
    def first_e_ncf(self) -> str:
        """The first number as documents write it."""
        return f"{self.prefix}{self.first:010d}"

    @property
    def last_e_ncf(self) -> str:
        """The last number as documents write it."""
        return f"{self.prefix}{self.last:010d}"

    def has(self, e_ncf: str) -> bool:
        """Whether a number is one of them."""
        return self.first_e_ncf <= e_ncf <= self.last_e_ncf


def in_order(ranges: Iterable[NumberRange]) -> Sequence[NumberRange]:
    """Sort ranges and join those that follow each other. Raises BadRanges."""
    joined: list[NumberRange] = []
    for one in sorted(ranges):
        if not 1 <= one.first <= one.last <= _LARGEST:
            raise BadRanges(
                Text(
                    f"{one.prefix}: a range goes from a number to the same or a higher one, from 1 to {_LARGEST}",
                    f"{one.prefix}: un rango va de un número al mismo o a uno mayor, de 1 a {_LARGEST}",
                )
            )
        before = joined[-1] if joined and joined[-1].type is one.type else None
        if before is not None and one.first <= before.last:
            raise BadRanges(
                Text(f"{one.first_e_ncf} is in two ranges", f"{one.first_e_ncf} está en dos rangos"),
            )
        if before is not None and one.first == before.last + 1:
            joined[-1] = NumberRange(one.type, before.first, one.last)
        else:
            joined.append(one)
    sizes = [len(list(of_type)) for _, of_type in groupby(joined, lambda one: one.type)]
    if not sizes or len(sizes) > MOST_TYPES or max(sizes) > MOST_RANGES:
        raise BadRanges(
            Text(
                f"one voiding has at least one range, at most {MOST_TYPES} types, and {MOST_RANGES} ranges of a type",
                f"una anulación tiene de 1 a {MOST_TYPES} tipos, y {MOST_RANGES} rangos por tipo como máximo",
            )
        )
    return joined


def anecf(issuer_rnc: str, ranges: Sequence[NumberRange], now: datetime) -> etree._Element:
    """Build the ANECF of ranges that are `in_order`, unsigned."""
    blocks = []
    for line, (ecf_type, found) in enumerate(groupby(ranges, lambda one: one.type), 1):
        of_type = list(found)
        blocks.append(
            {
                "NoLinea": line,
                "TipoeCF": ecf_type.value,
                "TablaRangoSecuenciasAnuladaseNCF": {
                    "Secuencias": [
                        {"SecuenciaeNCFDesde": one.first_e_ncf, "SecuenciaeNCFHasta": one.last_e_ncf} for one in of_type
                    ]
                },
                "CantidadeNCFAnulados": sum(one.count for one in of_type),
            }
        )
    content = {
        "Encabezado": {
            "Version": "1.0",
            "RncEmisor": issuer_rnc,
            "CantidadeNCFAnulados": sum(one.count for one in ranges),
            "FechaHoraAnulacioneNCF": show_moment(now),
        },
        "DetalleAnulacion": {"Anulacion": blocks},
    }
    return build(Document(Root.ANECF, None, content))


def left_out(messages: Iterable[str], ranges: Sequence[NumberRange]) -> Sequence[str] | None:
    """Return the numbers that the authority's messages leave out of the ranges.

    None where a message has other words, or names a number that was not asked: a person has to read it.
    """
    found: set[str] = set()
    for message in messages:
        if not message.strip():
            continue
        if not _ONLY_NUMBERS.fullmatch(message):
            return None
        found.update(_NUMBER.findall(message))
    if any(not any(one.has(e_ncf) for one in ranges) for e_ncf in found):
        return None
    return sorted(found)


def without(ranges: Sequence[NumberRange], numbers: Sequence[str]) -> Sequence[NumberRange]:
    """Take numbers out of ranges."""
    kept: list[NumberRange] = []
    for one in ranges:
        first = one.first
        for number in sorted(int(e_ncf[3:]) for e_ncf in numbers if one.has(e_ncf)):
            if first < number:
                kept.append(NumberRange(one.type, first, number - 1))
            first = number + 1
        if first <= one.last:
            kept.append(NumberRange(one.type, first, one.last))
    return kept
