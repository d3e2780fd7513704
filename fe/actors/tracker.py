"""The tracker: asks for the verdict of a received document."""

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
from fe.queue.backoff import MAX_ATTEMPTS, Gap, poll_gap
from fe.queue.deadlines import FOLLOW_FOR
from fe.queue.outcome import Outcome, Park, TryLater
from fe.store.postgres.db import Database
from fe.store.queue import steps
from fe.store.queue.inputs import TrackFacts
from fe.store.queue.outbox import Work

#: From this poll on, an answer about another document means that the trackId is wrong.
_FOREIGN_ANSWERS = 4
#: From this poll on (a quarter of an hour), 404 means that the trackId does not exist, not a short outage.
_NOT_THERE = 20


@dataclass(frozen=True, slots=True)
class Tracker:
    """Asks for verdicts by trackId. Read-only, so it may be cancelled anywhere."""

    db: Database
    authority: Authority
    credentials: SigningCredentials
    reconciler: Reconciler
    spread: random.Random
    gap: Gap = poll_gap
    #: How long to follow a document while the authority answers En Proceso.
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
                # The trackId from reception is foreign or unknown: find ours by number.
                return outcomes.in_doubt(strange.reason)
            raise TryLater(strange.reason, strange.retry_after) from strange
        except AuthorityError as trouble:
            raise TryLater(trouble.reason, trouble.retry_after) from trouble
        match verdict.estado:
            case Estado.PROCESSING if work.waited >= self.patience and work.attempt >= MAX_ATTEMPTS:
                # Both, as in StageConfig.exhausted: no polls are made while the circuit is open.
                reason = "the authority still says En Proceso, and was asked for long enough"
                return Park(reason)
            case Estado.PROCESSING:
                gap = self.gap(work.attempt, self.spread)
                return Processing(response=outcomes.response_of(verdict), after=gap)
            case Estado.NOT_FOUND:
                reason = "the authority does not know the trackId"
                return outcomes.in_doubt(reason)
            case Estado.REJECTED if verdict.try_again:
                # Code 004: the authority's validation failed; whether it kept the document is unknown.
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
                if verdict.estado is Estado.REJECTED:  # perhaps the verdict on a repeat
                    return await self.reconciler.resolve_rejection(work, opened, outcome, known)
        except TryLater as later:
            # The verdict is known, but perhaps not about our document.
            after = later.after or self.gap(1, self.spread)
            return outcomes.in_doubt(f"{later.reason}; {outcomes.answered(verdict)}", after=after)
        return outcome
