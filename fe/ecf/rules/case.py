"""The document under examination: what several rules ask of it, read once, and the problems found so far."""

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from fe.ecf.catalogue import EcfType
from fe.ecf.dates import local, read_day
from fe.ecf.document import Document
from fe.ecf.money import number
from fe.ecf.problems import Problem, show
from fe.ecf.reading import Fields, rows, section, text
from fe.ecf.rules.rule import RULES
from fe.ecf.taxes import Rates


class Examination:
    """One document and the moment it is validated at. `now` must know its zone (ValueError)."""

    __slots__ = (
        "buyer",
        "content",
        "e_ncf",
        "header",
        "id_doc",
        "issued",
        "issuer",
        "items",
        "now",
        "problems",
        "rates",
        "today",
        "tolerance",
        "total",
        "totals",
        "type",
    )

    def __init__(self, document: Document, now: datetime, rates: Rates) -> None:
        self.content = document.content
        self.type: EcfType | None = document.type
        self.header = section(document.content, "Encabezado")
        self.id_doc = section(self.header, "IdDoc")
        self.issuer = section(self.header, "Emisor")
        self.buyer = section(self.header, "Comprador")
        self.totals = section(self.header, "Totales")
        self.items = rows(document.content, "DetallesItems", "Item")
        self.now = local(now)
        self.today: date = self.now.date()
        self.rates = rates
        self.e_ncf = text(self.id_doc, "eNCF")
        self.issued = day_in(self.issuer, "FechaEmision")
        self.total = number(self.totals.get("MontoTotal"))
        #: On header amounts: one peso a line.
        self.tolerance = Decimal(len(self.items) or 1)
        self.problems: list[Problem] = []

    @property
    def day(self) -> date:
        """The day that decides rates and thresholds: FechaEmision, or today where it cannot be read."""
        return self.issued or self.today

    def report(self, code: str, path: str, *, found: Any = None, expected: object = None, **words: object) -> None:
        """Book a problem. `found` is None where nothing was there."""
        self.problems.append(found_by_rule(code, path, found=found, expected=expected, **words))

    def differs(self, sent: Decimal, expected: Decimal, tolerance: Decimal) -> bool:
        """Whether an amount is further from what it should be than the tolerance."""
        return not -tolerance <= sent - expected <= tolerance


def day_in(fields: Fields, name: str) -> date | None:
    """Read a date of the document; None where it is absent or there is no such day."""
    written = text(fields, name)
    return read_day(written) if written else None


def found_by_rule(code: str, path: str, *, found: object = None, expected: object = None, **words: object) -> Problem:
    """Make the problem of a rule; `words` fill in its texts."""
    rule = RULES[code]
    return Problem(
        code=code,
        path=path,
        message=rule.message.format_map(words) if words else rule.message,
        message_es=rule.message_es.format_map(words) if words else rule.message_es,
        found=None if found is None else show(found),
        expected=None if expected is None else str(expected),
        fix=rule.fix,
        fix_es=rule.fix_es,
        severity=rule.severity,
    )
