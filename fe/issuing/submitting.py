"""Intake of a submission, from a program through the API or a person through the portal.

One rule for both: whose RNC it may be issued for, when it is refused, when it is durable, how it is counted.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

import trio

from fe.ecf.catalogue import Environment
from fe.ecf.document import NotADocument
from fe.ecf.problems import Problem
from fe.ecf.taxes import Rates
from fe.identifiers import TenantId
from fe.issuing.accept import Acceptance
from fe.issuing.deferral import KnownDeferrals
from fe.issuing.issuers import EnteredOnPaper, ForbiddenIssuer, ForbiddenSigner, KnownIssuers, signed_for
from fe.issuing.rates import KnownRates
from fe.issuing.validate import Survey, ToValidate, context_of, is_fatal, validate
from fe.monitoring.metrics import Metrics
from fe.monitoring.submission_log import SubmissionLog
from fe.queue.direct_intake import DirectIntake
from fe.store.postgres.db import Database
from fe.store.queue.outbox import Work
from fe.store.queue.wakeups import Wakeups
from fe.store.records import agents, paper, tenant_context
from fe.store.records.submissions import Accepted, NewSubmission
from fe.store.records.tenant_context import TenantContext

#: Documents that are read or validated at once: it is CPU work.
_AT_ONCE = 2


class WouldNotBeSent(Exception):
    """The document would not be sent as it is; `problems` is all that is wrong with it, the gravest first."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems[0].message)
        self.problems = problems


class Submitting:
    """Takes submissions in. One per process, or one per part of it; what it knows of tenants it keeps for seconds."""

    def __init__(
        self,
        db: Database,
        wakeups: Wakeups,
        metrics: Metrics,
        log: SubmissionLog,
        intake: DirectIntake[Work] | None = None,
    ) -> None:
        """Store the parts it works with; `db` may have the rights of the caller's role."""
        self.acceptance = Acceptance(db, wakeups, intake)
        #: Where documents of ordinary size are read and validated.
        self.threads = trio.CapacityLimiter(_AT_ONCE)
        self._db = db
        self._metrics = metrics
        self._log = log
        self._accepted = {
            (environment, form): metrics.accepted.labels(environment, form)
            for environment in Environment
            for form in ("xml", "structured", "signed")
        }
        self._rates = KnownRates(db)
        self._issuers = KnownIssuers(db)
        self._deferrals = KnownDeferrals(db)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Take in for as long as the block runs; at its end, what was handed in before."""
        async with self.acceptance.running():
            yield

    async def validate(
        self, candidate: ToValidate, tenant_id: TenantId, environment: Environment, now: datetime
    ) -> list[Problem]:
        """List everything that is wrong with a document, the gravest first. Raises as `validate` does."""
        rates = await self._rates()
        return await validate(self._db, candidate, tenant_id, environment, now, rates, self._issuers)

    async def context_of(
        self, survey: Survey, tenant_id: TenantId, environment: Environment, now: datetime
    ) -> tuple[TenantContext, Rates]:
        """Look up what validating a document needs. Raises ForbiddenIssuer."""
        rates = await self._rates()
        return await context_of(self._db, survey, tenant_id, environment, now, self._issuers), rates

    async def is_known(self, new: NewSubmission) -> bool:
        """Return whether its clientRequestId was used before. Only the accepting transaction decides who is first."""
        return new.client_request_id is not None and await self._db.run_for(
            new.tenant_id, tenant_context.is_known_request, new.environment, new.client_request_id
        )

    async def require_permission(self, new: NewSubmission) -> None:
        """Refuse a document that is signed for another tenant's RNC without that tenant's permission.

        Refuse one that is to be sent later, without an authorisation of deferred sending. Raises NotADocument.
        A repeat of an accepted submission passes, also after the permission was withdrawn: its client gets the first
        answer again. So is one with a signature of its own, made with no certificate of an agent of the tenant.
        So is one that replaces a paper receipt that is entered here. Raises ForbiddenIssuer.
        """
        try:
            await self._require_not_on_paper(new)
            if new.signed_with is not None and not await self._db.run_for(
                new.tenant_id, agents.knows_certificate, new.environment, new.signed_with
            ):
                raise ForbiddenSigner(new.signed_with)
            await self._issuers.require(new.tenant_id, new.root, signed_for(new.root, new.issuer_rnc, new.buyer_rnc))
            if new.deferred_at is not None:
                problem = await self._deferrals.problem(new.tenant_id, new.environment, new.deferred_at)
                if problem is not None:
                    raise NotADocument((problem,))
        except (ForbiddenIssuer, NotADocument):
            if not await self.is_known(new):
                raise

    async def _require_not_on_paper(self, new: NewSubmission) -> None:
        """Refuse one that replaces a paper receipt that is entered; note one whose receipt may be entered later."""
        if new.replaces_ncf is None or await self.is_known(new):
            return
        of = new.environment, new.replaces_ncf
        if await self._db.run_for(new.tenant_id, paper.replaced_with, new.environment, new.client_request_id):
            return
        # The note is there before the look, and the receipt before its look at the notes: one of both sees the other.
        await self._db.run_for(new.tenant_id, paper.refer, *of, new.submission_id)
        if await self._db.run_for(new.tenant_id, paper.is_entered, *of, new.client_request_id):
            await self._db.run_for(new.tenant_id, paper.forget_reference, *of, new.submission_id)
            raise EnteredOnPaper(new.replaces_ncf)

    async def require_sendable(self, new: NewSubmission, candidate: ToValidate, now: datetime) -> list[Problem]:
        """Do at once what the signer would do later, and give the remarks; a repeat is not validated again.

        Raises WouldNotBeSent.
        """
        if await self.is_known(new):
            return []
        problems = await self.validate(candidate, new.tenant_id, new.environment, now)
        if is_fatal(problems):
            # Two at once: the first was taken in while this one was looked at, and has its number now.
            if await self.is_known(new):
                return []
            raise WouldNotBeSent(problems)
        return problems

    def note(self, accepted: Accepted, new: NewSubmission, request_id: str, trace_id: str | None = None) -> None:
        """Count and tell that one was taken in, or was known."""
        if accepted.outcome == "deduped":
            self._metrics.deduped.labels("same" if accepted.body_matched else "different").inc()
            self._log.info(
                "a submission was handed in again", accepted.submission_id, request_id=request_id, trace_id=trace_id
            )
            return
        self._accepted[new.environment, new.format].inc()
        self._log.info(
            "a submission was accepted",
            accepted.submission_id,
            request_id=request_id,
            tenant_id=new.tenant_id,
            environment=new.environment,
            trace_id=trace_id,
        )
