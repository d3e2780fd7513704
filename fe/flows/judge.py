"""Judging a document before it is handed in: everything that is wrong with it, and nothing is kept.

The same completion and the same rules as when it is signed, with the tenant's own data and the number it would get.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fe.ecf.autofill import autofill
from fe.ecf.build import build
from fe.ecf.catalogue import Environment, Root
from fe.ecf.document import Document, NotADocument, read_payload
from fe.ecf.finished import read_finished
from fe.ecf.problems import Problem, Severity
from fe.ecf.rules import check
from fe.ecf.taxes import RATES, Rates
from fe.flows.accept import Draft
from fe.flows.signing import SANTO_DOMINGO
from fe.store import judging
from fe.store.db import Database
from fe.store.judging import Background


async def background(db: Database, tenant_id: int, environment: Environment, draft: Draft) -> Background:
    """Fetch what completing a document of this tenant needs."""
    return await db.run_for(tenant_id, judging.background, environment, draft.as_user_id, draft.as_user)


def judge(draft: Draft, known: Background, now: datetime, rates: Rates = RATES) -> list[Problem]:
    """List everything that is wrong, the gravest first; CPU work only, safe in a thread.

    An empty list, or one of conditional remarks alone, means that it would be signed and sent. Raises MalformedXml when
    the XML cannot be parsed.
    """
    local = now.astimezone(SANTO_DOMINGO)
    try:
        document = _read(draft, known)
        prefix = document.type.prefix if document.type is not None else ""
        expires = known.expiries.get(prefix)
        expiry = expires.astimezone(SANTO_DOMINGO).date() if expires is not None else None
        document = autofill(document, issuer=known.issuer, expiry=expiry, now=local, rates=rates)
        element = build(document)
    except NotADocument as error:
        return list(error.problems)
    found = check(document, now=local, element=element, rates=rates)
    return sorted(found, key=lambda problem: problem.severity is not Severity.REJECTED)


def is_fatal(problems: list[Problem]) -> bool:
    """Tell whether the document would not be sent."""
    return any(problem.severity is Severity.REJECTED for problem in problems)


def _read(draft: Draft, known: Background) -> Document:
    if draft.format == "xml":
        assert draft.xml is not None
        return read_finished(draft.xml.encode())
    assert draft.payload is not None
    document = read_payload(draft.payload)
    if document.root is not Root.ECF or document.e_ncf is not None or document.type is None:
        return document
    return read_payload(_with_next_number(document, known))


def _with_next_number(document: Document, known: Background) -> Mapping[str, Any]:
    """The document with the number it would draw; a prefix without a sequence gets none, and the rules will say so."""
    assert document.type is not None
    number = known.next_numbers.get(document.type.prefix)
    head = document.content["Encabezado"]
    numbered = {} if number is None else {"eNCF": f"{document.type.prefix}{number:010}"}
    return {**document.content, "Encabezado": {**head, "IdDoc": {**head.get("IdDoc", {}), **numbered}}}
