"""The reconciler: when the outcome of a send is unknown, asks the authority before anything is sent again.

A document found by number alone may be foreign: another program, or an earlier rejected submission, may have sent the
same number. Our document is recognised by its security code, which is part of our signature's value.
"""

import random
from dataclasses import dataclass
from datetime import timedelta

from fe.actors import outcomes
from fe.actors.credentials import Opened, SigningCredentials
from fe.actors.outcomes import Adopted, SendAgain
from fe.authority.bodies import member, text
from fe.authority.client import Authority, Verdict
from fe.authority.errors import AuthorityError, ForeignAnswer, NotThere
from fe.authority.estado import Estado
from fe.ecf.catalogue import TELLS_BY_NUMBER, Root
from fe.identifiers import TrackId
from fe.lifecycle import Stage
from fe.queue.backoff import MAX_ATTEMPTS, Gap, retry_gap
from fe.queue.deadlines import DISBELIEVED_FOR
from fe.queue.outcome import AT_ONCE, Outcome, Park, TryLater
from fe.store.postgres.db import Database
from fe.store.queue import steps
from fe.store.queue.outbox import Work
from fe.store.queue.steps import ReconcileFacts

_ACCEPTED = (Estado.ACCEPTED, Estado.CONDITIONAL)

#: Tries to get the trackId and remarks of an accepted document, before it is recorded without them.
_TRIES_IN_FULL = 3

_NO_SERVICE = "it may have arrived, and in this environment the authority has no service that tells"
#: Reasons to send the same bytes again.
_NOT_KNOWN = "the authority does not know it"
_REPEATABLE = "the authority cannot be asked about an approval or a voiding, and repeating one changes nothing"
_TRY_AGAIN = "the authority could not validate it and asks to try again"
_OPERATOR = "an operator set it going again; the authority was not asked: it has no service that tells"
_WHOSE = "the number is used, and the authority does not show yet by whose document"


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Asks the authority about a document. Read-only, so it may be cancelled anywhere."""

    db: Database
    authority: Authority
    credentials: SigningCredentials
    spread: random.Random
    #: The wait before the next send of a document that the authority does not know.
    gap: Gap = retry_gap
    #: How long to doubt a rejection "number used" while no document with that number is shown.
    disbelief: timedelta = DISBELIEVED_FOR

    async def reconcile(self, work: Work) -> Outcome:
        """Ask about one document: adopt what is found, or release the same bytes for another send."""
        facts = await self.db.run(steps.reconcile_facts, work)
        opened = await self.credentials.for_session(work.tenant_id, facts.certificate_id)
        try:
            if facts.is_summary:
                outcome = await self._summary(work, facts, opened)
            elif facts.root is Root.ECF and work.environment in TELLS_BY_NUMBER:
                outcome = await self._document(work, facts, opened)
            elif facts.root is Root.ECF:
                outcome = await self._by_its_track_id(work, facts, opened)
            else:
                # Approvals and voidings cannot be queried, and repeating one changes nothing (authority.md#approval).
                outcome = self._resend(facts, _REPEATABLE)
        except AuthorityError as trouble:
            raise TryLater(trouble.reason, trouble.retry_after) from trouble
        return outcome or self._resend(facts)

    async def resolve_duplicate(self, work: Work, opened: Opened, otherwise: Outcome) -> Outcome:
        """Decide what "number already used" means: our own first send was accepted, or a foreign document has it.

        Returns `otherwise` for a foreign document. Raises TryLater while that is unknown: the authority cannot be
        asked, has not judged another send of this number yet, or does not show yet which document has it.
        """
        facts = await self.db.run(steps.reconcile_facts, work)
        if not facts.is_summary and facts.root is not Root.ECF:
            return otherwise  # an approval or a voiding: it issues no number that a first send could have used
        if work.environment not in TELLS_BY_NUMBER and facts.all_sends <= 1:
            return otherwise  # there was no other send of ours that could have used it
        if work.environment not in TELLS_BY_NUMBER and not facts.is_summary:
            raise TryLater(_NO_SERVICE)
        try:
            known = await self._known(work, facts, opened)
            ours = _if_ours(known, facts)
            if ours is not None and ours.estado in _ACCEPTED:
                return await self._as_judged(work, facts, opened, ours)
            if await self._is_foreign(work, facts, opened, known):
                return otherwise
        except AuthorityError as trouble:
            raise TryLater(trouble.reason, trouble.retry_after) from trouble
        raise TryLater(_WHOSE)

    async def resolve_rejection(
        self, work: Work, opened: Opened, otherwise: Outcome, facts: ReconcileFacts | None = None
    ) -> Outcome:
        """Decide what the rejection of a repeat means: the first send of the same bytes may have been accepted.

        Certificate, delegation, sequence and issuer are checked as of now, and before the number: a document valid
        yesterday is rejected today, its number reported free. Returns `otherwise` unless ours is shown as accepted.
        `facts` saves reading them again. Raises TryLater while the authority cannot be asked.
        """
        if facts is None:
            facts = await self.db.run(steps.reconcile_facts, work)
        tells = facts.is_summary or (facts.root is Root.ECF and work.environment in TELLS_BY_NUMBER)
        if facts.all_sends <= 1 or not tells:
            return otherwise
        try:
            ours = _if_ours(await self._known(work, facts, opened), facts)
            if ours is not None and ours.estado in _ACCEPTED:
                return await self._as_judged(work, facts, opened, ours)
        except AuthorityError as trouble:
            raise TryLater(trouble.reason, trouble.retry_after) from trouble
        return otherwise

    async def classify_adopted(
        self, work: Work, facts: ReconcileFacts, opened: Opened, verdict: Verdict, otherwise: Outcome
    ) -> Outcome:
        """Return `otherwise`, the verdict of a trackId found by number, if it is about our document.

        Raises TryLater while that is unknown, and for a foreign document.
        """
        try:
            ours = _if_ours(await self._known(work, facts, opened), facts)
        except AuthorityError as trouble:
            raise TryLater(trouble.reason, trouble.retry_after) from trouble
        if ours is None or (ours.estado in _ACCEPTED) is not (verdict.estado in _ACCEPTED):
            raise TryLater(_WHOSE)
        return otherwise

    async def _summary(self, work: Work, facts: ReconcileFacts, opened: Opened) -> Outcome | None:
        verdict = await self._known(work, facts, opened)
        if verdict is None or verdict.try_again:
            return None
        if verdict.estado is Estado.PROCESSING:
            raise TryLater("the authority is still at it", timedelta(seconds=2))
        if verdict.duplicate and not await self._is_foreign(work, facts, opened, None):
            self._doubt_duplicate(work)
        return outcomes.final(verdict)

    async def _document(self, work: Work, facts: ReconcileFacts, opened: Opened) -> Outcome | None:
        known = await self._known(work, facts, opened)
        ours = _if_ours(known, facts)
        if ours is not None and ours.estado in _ACCEPTED:
            return await self._as_judged(work, facts, opened, ours)
        candidates = await self._candidates(work, facts, opened)
        rejected: Verdict | None = None
        taken: Verdict | None = None
        is_used = is_held = False
        for track_id in reversed(candidates):
            verdict = await self.authority.result(work.environment, track_id, opened, e_ncf=facts.e_ncf)
            if verdict.estado is Estado.PROCESSING:
                return Adopted(track_id=track_id)
            if verdict.duplicate:
                is_used, taken = True, verdict
            elif verdict.estado in _ACCEPTED:
                is_used = is_held = True
            elif verdict.estado is Estado.REJECTED and not verdict.try_again:
                # Prefer the one that used the number: reporting a used number as free would be the worse mistake.
                rejected = verdict if rejected is None or verdict.number_used else rejected
        # A document sent once has one trackId: if that one says "number used", the other trackIds are foreign.
        went_out_once = facts.all_sends <= 1 and facts.track_id is not None
        if taken is not None and went_out_once and taken.track_id == facts.track_id:
            rejected = None
        if rejected is not None and ours is not None and (rejected.number_used or not is_used):
            return outcomes.final(rejected, track_id=rejected.track_id)
        if is_used and not await self._is_foreign(work, facts, opened, known):
            # Never send again what may be accepted.
            if taken is None or ours is None or is_held:
                raise TryLater(_WHOSE)
            self._doubt_duplicate(work)
            return outcomes.final(taken, track_id=taken.track_id)
        return None

    def _doubt_duplicate(self, work: Work) -> None:
        """Raise TryLater while a rejection "number used" may still be about a repeat of ours.

        The authority shows ours as rejected and none as accepted. If that lasts, no document has the number: it was
        voided, or used by a rejected one.
        """
        if work.attempt < MAX_ATTEMPTS or work.waited < self.disbelief:
            raise TryLater(_WHOSE)

    async def _by_its_track_id(self, work: Work, facts: ReconcileFacts, opened: Opened) -> Outcome | None:
        """Ask by the trackId of the last send, if it has one, where the authority has no query by number.

        If that leaves it open, an operator looks it up in the authority's portal. A replay means that this was done:
        the same bytes are sent again.
        """
        if facts.track_id is not None:
            try:
                verdict = await self.authority.result(work.environment, facts.track_id, opened, e_ncf=facts.e_ncf)
            except (ForeignAnswer, NotThere):
                verdict = None  # the trackId is foreign or unknown
            if verdict is not None and (verdict.estado in _ACCEPTED or _is_judged(verdict)):
                return outcomes.final(verdict, track_id=facts.track_id)
            if verdict is not None and verdict.try_again:
                return self._resend(facts, _TRY_AGAIN)
            if verdict is not None and verdict.estado is Estado.PROCESSING:
                raise TryLater("the authority is still at it")
            if verdict is not None and verdict.estado is Estado.NOT_FOUND and facts.sends:
                raise TryLater("the authority does not know the trackId")
            if verdict is not None and verdict.duplicate and facts.sends:
                return Park(f"{_NO_SERVICE}; {outcomes.answered(verdict)}")
        return self._resend(facts, _OPERATOR) if facts.sends == 0 else Park(_NO_SERVICE)

    async def _as_judged(self, work: Work, facts: ReconcileFacts, opened: Opened, shown: Verdict) -> Outcome:
        """Return the final outcome of our document that is shown as accepted, with its trackId and remarks.

        The state service gives neither, nor conditions of an e-CF (authority.md#queries). A number has at most one
        accepted document, so the accepted one of its trackIds is ours. If they cannot be queried after a few tries, the
        outcome is returned without them.
        """
        if facts.is_summary:
            return outcomes.final(shown, track_id=facts.track_id)
        try:
            for track_id in await self._candidates(work, facts, opened):
                verdict = await self.authority.result(work.environment, track_id, opened, e_ncf=facts.e_ncf)
                if verdict.estado in _ACCEPTED:
                    return outcomes.final(verdict, track_id=track_id)
        except AuthorityError:
            if work.stage is not Stage.RECONCILE or work.attempt < _TRIES_IN_FULL:
                raise
        return outcomes.final(shown, track_id=facts.track_id)

    async def _candidates(self, work: Work, facts: ReconcileFacts, opened: Opened) -> list[TrackId]:
        """Return the trackIds of its number, oldest first, without those of our other submissions."""
        assert facts.issuer_rnc is not None
        assert facts.e_ncf is not None
        tracks = await self.authority.track_ids(work.environment, facts.issuer_rnc, facts.e_ncf, opened)
        return [track.track_id for track in tracks if track.track_id not in facts.foreign_track_ids]

    async def _known(self, work: Work, facts: ReconcileFacts, opened: Opened) -> Verdict | None:
        """Query the authority for our document; for an invoice the answer may be about its number."""
        assert facts.issuer_rnc is not None
        assert facts.e_ncf is not None
        if not facts.is_summary:
            return await self._state(work, facts, opened, facts.security_code)
        assert facts.security_code is not None
        return await self.authority.summary_state(
            work.environment, facts.issuer_rnc, facts.e_ncf, facts.security_code, opened
        )

    async def _is_foreign(self, work: Work, facts: ReconcileFacts, opened: Opened, known: Verdict | None) -> bool:
        """Whether the accepted document of our number is certainly foreign.

        The state service may filter by security code: then it shows no document with another code, or our rejected
        one. So unless it has shown an accepted one, it is asked again without a code. No answer proves nothing: its
        services learn of a document at different times.
        """
        shown = known
        if (shown is None or shown.estado not in _ACCEPTED) and work.environment in TELLS_BY_NUMBER:
            shown = await self._state(work, facts, opened, None)
        return shown is not None and shown.estado in _ACCEPTED and _if_ours(shown, facts) is None

    async def _state(self, work: Work, facts: ReconcileFacts, opened: Opened, code: str | None) -> Verdict | None:
        assert facts.issuer_rnc is not None
        assert facts.e_ncf is not None
        return await self.authority.state(
            work.environment,
            facts.issuer_rnc,
            facts.e_ncf,
            opened,
            buyer_rnc=facts.buyer_rnc,
            security_code=code,
        )

    def _resend(self, facts: ReconcileFacts, reason: str = _NOT_KNOWN) -> Outcome:
        if facts.sends >= MAX_ATTEMPTS:
            return Park(f"sent {facts.sends} times, and {reason}")
        after = self.gap(facts.sends, self.spread) if facts.sends else AT_ONCE
        return SendAgain(reason=reason, after=after)


def _is_judged(verdict: Verdict) -> bool:
    """Whether it is rejected for its content, not for a used number or a failure of the authority."""
    return verdict.estado is Estado.REJECTED and not (verdict.duplicate or verdict.try_again)


def _if_ours(known: Verdict | None, facts: ReconcileFacts) -> Verdict | None:
    """Return the verdict if it is about our document.

    The query names our code, so an answer without a code is about ours; one with another code is foreign.
    """
    code = text(member(known.raw, "codigoseguridad")) if known is not None else None
    return known if code is None or code == facts.security_code else None
