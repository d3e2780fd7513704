"""Validating a document before it is handed in: everything that is wrong with it, and nothing is kept.

It goes the way of signing, with the tenant's own data and the number it would get.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from typing import Protocol

import trio

from fe.catalogue.taxpayers import remarks_on
from fe.ecf.catalogue import EcfType, Environment, Root
from fe.ecf.dates import last_day, local, read_day, show_day
from fe.ecf.document import Document, NotADocument
from fe.ecf.modified import NOTES, ModifiedReceipt, number_modified_by, read_receipt, total_in
from fe.ecf.money import ZERO, exact
from fe.ecf.money import number as amount_of
from fe.ecf.problems import Problem, Severity
from fe.ecf.reading import text
from fe.ecf.schema.messages import problem
from fe.ecf.summary import takes_summary
from fe.ecf.taxes import RATES, Rates
from fe.identifiers import TenantId, UserId
from fe.issuing.certificate_choice import NoCertificate, choose_certificate
from fe.issuing.deferral import is_deferred, signed_before
from fe.issuing.issuers import SIGNER_PATH, KnownIssuers, signed_for
from fe.issuing.messages import (
    credited_too_much,
    deferral_not_authorised,
    foreign_issuer,
    goes_out_whole,
    modified_not_accepted,
    modified_of_another_buyer,
    modified_on_another_day,
    no_certificate,
    number_voided,
    of_the_sequence,
    unknown_sequence,
    unknown_user,
)
from fe.issuing.prepare import Draft, prefix_to_draw, prepare
from fe.lifecycle import Status
from fe.store.postgres.db import Database
from fe.store.queue.inputs import Candidate
from fe.store.records import modes, taxpayers, tenant_context
from fe.store.records.issuers import Standing
from fe.store.records.numbers import NumberUse
from fe.store.records.tenant_context import TenantContext

_ACCEPTED = frozenset({Status.ACCEPTED, Status.CONDITIONAL})

#: As many problems as an answer names, the gravest; then comes one that says there are more.
MAX_PROBLEMS = 1000


@dataclass(frozen=True, slots=True)
class Survey:
    """Records looked up for a document: the RNC it is signed for, its number, and the requested signer."""

    root: Root
    signed_for: str | None
    issued_number: str | None
    #: Number of the receipt it refers to, if that has the same issuer.
    modified_number: str | None
    as_user: str | None
    as_user_id: UserId | None
    #: For which moment it is to be validated, in a sandbox; None for now.
    simulated_now: datetime | None = None
    buyer_rnc: str | None = None
    buyer_name: str | None = None
    is_deferred: bool = False
    #: FechaHoraFirma, if it keeps its signature.
    signed_at: datetime | None = None

    @classmethod
    def of(cls, draft: Draft, document: Document) -> "Survey":
        """Take it from a document that was read from `draft`."""
        return cls(
            document.root,
            signed_for(document.root, document.issuer_rnc, document.buyer_rnc),
            document.issued_number,
            number_modified_by(document),
            draft.as_user,
            draft.as_user_id,
            draft.simulated_now,
            document.buyer_rnc if document.root is Root.ECF else None,
            text(document.get("Encabezado.Comprador") or {}, "RazonSocialComprador"),
            is_deferred(document),
            signed_before(draft.format, document),
        )


class ToValidate(Protocol):
    """A document that is validated, wherever that is done."""

    async def survey(self) -> Survey:
        """Read it. Raises NotADocument, or Malformed when it cannot be parsed."""

    async def problems(self, known: TenantContext, now: datetime, rates: Rates) -> list[Problem]:
        """Find what is wrong with it, as `find_problems` does; after `survey`."""


class DraftInThreads:
    """A draft of ordinary size: read and validated in threads of this process."""

    def __init__(self, draft: Draft, threads: trio.CapacityLimiter) -> None:
        self._draft = draft
        self._threads = threads
        self._document: Document | None = None
        #: As it would be signed, once its problems were looked for.
        self.completed: Document | None = None

    async def survey(self) -> Survey:
        """Read it."""
        self._document = await trio.to_thread.run_sync(self._draft.read, limiter=self._threads)
        return Survey.of(self._draft, self._document)

    async def problems(self, known: TenantContext, now: datetime, rates: Rates) -> list[Problem]:
        """Validate what was read."""
        assert self._document is not None
        work = partial(examine, self._draft, self._document, known, now, rates)
        self.completed, problems = await trio.to_thread.run_sync(work, limiter=self._threads)
        return problems


async def validate(
    db: Database,
    candidate: ToValidate,
    tenant_id: TenantId,
    environment: Environment,
    now: datetime,
    rates: Rates,
    issuers: KnownIssuers,
) -> list[Problem]:
    """List everything that is wrong with a document of this tenant, the gravest first.

    An empty list, or one of conditional remarks alone, means that it would be signed and sent, if there is a
    certificate. Raises MalformedXml when the XML cannot be parsed, and ForbiddenIssuer.

    Of a document that is validated for another moment than `now` the certificates are looked at, too; that is a
    sandbox's, and the caller sees to it.
    """
    try:
        survey = await candidate.survey()
    except NotADocument as error:
        return list(error.problems)
    if survey.simulated_now is not None:
        now = survey.simulated_now
    known = await context_of(db, survey, tenant_id, environment, now, issuers)
    problems = await candidate.problems(known, now, rates)
    problems += await _of_the_register(db, survey)
    if survey.simulated_now is None:
        return problems
    candidates = await db.run_for(tenant_id, tenant_context.candidates)
    return [*_of_the_certificate(candidates, survey, now), *problems]


async def context_of(
    db: Database, survey: Survey, tenant_id: TenantId, environment: Environment, now: datetime, issuers: KnownIssuers
) -> TenantContext:
    """Look up what validating a document needs of the tenant's records. Raises ForbiddenIssuer."""
    standing = await issuers.require(tenant_id, survey.root, survey.signed_for)
    known = await db.run_for(
        tenant_id,
        tenant_context.tenant_context,
        environment,
        survey.as_user_id,
        survey.as_user,
        survey.issued_number,
        now,
        survey.modified_number,
    )
    if standing is Standing.RECORDED:
        known = replace(known, own_rncs=known.own_rncs | {str(survey.signed_for)})
    if survey.is_deferred:
        period = await db.run_for(tenant_id, modes.deferral, environment, survey.signed_at or now)
        known = replace(known, may_defer=period is not None)
    return known


async def _of_the_register(db: Database, survey: Survey) -> list[Problem]:
    """Compare the buyer with the authority's register, where there is one."""
    found = None if survey.buyer_rnc is None else await db.run(taxpayers.find, survey.buyer_rnc)
    return [] if found is None else list(remarks_on(found, survey.buyer_name))


def _of_the_certificate(candidates: Sequence[Candidate], asked: Survey | Draft, now: datetime) -> Iterator[Problem]:
    """Say what the signer would say at that moment, by the very rule that it chooses by."""
    try:
        choose_certificate(candidates, as_user=asked.as_user, as_user_id=asked.as_user_id, now=now)
    except NoCertificate as missing:
        yield no_certificate(missing.text)


async def unsigned(db: Database, tenant_id: TenantId, draft: Draft, now: datetime) -> Problem | None:
    """Say what the signer would say now: that no certificate may sign; None where one may."""
    known = await db.run_for(tenant_id, tenant_context.candidates)
    return next(_of_the_certificate(known, draft, now), None)


def find_problems(
    draft: Draft, document: Document, known: TenantContext, now: datetime, rates: Rates = RATES
) -> list[Problem]:
    """List what is wrong with a document that was read from `draft`; CPU work only, safe in a thread."""
    return examine(draft, document, known, now, rates)[1]


def examine(
    draft: Draft, document: Document, known: TenantContext, now: datetime, rates: Rates = RATES
) -> tuple[Document, list[Problem]]:
    """Do the same, and give the document as it would be signed, too: numbered, and completed as far as can be."""
    prefix = prefix_to_draw(draft.format, document)
    drawn = None if prefix is None else known.sequence_of(prefix, draft.sequence)
    today = local(now).date()
    ends = known.expiries.get(drawn or _prefix(document))
    until = last_day(ends) if ends is not None else None
    number = known.next_numbers.get(drawn) if drawn is not None else None
    if number is not None and until is not None and until < today:
        number = None  # nothing is drawn from a sequence that has ended
    receipt = _receipt_of(document, known)
    prepared = prepare(
        document,
        number=f"{prefix}{number:010}" if number is not None else None,
        issuer=known.issuer,
        last_day=until,
        holders=known.holders,
        now=now,
        rates=rates,
        modified=receipt,
    )
    made = prepared.document
    problems = [
        *draft.remarks,
        *_of_its_number(document, known),
        *_of_the_user(draft, known),
        *_of_its_sequence(draft, prefix, known),
        *prepared.problems,
        *_of_the_issuer(made, known),
        *_of_the_modified(made, known),
        *_of_the_note(made, known, receipt),
        *_of_the_way(made, known, today),
        *_of_its_deferral(draft, document, known, now),
    ]
    problems.sort(key=lambda one: one.severity is not Severity.REJECTED)
    if len(problems) > MAX_PROBLEMS:
        more = replace(problem("more-problems", ""), severity=problems[MAX_PROBLEMS].severity)
        problems = [*problems[:MAX_PROBLEMS], more]
    return made, problems


def is_fatal(problems: list[Problem]) -> bool:
    """Return whether the document would not be sent."""
    return any(problem.severity is Severity.REJECTED for problem in problems)


def _prefix(document: Document) -> str:
    number = document.issued_number
    if number is not None:
        return number[:3]
    return document.type.prefix if document.type is not None else ""


def _of_its_number(document: Document, known: TenantContext) -> Iterator[Problem]:
    if document.issued_number is not None and known.voiding is not None:
        yield number_voided(document.issued_number, known.voiding)


def _of_the_user(draft: Draft, known: TenantContext) -> Iterator[Problem]:
    if known.user_is_known:
        return
    if draft.as_user_id is not None:
        yield unknown_user("asUserId", str(draft.as_user_id))
    elif draft.as_user is not None:
        yield unknown_user("asUser", draft.as_user)


def _of_its_sequence(draft: Draft, prefix: str | None, known: TenantContext) -> Iterator[Problem]:
    yield from of_the_sequence(draft.sequence, prefix)
    if draft.sequence is not None and prefix is not None and draft.sequence not in known.names_of(prefix):
        yield unknown_sequence(prefix, draft.sequence, known.names_of(prefix))


def _of_the_issuer(document: Document, known: TenantContext) -> Iterator[Problem]:
    path = SIGNER_PATH.get(document.root)
    rnc = signed_for(document.root, document.issuer_rnc, document.buyer_rnc)
    if path is not None and rnc is not None and rnc not in known.own_rncs:
        yield foreign_issuer(document.root, path, rnc, ", ".join(sorted(known.own_rncs)))


def _of_the_modified(document: Document, known: TenantContext) -> Iterator[Problem]:
    """Whether the modified receipt has no final status yet, or was not issued here."""
    of_the_issuer = _of_its_issuer(document, known, notes=False)
    ended_badly = {Status.REJECTED, Status.ERROR}
    if of_the_issuer and all(one.status in ended_badly for one in of_the_issuer):
        last = max(of_the_issuer, key=lambda one: one.submission_id)
        yield modified_not_accepted(str(number_modified_by(document)), last.submission_id, last.status)


def _of_its_issuer(document: Document, known: TenantContext, *, notes: bool) -> list[NumberUse]:
    """The submissions of the document's issuer that have the number it refers to; or the credit notes on that."""
    issuer = document.issuer_rnc or known.issuer.get("RNCEmisor")
    return [one for one in known.modified if one.is_note is notes and one.issuer_rnc in (None, issuer)]


def _receipt_of(document: Document, known: TenantContext) -> ModifiedReceipt | None:
    """Read the receipt that a document refers to: the accepted one, else the last."""
    uses = [one for one in _of_its_issuer(document, known, notes=False) if one.signed is not None]
    best = max(uses, key=lambda one: (one.status in _ACCEPTED, one.submission_id), default=None)
    return None if best is None or best.signed is None else read_receipt(best.signed)


def _of_the_note(document: Document, known: TenantContext, receipt: ModifiedReceipt | None) -> Iterator[Problem]:
    """Compare a note with the receipt that it modifies."""
    if receipt is None or document.type not in NOTES:
        return
    reference = document.get("InformacionReferencia")
    dated = text(reference, "FechaNCFModificado")
    if dated is not None and receipt.issued is not None and read_day(dated) not in (None, receipt.issued):
        yield modified_on_another_day(dated, show_day(receipt.issued))
    buyer = document.get("Encabezado.Comprador") or {}
    named = text(buyer, "RNCComprador") or text(buyer, "IdentificadorExtranjero")
    if named is not None and receipt.buyer_id not in (None, named):
        yield modified_of_another_buyer(named, str(receipt.buyer_id))
    total = amount_of(document.get("Encabezado.Totales.MontoTotal"))
    if document.type is EcfType.CREDIT_NOTE and total and receipt.total is not None:
        with exact():
            before = sum(
                (total_in(one.signed) for one in _of_its_issuer(document, known, notes=True) if one.signed is not None),
                ZERO,
            )
            if before + total > receipt.total:
                yield credited_too_much(total, before, receipt.total)


def _of_its_deferral(draft: Draft, document: Document, known: TenantContext, now: datetime) -> Iterator[Problem]:
    if is_deferred(document) and not known.may_defer:
        yield deferral_not_authorised(local(signed_before(draft.format, document) or now).date())


def _of_the_way(document: Document, known: TenantContext, today: date) -> Iterator[Problem]:
    """The authority takes nothing but the summary of a small consumer invoice (authority.md#routing)."""
    if known.consumer_summary != "automatic" and takes_summary(document, on=today):
        yield goes_out_whole(document)
