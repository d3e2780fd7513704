"""The authority sender: announces, sends, and books what was answered, or that nobody knows."""

import hashlib
from dataclasses import dataclass
from datetime import timedelta

from fe import failpoints
from fe.actors import outcomes
from fe.actors.credentials import Opened, SigningCredentials
from fe.actors.reconciler import Reconciler
from fe.authority.client import Authority, LastLook, Outgoing, Receipt, Verdict
from fe.authority.errors import OutcomeUnknown, Refused, Unavailable
from fe.authority.estado import Estado
from fe.clock import Clock
from fe.ecf.catalogue import DESTINATIONS, Root, Service
from fe.queue.outcome import Outcome, Retry, TryLater
from fe.queue.pulse import BEAT_SECONDS, Pulse, Unsure
from fe.store import submissions
from fe.store.postgres.db import Database
from fe.store.queue.outbox import Work
from fe.store.submissions import OutgoingDocument, SendInDoubt


def file_name(document: OutgoingDocument) -> str:
    """Name the file by authority.md#file-names; an ANECF, for which no rule is documented, by its issuer alone."""
    match document.root:
        case Root.ACECF:
            return f"{document.buyer_rnc}{document.e_ncf}.xml"
        case Root.ANECF:
            return f"{document.issuer_rnc}.xml"
        case _:
            return f"{document.issuer_rnc}{document.e_ncf}.xml"


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends signed documents."""

    db: Database
    authority: Authority
    credentials: SigningCredentials
    reconciler: Reconciler
    anecf_service: Service
    lease: timedelta
    clock: Clock
    pulse: Pulse

    async def send(self, work: Work) -> Outcome:
        """Send one document. The intent is committed, fenced, at the last moment before its first byte.

        Between the two there is one more look, whether others can have taken us for dead (fe/queue/pulse.py). If so,
        nothing is sent, and that is booked, provided that the row is still ours.

        Cancelled before the intent, nothing was sent; after it the loop books a doubt, because only the authority
        knows.
        """
        document = await self.db.run(submissions.outgoing_document, work)
        opened = await self.credentials.get(work.tenant_id, document.certificate_id)
        outgoing = Outgoing(work.environment, self._service(document), file_name(document), document.content)
        digest = hashlib.sha256(document.content).digest()

        announced = False

        async def announce() -> LastLook:
            nonlocal announced
            look = self.pulse.look()
            await self.db.run(submissions.intend_to_send, work, at=self.clock(), lease=self.lease, digest=digest)
            announced = True
            failpoints.reached("intended")
            return look

        try:
            answer = await self.authority.submit(outgoing, opened, before_send=announce)
            failpoints.reached("answered")
        except SendInDoubt:
            return outcomes.in_doubt("an earlier send was never resolved")
        except Unsure as unsure:
            if announced:
                raise TryLater(str(unsure)) from unsure  # it counts: a history never tells of more than eight sends
            return Retry(str(unsure), _BEAT, counts=False, name="given back")
        except Unavailable as outage:
            raise TryLater(outage.reason, outage.retry_after) from outage
        except OutcomeUnknown as doubt:
            return outcomes.in_doubt(doubt.reason, after=doubt.retry_after or _ASK_AFTER)
        except Refused as refusal:
            return await self._refused(work, opened, refusal)
        return await self._answered(work, opened, answer)

    def _service(self, document: OutgoingDocument) -> Service:
        root = document.root
        if document.is_summary:
            return Service.SUMMARY_RECEPTION
        return self.anecf_service if root is Root.ANECF else DESTINATIONS[root]

    async def _answered(self, work: Work, opened: Opened, answer: Receipt | Verdict) -> Outcome:
        if isinstance(answer, Receipt):
            return outcomes.received(answer)
        if answer.duplicate:
            return await self._resolve_duplicate(work, opened, outcomes.final(answer))
        if answer.try_again:
            reason = "the authority could not validate and asks to try again"
            return outcomes.in_doubt(reason, after=_ASK_AFTER)
        if answer.estado in (Estado.PROCESSING, Estado.NOT_FOUND):
            return outcomes.in_doubt(f"answered {answer.estado}", after=_ASK_AFTER)
        return outcomes.final(answer)

    async def _refused(self, work: Work, opened: Opened, refusal: Refused) -> Outcome:
        outcome = outcomes.refused(refusal)
        if refusal.duplicate:
            return await self._resolve_duplicate(work, opened, outcome)
        facts = await self.db.run(submissions.reconcile_facts, work)
        if facts.sends > 1:
            # It was this request that was refused; what was sent before may have been accepted all the same.
            return outcomes.in_doubt(refusal.reason, after=_ASK_AFTER)
        return outcome

    async def _resolve_duplicate(self, work: Work, opened: Opened, otherwise: Outcome) -> Outcome:
        try:
            return await self.reconciler.resolve_duplicate(work, opened, otherwise)
        except TryLater as later:
            return outcomes.in_doubt(later.reason, after=later.after or _ASK_AFTER)


#: Time for the authority to make up its mind before it is asked what it knows (it validates in 200 ms on average).
_ASK_AFTER = timedelta(seconds=2)

#: By then there should be a new sign of life, or somebody else who gives one.
_BEAT = timedelta(seconds=BEAT_SECONDS)
