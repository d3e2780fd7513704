"""Facts of a receipt that a point of sale prints or shows: total, ITBIS, buyer's name, date of issue."""

from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from fe.ecf.autofill import missing, states_totals
from fe.ecf.catalogue import Root
from fe.ecf.dates import read_day
from fe.ecf.document import Document
from fe.ecf.money import ZERO, cents, number
from fe.ecf.qr_address import Printed
from fe.ecf.reading import Fields, section, text
from fe.ecf.totals import plain_totals, totals_without_rates

#: The format has no longer name; a longer one is refused later, and is not repeated to its client.
_LONGEST_NAME = 150


class FactsToPrint(NamedTuple):
    """Values of the signed XML. None: not known, or the document has none; without TotalITBIS the ITBIS is zero."""

    total: Decimal | None = None
    itbis: Decimal | None = None
    buyer_name: str | None = None
    issued_on: date | None = None


UNKNOWN = FactsToPrint()


def facts_signed(printed: Printed) -> FactsToPrint:
    """Return the facts of a document that is being signed."""
    total = _amount(printed.total)
    return FactsToPrint(
        total=total,
        itbis=None if total is None else _amount(printed.itbis or "0"),
        buyer_name=(printed.buyer_name or "").strip() or None,
        issued_on=read_day(printed.issued),
    )


def facts_before_signing(document: Document) -> FactsToPrint:
    """Return the facts that are certain before a document is completed: the signed XML will have the same ones.

    Not certain are amounts that hang on the rates of additional taxes, and a date that the signer fills in.
    """
    if document.root not in (Root.ECF, Root.RFCE):
        return UNKNOWN
    header = section(document.content, "Encabezado")
    name = text(section(header, "Comprador"), "RazonSocialComprador")
    if name is not None and len(name) > _LONGEST_NAME:
        name = None
    issued = text(section(header, "Emisor"), "FechaEmision")
    total, itbis = _totals_before_signing(document, section(header, "Totales"))
    return FactsToPrint(total, itbis, name, None if issued is None else read_day(issued))


def _totals_before_signing(document: Document, stated: Fields) -> tuple[Decimal | None, Decimal | None]:
    if document.root is Root.ECF and not states_totals(stated):
        if not stated and (plain := plain_totals(document)) is not None:
            return plain
        computed = totals_without_rates(document)
        if computed is None:
            return None, None
        stated = {**computed, **{key: value for key, value in stated.items() if not missing(stated, key)}}
    total = _amount(stated.get("MontoTotal"))
    return (None, None) if total is None else (total, _amount(stated.get("TotalITBIS", ZERO)))


def _amount(value: Any) -> Decimal | None:
    amount = number(value)
    return None if amount is None else cents(amount)
