"""The sender: commits an intent, sends to the authority, and returns the answer or a doubt."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, fields, replace
from datetime import timedelta

from fe.actors import outcomes
from fe.actors.credentials import Opened, SigningCredentials
from fe.actors.outcomes import Intent, Unresolved
from fe.actors.receipt_notes import gap_after, undecided_receipt, wait_for
from fe.actors.reconciler import Reconciler
from fe.authority.client import Authority, LastLook, Outgoing, Receipt, Verdict
from fe.authority.errors import AuthorityRefused, OutcomeUnknown, Unavailable
from fe.authority.estado import Estado
from fe.ecf.catalogue import DESTINATIONS, Host, Root, Service
from fe.lifecycle import Stage
from fe.process import failpoints
from fe.queue.lease_guard import BEAT_SECONDS, LeaseGuard, LeaseUncertain
from fe.queue.outcome import Outcome, Retry, TryLater
from fe.store.postgres.db import Database
from fe.store.queue import steps
from fe.store.queue.inputs import OutgoingDocument, TrackFacts
from fe.store.queue.outbox import OutboxLane, Work
from fe.store.records import sandbox_outages, simulations


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
class Announced(OutgoingDocument):
    """A document whose intent to send is committed with its signature; `look` was taken before (see lease_guard.py)."""

    look: LastLook


class _InDoubt(Exception):
    """An earlier send of this document was never resolved: ask the authority first."""


#: Interprets an answer when an earlier send of the same bytes may have been accepted.
_Resolve = Callable[[Work, Opened, Outcome], Awaitable[Outcome]]

ASK_AFTER = timedelta(seconds=2)

#: Fields of a signed document that is handed over to sending.
_OUTGOING = tuple(field.name for field in fields(OutgoingDocument))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    """Sends signed documents."""

    db: Database
    authority: Authority
    credentials: SigningCredentials
    reconciler: Reconciler
    anecf_service: Service
    lease: timedelta
    lease_guard: LeaseGuard
    #: Commits an intent to send, as ResultWriter.put.
    intend: Callable[[Work, Intent], Awaitable[Outcome]]
    #: The wait before asking about a doubt (the authority validates in 200 ms on average).
    ask_after: timedelta = ASK_AFTER
    #: Whether the authority is the simulator, which answers as the client requested.
    simulated: bool = False

    async def send(self, work: Work) -> Outcome:
        """Send one document. The intent is committed, fenced, at the last moment before its first byte.

        Between the two the lease is checked once more (fe/queue/lease_guard.py). If peers may have freed the row,
        nothing is sent, and that outcome is written while the row is still ours.

        Cancelled before the intent, nothing was sent; after it the executor writes a doubt.
        """
        document = work.input
        if not isinstance(document, OutgoingDocument):
            document = await self.db.run(steps.outgoing_document, work)
        if not isinstance(document, Announced):  # checked before the hand-over
            receipt = await undecided_receipt(self.db, work, document)
            if receipt is not None:
                return wait_for(receipt, work.waited)
        if self.simulated:
            away = await self.db.run(sandbox_outages.lasting, work.tenant_id, work.environment)
            if away is not None:
                again = min(away.remaining, gap_after(work.waited))  # it may be ended early
                if isinstance(document, Announced):
                    raise TryLater(_AWAY, again)  # counts, because its intent is committed
                return Retry(_AWAY, again, counts=False, name="given back")
        # A replaced certificate may still send: replacing it may have been a mistake, and a refusal is final.
        opened = await self.credentials.for_session(work.tenant_id, document.certificate_id, though_replaced=True)
        asked = await self.db.run(simulations.asked_of, work) if self.simulated else None
        outgoing = Outgoing(work.environment, self._service(document), file_name(document), document.content, asked)

        # The lease check of an intent that is committed already; valid for one announcement.
        taken = document.look if isinstance(document, Announced) else None
        announced = taken is not None

        async def announce() -> LastLook:
            nonlocal announced, taken
            look, taken = taken, None
            if look is None:
                # Only here: for handed-over documents the database made the digest with the intent.
                digest = hashlib.sha256(document.content).digest()
                look = self.lease_guard.look()
                if isinstance(await self.intend(work, Intent(digest=digest, lease=self.lease)), Unresolved):
                    raise _InDoubt
                announced = True
            failpoints.reached("intended")
            return look

        try:
            answer = await self.authority.submit(outgoing, opened, before_send=announce)
            failpoints.reached("answered")
        except _InDoubt:
            return outcomes.in_doubt("an earlier send was never resolved")
        except LeaseUncertain as unsure:
            if announced:
                raise TryLater(str(unsure)) from unsure  # counts, so that a history has at most eight sends
            return Retry(str(unsure), _BEAT, counts=False, name="given back")
        except Unavailable as outage:
            raise TryLater(outage.reason, outage.retry_after) from outage
        except OutcomeUnknown as doubt:
            return outcomes.in_doubt(doubt.reason, after=doubt.retry_after or self.ask_after)
        except AuthorityRefused as refusal:
            return await self._refused(work, opened, refusal, announced)
        if isinstance(answer, Receipt):
            return self._received(work, document, answer)
        return await self._outcome_of(work, opened, answer)

    def claim_to_send(self, work: Work, document: OutgoingDocument, host: str) -> Work | None:
        """Return the claim to send the document just signed, for a commit with its signature and intent.

        None when the lease guard is uncertain.
        """
        try:
            look = self.lease_guard.look()
        except LeaseUncertain:
            return None
        values = {name: getattr(document, name) for name in _OUTGOING}
        return work.following(Stage.SEND, OutboxLane(work.environment, host), Announced(**values, look=look))

    def _service(self, document: OutgoingDocument) -> Service:
        root = document.root
        if document.is_summary:
            return Service.SUMMARY_RECEPTION
        return self.anecf_service if root is Root.ANECF else DESTINATIONS[root]

    def _received(self, work: Work, document: OutgoingDocument, receipt: Receipt) -> Outcome:
        """Return the receipt, with a claim to track it in this process if it was sent straight after signing.

        Then there was no earlier send, so the trackId is its own.
        """
        received = outcomes.received(receipt)
        if not isinstance(document, Announced) or work.host != Host.ECF:
            return received
        facts = TrackFacts(receipt.track_id, document.e_ncf, document.certificate_id, maybe_adopted=False)
        return replace(received, then=work.following(Stage.TRACK, work.lane, facts), lease=self.lease)

    async def _outcome_of(self, work: Work, opened: Opened, answer: Verdict) -> Outcome:
        if answer.duplicate:
            return await self._ask_first(self.reconciler.resolve_duplicate, work, opened, outcomes.final(answer))
        if answer.try_again:
            reason = "the authority could not validate and asks to try again"
            return outcomes.in_doubt(reason, after=self.ask_after)
        if answer.estado in (Estado.PROCESSING, Estado.NOT_FOUND):
            return outcomes.in_doubt(f"answered {answer.estado}", after=self.ask_after)
        if answer.estado is Estado.REJECTED:
            return await self._ask_first(self.reconciler.resolve_rejection, work, opened, outcomes.final(answer))
        return outcomes.final(answer)

    async def _refused(self, work: Work, opened: Opened, refusal: AuthorityRefused, announced: bool) -> Outcome:
        outcome = outcomes.refused(refusal)
        if refusal.duplicate:
            return await self._ask_first(self.reconciler.resolve_duplicate, work, opened, outcome)
        facts = await self.db.run(steps.reconcile_facts, work)
        if facts.all_sends > int(announced):
            # This request or its session was refused; an earlier send, even before a replay, may have been accepted.
            return outcomes.in_doubt(refusal.reason, after=self.ask_after)
        return outcome

    async def _ask_first(self, resolve: _Resolve, work: Work, opened: Opened, otherwise: Outcome) -> Outcome:
        try:
            return await resolve(work, opened, otherwise)
        except TryLater as later:
            return outcomes.in_doubt(later.reason, after=later.after or self.ask_after)


#: An outage that a sandbox plays for the tenant. No exchange fails, so the circuits of all tenants stay closed.
_AWAY = "the authority is away: an outage in the sandbox"
#: By then this process, or a peer, has given a heartbeat.
_BEAT = timedelta(seconds=BEAT_SECONDS)
