"""Receive a document from a supplier: assess, sign the acknowledgement, store both, and only then answer.

The acknowledgement is signed before the transaction and stored in it, beside the document. So every acknowledgement of
a signed document is stored, the same bytes get the stored one again, and of two documents with one number the unique
key decides. No transaction is open while a signature is made or verified.

Bytes without a good signature leave no row: any stranger can make any number of them, and those rows would never be
deleted. They are assessed and refused each time.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from hashlib import sha256
from typing import Protocol, TypeVar
from uuid import UUID

import structlog
import trio

from fe.clock import ClockFault, no_fault
from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.ecf.signature import Signer
from fe.identifiers import CertificateId, TenantId
from fe.process import failpoints
from fe.receiving.assess import AckReason, ApprovalRefused, Assessment, Trust, acknowledgement, assess, assess_approval
from fe.store.postgres.db import Database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.records import buyer_approvals, certificates, received, received_sums
from fe.store.records.received import ReceivedFacts, Said
from fe.store.records.receivers import Receiver

T = TypeVar("T")

_log = structlog.get_logger(__name__)


class CannotAcknowledge(Exception):
    """The receiver has no certificate to sign with, or our clock is wrong; the message is for our log only."""


class Signers(Protocol):
    """Gives what signs with a tenant's certificate; raises CannotAcknowledge when it cannot be opened."""

    async def __call__(self, tenant_id: TenantId, certificate_id: CertificateId) -> Signer:
        """Open the certificate, or take it from a cache."""


@dataclass(frozen=True, slots=True)
class Reception:
    """Context of receiving. `threads` bounds the CPU work for strangers."""

    db: Database
    signers: Signers
    trust: Trust
    threads: trio.CapacityLimiter
    #: Told of each acknowledgement that was made, with its environment; must not raise.
    count: Callable[[Environment, AckReason], None] = lambda _environment, _reason: None
    #: Why this process must not sign now, if so: acknowledgements carry the time, and certificates are judged by it.
    clock_fault: ClockFault = no_fault

    async def receive(self, receiver: Receiver, raw: bytes, presenter: str | None, now: datetime) -> bytes:
        """Return the signed acknowledgement of `raw`; it is stored, and so is what it says was received.

        Of bytes that no good signature vouches for (reasons 1 and 2) nothing is stored: the same bytes get the same
        answer, with the time of the day.

        Raises MalformedXml or NothingToAnswer when there is nothing to acknowledge, CannotAcknowledge, or
        DatabaseUnavailable: then nothing was said, and the sender sends again. Cancelled before the commit nothing has
        happened; after it the same bytes get the same acknowledgement.
        """
        digest = sha256(raw).digest()
        before = await self._said(receiver, digest, AckReason.RECEIVED)
        if before is not None:
            return before
        assessed = await self._in_thread(partial(assess, raw, rnc=receiver.rnc, trust=self.trust, now=now))
        reason = assessed.reason
        if assessed.facts is not None and await self._is_received(receiver, assessed):
            # These very bytes may have come a second time while we looked: then they are no duplicate of themselves.
            before = await self._said(receiver, digest, AckReason.RECEIVED)
            if before is not None:
                return before
            reason = AckReason.DUPLICATE
        said = await self._say(receiver, assessed, reason, raw, digest, presenter, now)
        if said is None:  # another document of the number came in between
            said = await self._say(receiver, assessed, AckReason.DUPLICATE, raw, digest, presenter, now)
        assert said is not None
        return said

    async def _say(
        self,
        receiver: Receiver,
        assessed: Assessment,
        reason: AckReason,
        raw: bytes,
        digest: bytes,
        presenter: str | None,
        now: datetime,
    ) -> bytes | None:
        is_vouched_for = assessed.signer is not None
        if is_vouched_for and reason is not AckReason.RECEIVED:
            before = await self._said(receiver, digest, reason)
            if before is not None:
                return before
        signer = await self._signer(receiver.tenant_id, now)
        document = acknowledgement(assessed.heading, reason, rnc=receiver.rnc, at=now)
        signed = await self._in_thread(lambda: signer.sign(document).xml)
        if not is_vouched_for:
            self._note(receiver, assessed, reason)
            return signed
        said = Said(
            environment=receiver.environment,
            digest=digest,
            reason=int(reason),
            issuer_rnc=assessed.heading.issuer_rnc,
            e_ncf=assessed.heading.e_ncf,
            signer=assessed.signer,
            presenter=presenter,
            document=None if assessed.facts is None else raw,
            acknowledgement=signed,
            at=now,
            received_id=new_id(now),
            facts=assessed.facts if reason is AckReason.RECEIVED else None,
        )
        counts = await self.db.run_for(receiver.tenant_id, received.keep, said)
        if counts != signed:  # what was said before is perhaps not on the standby
            counts = await self.db.confirmed_for(receiver.tenant_id, received.keep, said)
        if counts == signed and said.facts is not None:
            await self._keep_facts(receiver, said.received_id, said.facts)
        failpoints.reached("acknowledged")
        if counts is not None:
            self._note(receiver, assessed, reason)
        return counts

    async def _keep_facts(self, receiver: Receiver, received_id: UUID, facts: ReceivedFacts) -> None:
        """Keep what lists and months show; where the database is away, they read it off the document."""
        with suppress(DatabaseUnavailable):
            await self.db.run_for(receiver.tenant_id, received_sums.keep_amounts, [(received_id, facts.kept)])

    def _note(self, receiver: Receiver, assessed: Assessment, reason: AckReason) -> None:
        self.count(receiver.environment, reason)
        _log.info("a document was sent to us", reason=int(reason), why=assessed.why)

    async def approve(self, receiver: Receiver, raw: bytes, presenter: str | None, now: datetime) -> None:
        """Keep a buyer's word on a receipt of the receiver's own. Saying the same twice changes nothing.

        Raises MalformedXml, ApprovalRefused or DatabaseUnavailable.
        """
        assessed = await self._in_thread(partial(assess_approval, raw, rnc=receiver.rnc, trust=self.trust, now=now))
        about = receiver.environment, receiver.rnc, assessed.e_ncf, assessed.buyer_rnc
        accepted = await self.db.run_for(receiver.tenant_id, buyer_approvals.accepted, *about)
        if accepted is None:
            # One answer for both, so that a stranger cannot find out which numbers there are.
            raise ApprovalRefused("there is no accepted e-CF of this number for this buyer")
        kept = await self.db.confirmed_for(
            receiver.tenant_id,
            buyer_approvals.keep,
            accepted,
            assessed.approval,
            signer=assessed.signer,
            presenter=presenter,
            document=raw,
            at=now,
        )
        if not kept:
            raise ApprovalRefused("this contradicts what was said of this e-CF before")

    async def _said(self, receiver: Receiver, digest: bytes, reason: AckReason) -> bytes | None:
        about = receiver.environment, digest, int(reason)
        if await self.db.run_for(receiver.tenant_id, received.said_about, *about) is None:
            return None  # nothing that an answer could rest on, so nothing to wait for
        return await self.db.confirmed_for(receiver.tenant_id, received.said_about, *about)

    async def _is_received(self, receiver: Receiver, assessed: Assessment) -> bool:
        heading = assessed.heading
        return await self.db.run_for(
            receiver.tenant_id, received.is_received, receiver.environment, heading.issuer_rnc, heading.e_ncf
        )

    async def _signer(self, tenant_id: TenantId, now: datetime) -> Signer:
        """Open what signs for the tenant: the company's certificate, else the only user's. Raises CannotAcknowledge."""
        if (fault := self.clock_fault()) is not None:
            raise CannotAcknowledge(fault)
        known = await self.db.run_for(tenant_id, certificates.in_use)
        usable = [one for one in certificates.one_per_holder(known, now) if one.not_before <= now < one.not_after]
        company = [one for one in usable if one.user_id is None]
        if not company and len(usable) != 1:
            raise CannotAcknowledge(f"tenant {tenant_id} has no certificate to acknowledge with")
        return await self.signers(tenant_id, (company or usable)[0].certificate_id)

    async def _in_thread(self, work: Callable[[], T]) -> T:
        return await trio.to_thread.run_sync(work, limiter=self.threads)
