"""Remarks on a document as it was handed in: the rules see it only after what it leaves out was filled in."""

from datetime import datetime
from operator import methodcaller

from fe.ecf.autofill import missing
from fe.ecf.catalogue import EcfType, Root
from fe.ecf.dates import local
from fe.ecf.document import Document
from fe.ecf.problems import Problem
from fe.ecf.reading import rows, section
from fe.ecf.rules.case import day_in, found_by_rule
from fe.ecf.rules.header import is_long_past
from fe.ecf.rules.lines import INDICATORS_OF
from fe.ecf.taxes import EXEMPT

_INDICATOR = methodcaller("get", "IndicadorFacturacion")


def assumptions(document: Document) -> list[Problem]:
    """Return the remarks on a document as it was handed in, before anything is filled in.

    A line without IndicadorFacturacion is taken for exempt (interface.md#structured). Types whose lines cannot be taxed
    get no remark.
    """
    if document.root is not Root.ECF or document.type is None or not may_be_taxed(document.type):
        return []
    items = rows(document.content, "DetallesItems", "Item")
    if all(map(_INDICATOR, items)):
        return []
    silent = [place for place, item in enumerate(items, 1) if missing(item, "IndicadorFacturacion")]
    if not silent:
        return []
    path = f"DetallesItems.Item[{silent[0]}].IndicadorFacturacion"
    return [found_by_rule("exempt-assumed", path, expected="1, 2, 3, 4", lines=len(silent))]


def may_be_taxed(ecf_type: EcfType) -> bool:
    """Return whether lines of this type may bear ITBIS, so that one without IndicadorFacturacion gets a remark."""
    return bool(INDICATORS_OF[ecf_type] - {0, EXEMPT})


def of_the_issue_date(document: Document, now: datetime) -> list[Problem]:
    """Remark on a date of issue that is long past at `now` (with its zone)."""
    if document.root is not Root.ECF:
        return []
    issuer = section(section(document.content, "Encabezado"), "Emisor")
    issued = day_in(issuer, "FechaEmision")
    if issued is None or not is_long_past(issued, local(now).date()):
        return []
    return [found_by_rule("issue-date-past", "Encabezado.Emisor.FechaEmision", found=issuer["FechaEmision"])]
