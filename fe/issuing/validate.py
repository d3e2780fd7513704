"""Validating a document before it is handed in: everything that is wrong with it, and nothing is kept.

It goes the way of signing, with the tenant's own data and the number it would get.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

import trio

from fe.ecf.catalogue import Environment
from fe.ecf.dates import last_day, local
from fe.ecf.document import Document, NotADocument
from fe.ecf.problems import Problem, Severity
from fe.ecf.taxes import RATES, Rates
from fe.identifiers import TenantId
from fe.issuing.issuers import ISSUER_PATH, KnownIssuers
from fe.issuing.messages import foreign_issuer, unknown_user
from fe.issuing.prepare import Draft, prefix_to_draw, prepare
from fe.store import tenant_context
from fe.store.issuers import Standing
from fe.store.postgres.db import Database
from fe.store.tenant_context import TenantContext


async def validate(
    db: Database,
    threads: trio.CapacityLimiter,
    draft: Draft,
    tenant_id: TenantId,
    environment: Environment,
    now: datetime,
    rates: Rates,
    issuers: KnownIssuers,
) -> list[Problem]:
    """List everything that is wrong with a draft of this tenant, the gravest first.

    An empty list, or one of conditional remarks alone, means that it would be signed and sent, if there is a
    certificate. Raises MalformedXml when the XML cannot be parsed, and ForbiddenIssuer.
    """
    try:
        document = await trio.to_thread.run_sync(draft.read, limiter=threads)
    except NotADocument as error:
        return list(error.problems)
    standing = await issuers.require(tenant_id, document.root, document.issuer_rnc)
    known = await db.run_for(
        tenant_id,
        tenant_context.tenant_context,
        environment,
        draft.as_user_id,
        draft.as_user,
        document.issued_number,
        now,
    )
    if standing is Standing.RECORDED:
        known = replace(known, own_rncs=known.own_rncs | {str(document.issuer_rnc)})
    return await trio.to_thread.run_sync(find_problems, draft, document, known, now, rates, limiter=threads)


def find_problems(
    draft: Draft, document: Document, known: TenantContext, now: datetime, rates: Rates = RATES
) -> list[Problem]:
    """List what is wrong with a document that was read from `draft`; CPU work only, safe in a thread."""
    drawn = prefix_to_draw(draft.format, document)
    today = local(now).date()
    ends = known.expiries.get(_prefix(document))
    until = last_day(ends) if ends is not None else None
    number = known.next_numbers.get(drawn) if drawn is not None else None
    if number is not None and until is not None and until < today:
        number = None  # nothing is drawn from a sequence that has ended
    prepared = prepare(
        document,
        number=f"{drawn}{number:010}" if number is not None else None,
        issuer=known.issuer,
        last_day=until,
        holders=known.holders,
        now=now,
        rates=rates,
    )
    problems = [*_of_the_user(draft, known), *prepared.problems, *_of_the_issuer(prepared.document, known)]
    return sorted(problems, key=lambda problem: problem.severity is not Severity.REJECTED)


def is_fatal(problems: list[Problem]) -> bool:
    """Tell whether the document would not be sent."""
    return any(problem.severity is Severity.REJECTED for problem in problems)


def _prefix(document: Document) -> str:
    number = document.issued_number
    if number is not None:
        return number[:3]
    return document.type.prefix if document.type is not None else ""


def _of_the_user(draft: Draft, known: TenantContext) -> Iterator[Problem]:
    if known.user_is_known:
        return
    if draft.as_user_id is not None:
        yield unknown_user("asUserId", str(draft.as_user_id))
    elif draft.as_user is not None:
        yield unknown_user("asUser", draft.as_user)


def _of_the_issuer(document: Document, known: TenantContext) -> Iterator[Problem]:
    path = ISSUER_PATH.get(document.root)
    rnc = document.issuer_rnc
    if path is not None and rnc is not None and rnc not in known.own_rncs:
        yield foreign_issuer(path, rnc, ", ".join(sorted(known.own_rncs)))
