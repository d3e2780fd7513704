"""Delivery from taxpayer to taxpayer: two stages, and the writers of their outcomes.

`address` looks the other party up in the authority's directory; `pass_on` sends there. The authority has accepted the
bytes, so sending them twice is harmless: a receiver repeats its acknowledgement or answers that it has the number, and
an issuer already has the approval. So there is no stage for doubts. The intent with the digest of the bytes is
committed before the first byte of each send.
"""

import hashlib
import random
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from urllib.parse import urlsplit

import trio
from cryptography import x509

from fe.actors.credentials import Opened, SigningCredentials
from fe.actors.stages import lanes
from fe.authority.errors import AuthorityError
from fe.clock import Clock
from fe.counterparty.acknowledgement import NotBelieved, SentDocument, read_acknowledgement
from fe.counterparty.directory import Directory
from fe.counterparty.wire import CannotReach, Counterparties, CounterpartyAnswer, NobodyKnows
from fe.ecf.catalogue import Host
from fe.identifiers import SubmissionId
from fe.monitoring.metrics import Metrics
from fe.process import failpoints
from fe.queue.backoff import poll_gap, scaled
from fe.queue.outcome import Advance, End, Outcome, Park, Retry, TryLater, Writer, one_by_one
from fe.queue.stage import StageConfig, WorkKind
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import LeaseLost
from fe.store.queue.host_lanes import ALL_HOSTS
from fe.store.records import counterparty
from fe.store.records.counterparty import (
    COUNTERPARTY_OUTBOX,
    Handed,
    HandingKind,
    HandingStage,
    HandingState,
    HandingWork,
    SendOutcome,
    hosts_of_counterparties,
)

#: Minutes to wait after the try of this number; the last value repeats.
_GAPS = (0.5, 2, 10, 30, 60, 120, 240, 480)
_JITTER = 0.10
#: How long to try, from when the address was found.
PATIENCE = timedelta(hours=72)

#: When a held receipt is tried again.
_LOOK_AGAIN = timedelta(minutes=15)

#: Bytes kept of an answer that is no acknowledgement.
_KEPT = 4096


def handing_gap(attempt: int, spread: random.Random) -> timedelta:
    """Return the wait after try number `attempt` (from 1): half a minute growing to eight hours, +-10 %."""
    minutes = _GAPS[min(attempt, len(_GAPS)) - 1]
    return timedelta(minutes=minutes * (1 + spread.uniform(-_JITTER, _JITTER)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Addressed(Advance):
    """The address is known: send there."""

    host: str
    url: str
    to: HandingStage = HandingStage.PASS_ON
    name: str = "addressed"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOn(End):
    """No further try: delivered, refused, or the receiver is not listed."""

    state: HandingState
    reason: str | None = None
    answer: bytes | None = None
    status: int | None = None

    @property
    def name(self) -> str:  # type: ignore[override]  # read only, as it is of all outcomes
        """The state."""
        return self.state.value


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterpartyHandlers:
    """The handlers of both stages."""

    db: Database
    credentials: SigningCredentials
    directory: Directory
    counterparties: Counterparties
    #: Certifiers whose certificates may sign acknowledgements; None accepts any.
    roots: Sequence[x509.Certificate] | None
    clock: Clock
    #: Bounds the CPU work of verifying.
    threads: trio.CapacityLimiter
    #: Kind of each row being tried, for the metrics.
    kinds: MutableMapping[SubmissionId, HandingKind]
    #: Receipts wait, because no certifier is configured to check acknowledgements against.
    holds_receipts: bool = False

    async def address(self, work: HandingWork) -> Outcome:
        """Find the address. Cancelled, nothing has happened."""
        found = await self._find(work)
        return found if isinstance(found, Outcome) else Addressed(host=_host_of(found.base), url=found.base)

    async def pass_on(self, work: HandingWork) -> Outcome:
        """Send the document. Cancelled after the intent it may have arrived; it is then sent once more."""
        found = await self._find(work)
        if isinstance(found, Outcome):
            return found
        handed, opened, base = found.handed, found.opened, found.base
        if _host_of(base) != work.host:
            return Addressed(host=_host_of(base), url=base)

        async def announce(url: str) -> None:
            digest = hashlib.sha256(handed.content).digest()
            if not await self.db.run(counterparty.intend, work, digest=digest, url=url, at=self.clock()):
                raise LeaseLost(work.subject, work.epoch)
            failpoints.reached("handing")

        try:
            answer = await self.counterparties.deliver(
                base,
                handed.kind,
                _file_name(handed),
                handed.content,
                opened,
                tokens=found.tokens,
                before_send=announce,
            )
        except CannotReach as lost:
            unknown = isinstance(lost, NobodyKnows)
            await self._note(work, SendOutcome.UNKNOWN if unknown else SendOutcome.NOT_SENT)
            self.directory.forget(handed.environment, handed.counterparty_rnc)
            raise TryLater(lost.reason, lost.wait) from lost
        failpoints.reached("handed")
        return await self._answered(work, handed, answer)

    async def _find(self, work: HandingWork) -> "_Found | Outcome":
        """Return the document and its address, or the outcome if it cannot go now."""
        handed = await self.db.run(counterparty.handed, work)
        self.kinds[work.subject] = handed.kind
        if self.holds_receipts and handed.kind is HandingKind.RECEIPT:
            return _HELD
        opened = await self.credentials.for_session(work.tenant_id, handed.certificate_id)
        try:
            base = await self.directory.address(handed.environment, handed.counterparty_rnc, handed.kind, opened)
            tokens = await self.directory.authentication(handed.environment, handed.counterparty_rnc, opened)
        except AuthorityError as error:
            raise TryLater(f"the directory cannot be asked: {error.reason}", error.retry_after) from error
        return _unlisted() if base is None else _Found(handed, opened, base, tokens)

    async def _answered(self, work: HandingWork, handed: Handed, answer: CounterpartyAnswer) -> Outcome:
        if handed.kind is HandingKind.APPROVAL:
            outcome = _approval_taken(answer)
        elif 200 <= answer.status < 300:
            outcome = await self._acknowledged(work, handed, answer)
        else:
            outcome = f"they answered with status {answer.status}"
        if isinstance(outcome, Outcome):
            return outcome
        await self._note(work, SendOutcome.ANSWERED, answer.status)
        raise TryLater(outcome, answer.wait)

    async def _acknowledged(self, work: HandingWork, handed: Handed, answer: CounterpartyAnswer) -> Outcome | str:
        if answer.is_cut:
            return "their acknowledgement does not end"
        about = SentDocument(handed.issuer_rnc, handed.buyer_rnc, handed.e_ncf)
        read = partial(read_acknowledgement, answer.body, about, roots=self.roots, now=self.clock())
        try:
            said = await trio.to_thread.run_sync(read, limiter=self.threads)
        except NotBelieved as wrong:
            return f"their acknowledgement is not believed: {wrong}"[:300]
        state, reason = HandingState.DELIVERED if said.received else HandingState.REFUSED, said.reason
        if said.has_one and await self.db.run(counterparty.may_have_arrived, work):
            # Some receivers answer a repeat with "duplicate": it has what was sent before.
            state, reason = HandingState.DELIVERED, _HAD_IT
        return HandedOn(state=state, reason=reason, answer=answer.body, status=answer.status)

    async def _note(self, work: HandingWork, outcome: SendOutcome, status: int | None = None) -> None:
        await self.db.run(counterparty.note_send, work, outcome, status=status, at=self.clock())


@dataclass(frozen=True, slots=True)
class _Found:
    """The document, the certificate for the session, and the base of the receiver's address."""

    handed: Handed
    opened: Opened
    base: str
    #: The address that gives tokens, if the directory names one.
    tokens: str | None


#: Nothing failed: it goes on when the operator has configured certifiers.
_HELD = Retry("FE_RECEPTION_ROOTS is not set: no acknowledgement could be believed", _LOOK_AGAIN, counts=False)


_HAD_IT = "they have it since an earlier try, of which no answer came: to this one they answered 3: duplicate"


def _approval_taken(answer: CounterpartyAnswer) -> Outcome | str:
    """Read the answer to an approval: 200 is accepted, 400 refused, any other status says nothing about it."""
    kept = answer.body[:_KEPT]
    if 200 <= answer.status < 300:
        return HandedOn(state=HandingState.DELIVERED, answer=kept, status=answer.status)
    if answer.status == 400:
        said = " ".join(kept.decode("utf-8", "replace").split())[:200]
        reason = f"they answered 400: {said}" if said.isprintable() and said else "they answered 400"
        return HandedOn(state=HandingState.REFUSED, reason=reason, answer=kept, status=answer.status)
    return f"they answered with status {answer.status}"


def _unlisted() -> HandedOn:
    return HandedOn(state=HandingState.UNLISTED, reason="the authority's directory has no address for them")


def _file_name(handed: Handed) -> str:
    """By authority.md#file-names."""
    owner = handed.issuer_rnc if handed.kind is HandingKind.RECEIPT else handed.buyer_rnc
    return f"{owner}{handed.e_ncf}.xml"


def _host_of(base: str) -> str:
    """Return host and port of an address, the key of its lane. A malformed address fails when it is called."""
    try:
        return urlsplit(base).netloc.lower()[:253]
    except ValueError:
        return ""


# --- writers of outcomes ----------------------------------------------------------------------------------------------


async def _addressed(conn: Conn, work: HandingWork, outcome: Addressed, at: datetime) -> bool:
    return await counterparty.wait(
        conn, work, at=at, after=outcome.after, stage=outcome.to, host=outcome.host, url=outcome.url, counts=False
    )


async def _handed_on(conn: Conn, work: HandingWork, outcome: HandedOn, at: datetime) -> bool:
    return await counterparty.end(
        conn, work, at=at, state=outcome.state, reason=outcome.reason, answer=outcome.answer, status=outcome.status
    )


async def _retry(conn: Conn, work: HandingWork, outcome: Retry, at: datetime) -> bool:
    return await counterparty.wait(conn, work, at=at, after=outcome.after, counts=outcome.counts, error=outcome.reason)


async def _park(conn: Conn, work: HandingWork, outcome: Park, at: datetime) -> bool:
    return await counterparty.end(conn, work, at=at, state=HandingState.GAVE_UP, reason=outcome.reason)


WRITERS: Mapping[type[Outcome], Writer[HandingWork]] = {
    Addressed: one_by_one(_addressed),
    HandedOn: one_by_one(_handed_on),
    Retry: one_by_one(_retry),
    Park: one_by_one(_park),
}


def handing_kind(metrics: Metrics, kinds: MutableMapping[SubmissionId, HandingKind]) -> WorkKind[HandingWork]:
    """Return delivery as a kind of work. The handlers note in `kinds` the kind of each row being tried."""

    def written(work: HandingWork, outcome: Outcome) -> None:
        kind = kinds.pop(work.subject, "unknown")
        match outcome:
            case HandedOn(state=state):
                metrics.handed_on.labels(kind, state.value).inc()
            case Park():
                metrics.handed_on.labels(kind, HandingState.GAVE_UP.value).inc()
            case Retry(counts=True):
                metrics.handed_on.labels(kind, "failed_try").inc()

    return WorkKind(COUNTERPARTY_OUTBOX, WRITERS, written=written, subject="submission")


# --- the stages -------------------------------------------------------------------------------------------------------

_SLOTS = 16
#: Concurrent calls per host, over all processes.
_OF_ONE_HOST = 4


def handing_stages(
    handlers: CounterpartyHandlers, kind: WorkKind[HandingWork], *, budget: float, scale: float
) -> list[StageConfig[HandingWork]]:
    """Build both stages."""
    across = hosts_of_counterparties(maximum=_OF_ONE_HOST, suspects=_SLOTS // 2)
    patience = PATIENCE * scale
    return [
        StageConfig(
            HandingStage.ADDRESS,
            kind,
            handlers.address,
            _SLOTS,
            lanes(Host.ECF),
            budget,
            gap=scaled(poll_gap, scale),
            max_attempts=None,
            patience=patience,
        ),
        StageConfig(
            HandingStage.PASS_ON,
            replace(kind, source=across, together=across.together),
            handlers.pass_on,
            _SLOTS,
            [ALL_HOSTS],
            budget,
            gap=scaled(handing_gap, scale),
            max_attempts=None,
            patience=patience,
        ),
    ]
