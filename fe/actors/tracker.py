"""The tracker: follows a received document until the authority has said its last word."""

import random
from dataclasses import dataclass
from datetime import timedelta

from fe.actors import outcomes
from fe.actors.credentials import SigningCredentials
from fe.actors.outcomes import Processing
from fe.actors.reconciler import Reconciler
from fe.authority.client import Authority
from fe.authority.errors import AuthorityError, ForeignAnswer, NotThere
from fe.authority.estado import Estado
from fe.queue.deadlines import FOLLOW_FOR
from fe.queue.outcome import Outcome, Park, TryLater
from fe.queue.retry import MAX_ATTEMPTS, Gap, poll_gap
from fe.store.postgres.db import Database
from fe.store.queue import steps
from fe.store.queue.inputs import TrackFacts
from fe.store.queue.outbox import Work

#: After so many polls an answer about another document is no slip of one answer: the trackId itself is wrong.
_FOREIGN_ANSWERS = 4
#: After so many, in a quarter of an hour, 404 is no service that is away for a moment: this trackId leads nowhere.
_NOT_THERE = 20


@dataclass(frozen=True, slots=True)
class Tracker:
    """Asks for verdicts by trackId. Asking changes nothing over there, so it may be cancelled anywhere."""

    db: Database
    authority: Authority
    credentials: SigningCredentials
    reconciler: Reconciler
    spread: random.Random
    gap: Gap = poll_gap
    #: How long a document is followed while the authority says En Proceso.
    patience: timedelta = FOLLOW_FOR

    async def track(self, work: Work) -> Outcome:
        """Ask once about one document."""
        facts = work.input
        if not isinstance(facts, TrackFacts):
            facts = await self.db.run(steps.track_facts, work)
        opened = await self.credentials.for_session(work.tenant_id, facts.certificate_id)
        try:
            verdict = await self.authority.result(work.environment, facts.track_id, opened, e_ncf=facts.e_ncf)
        except (ForeignAnswer, NotThere) as strange:
            if work.attempt >= (_FOREIGN_ANSWERS if isinstance(strange, ForeignAnswer) else _NOT_THERE):
                # The trackId that reception gave us is somebody else's, or leads nowhere: find ours by number.
                return outcomes.in_doubt(strange.reason)
            raise TryLater(strange.reason, strange.retry_after) from strange
        except AuthorityError as trouble:
            raise TryLater(trouble.reason, trouble.retry_after) from trouble
        match verdict.estado:
            case Estado.PROCESSING if work.waited >= self.patience and work.attempt >= MAX_ATTEMPTS:
                # Both, as of tries that fail (StageConfig.exhausted): none is made while the circuit is open.
                reason = "the authority still says En Proceso, and was asked for long enough"
                return Park(reason)
            case Estado.PROCESSING:
                gap = self.gap(work.attempt, self.spread)
                return Processing(response=outcomes.response_of(verdict), after=gap)
            case Estado.NOT_FOUND:
                reason = "the authority does not know the trackId"
                return outcomes.in_doubt(reason)
            case Estado.REJECTED if verdict.try_again:
                # Code 004: its own validation broke down. The document was received; what is kept of it, only it knows.
                reason = "the authority could not validate and asks to try again"
                return outcomes.in_doubt(reason, after=self.gap(1, self.spread))
        outcome = outcomes.final(verdict, track_id=facts.track_id)
        try:
            if verdict.duplicate:
                return await self.reconciler.resolve_duplicate(work, opened, outcome)
            if facts.maybe_adopted:
                known = await self.db.run(steps.reconcile_facts, work)
                if known.is_adopted:
                    return await self.reconciler.classify_adopted(work, known, opened, verdict, outcome)
                if verdict.estado is Estado.REJECTED:  # there was a doubt, so this may be the verdict on a repeat
                    return await self.reconciler.resolve_rejection(work, opened, outcome, known)
        except TryLater as later:
            # This verdict is out: what is left to find out is what became of our document.
            after = later.after or self.gap(1, self.spread)
            return outcomes.in_doubt(later.reason, after=after)
        return outcome
