"""The voider: signs an ANECF, sends it to the authority, and books its answer (docs/decisions/voidings.md).

Every send has the same bytes. Once an answer is missing, a later acceptance settles it and a later refusal does not: it
may be about the repeat.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog
import trio

from fe.actors.credentials import CannotOpen, SigningCredentials
from fe.actors.stages import lanes
from fe.authority.client import Authority, Outgoing, Receipt, Verdict
from fe.authority.errors import AuthorityRefused, OutcomeUnknown, Unavailable
from fe.authority.estado import Estado
from fe.clock import Clock
from fe.ecf.catalogue import Host, Service
from fe.ecf.voiding import anecf, left_out
from fe.issuing.certificate_choice import NoCertificate, candidates_of, choose_certificate
from fe.monitoring.metrics import Metrics
from fe.process import failpoints
from fe.queue.backoff import retry_gap, scaled
from fe.queue.outcome import End, Outcome, Park, Retry, TryLater, Writer, one_by_one
from fe.queue.stage import StageConfig, WorkKind
from fe.store.postgres.db import Conn, Database
from fe.store.records import certificates, voidable, voiding_queue, voidings
from fe.store.records.voiding_queue import VOIDINGS, SignedVoiding, VoidingWork
from fe.store.records.voidings import VOID, Voiding, VoidingState

_log = structlog.get_logger(__name__)

_SLOTS = 4
#: A voiding that gets no answer for this long is an operator's matter.
_PATIENCE = timedelta(days=3)
#: Longest wait for transactions that began before the numbers were taken out of use.
_SECONDS_TO_PASS = 5.0
_SECONDS_BETWEEN = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class NumbersVoided(End):
    """The authority voided the numbers, but for those in `left_out`."""

    left_out: tuple[str, ...]
    answer: Mapping[str, Any] = field(default_factory=dict)
    name: str = "voided"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotVoided(End):
    """No number is void: the authority refused it (`rejected`), or it was not sent (`refused`)."""

    state: VoidingState
    reason: str
    answer: Mapping[str, Any] | None = None
    name: str = "not voided"


@dataclass(frozen=True, slots=True, kw_only=True)
class VoidInDoubt(End):
    """Which numbers are void is not known: an operator looks."""

    reason: str
    answer: Mapping[str, Any] | None = None
    name: str = "in doubt"


@dataclass(frozen=True, slots=True)
class Voider:
    """Makes one try of a voiding."""

    db: Database
    authority: Authority
    credentials: SigningCredentials
    clock: Clock

    async def void(self, work: VoidingWork) -> Outcome:
        """Make one try. Cancelled after the intent it may have arrived; the same bytes are then sent again."""
        asked = await self.db.run(voidings.find, work.tenant_id, work.subject)
        assert asked is not None
        signed = await self.db.run(voiding_queue.signed, work)
        if signed is None:
            made = await self._sign(work, asked)
            if isinstance(made, Outcome):
                return made
            signed = made
        opened = await self.credentials.for_session(work.tenant_id, signed.certificate_id, though_replaced=True)
        outgoing = Outgoing(asked.environment, Service.RANGE_VOIDING, f"{asked.issuer_rnc}.xml", signed.document)
        unanswered = asked.unanswered
        intended = 0

        async def announce() -> None:
            nonlocal unanswered, intended
            unanswered = await self.db.run(voiding_queue.intend, work)
            intended += 1
            failpoints.reached("voiding")

        async def take_back() -> None:
            nonlocal unanswered
            for _ in range(intended):
                await self.db.run(voiding_queue.not_sent, work)
            unanswered -= intended

        try:
            answer = await self.authority.submit(outgoing, opened, before_send=announce)
        except Unavailable as outage:
            await take_back()
            raise TryLater(outage.reason, outage.retry_after) from outage
        except OutcomeUnknown as doubt:
            raise TryLater(doubt.reason, doubt.retry_after) from doubt
        except AuthorityRefused as refusal:
            words = "; ".join(message.valor for message in refusal.messages) or refusal.reason
            return _refused(words, refusal.raw, is_sure=unanswered <= intended)
        failpoints.reached("voided")
        assert not isinstance(answer, Receipt)
        return _read(answer, asked, is_sure=unanswered <= intended)

    async def _sign(self, work: VoidingWork, asked: Voiding) -> SignedVoiding | Outcome:
        """Check that no number was taken meanwhile, build the ANECF, sign it and keep it."""
        await self._let_pass()
        for one in asked.ranges:
            taken = await self.db.run(voidable.first_taken, work.tenant_id, asked.environment, one)
            if taken is not None:
                reason = f"{taken.e_ncf} was taken meanwhile by the submission {taken.submission_id}: nothing was sent"
                return NotVoided(state=VoidingState.REFUSED, reason=reason)
        now = self.clock()
        records = await self.db.run_for(work.tenant_id, certificates.in_use)
        try:
            chosen = choose_certificate(candidates_of(records, {}), as_user=None, as_user_id=None, now=now)
            opened = await self.credentials.get(work.tenant_id, chosen.certificate_id)
        except (NoCertificate, CannotOpen) as error:
            return NotVoided(state=VoidingState.REFUSED, reason=error.text.en)
        make = partial(_signed, opened.signer.sign, asked, now)
        document = await trio.to_thread.run_sync(make, limiter=self.credentials.threads)
        signed = SignedVoiding(document, chosen.certificate_id)
        await self.db.run(voiding_queue.keep, work, signed, now)
        return signed

    async def _let_pass(self) -> None:
        """Wait for the end of transactions that may not have seen that the numbers are out of use. Raises TryLater."""
        mark = await self.db.run(voiding_queue.barrier)
        deadline = trio.current_time() + _SECONDS_TO_PASS
        while not await self.db.run(voiding_queue.has_passed, mark):
            if trio.current_time() >= deadline:
                raise TryLater("an older transaction is still open")
            await trio.sleep(_SECONDS_BETWEEN)


def _signed(sign: Any, asked: Voiding, now: datetime) -> bytes:
    return bytes(sign(anecf(asked.issuer_rnc, asked.ranges, now)).xml)


def _read(answer: Verdict, asked: Voiding, *, is_sure: bool) -> Outcome:
    words = [message.valor for message in answer.messages]
    if answer.estado is Estado.REJECTED:
        return _refused("; ".join(filter(None, words)) or "the authority refused it", answer.raw, is_sure=is_sure)
    found = left_out(words, asked.ranges)
    if found is None or bool(found) is not (answer.estado is Estado.CONDITIONAL):
        return VoidInDoubt(
            reason="the authority's answer does not say plainly which numbers are void", answer=answer.raw
        )
    if len(found) == asked.numbers:
        return _refused("the authority left out every number", answer.raw, is_sure=is_sure)
    return NumbersVoided(left_out=tuple(found), answer=answer.raw)


def _refused(reason: str, answer: Mapping[str, Any], *, is_sure: bool) -> Outcome:
    if is_sure:
        return NotVoided(state=VoidingState.REJECTED, reason=reason, answer=answer)
    return VoidInDoubt(reason=f"refused, but an earlier send may have been accepted: {reason}", answer=answer)


# --- writers of outcomes ----------------------------------------------------------------------------------------------


async def _voided(conn: Conn, work: VoidingWork, outcome: NumbersVoided, at: datetime) -> bool:
    return await voiding_queue.void(conn, work, outcome.left_out, outcome.answer, at)


async def _not_voided(conn: Conn, work: VoidingWork, outcome: NotVoided, at: datetime) -> bool:
    return await voiding_queue.release(conn, work, outcome.state, outcome.reason, outcome.answer, at)


async def _in_doubt(conn: Conn, work: VoidingWork, outcome: VoidInDoubt, at: datetime) -> bool:
    _log.warning("a voiding is in doubt: settle it", voiding=str(work.subject), reason=outcome.reason)
    return await voiding_queue.doubt(conn, work, outcome.reason, outcome.answer, at)


async def _retry(conn: Conn, work: VoidingWork, outcome: Retry, _: datetime) -> bool:
    return await voiding_queue.retry(conn, work, after=outcome.after, reason=outcome.reason, counts=outcome.counts)


async def _park(conn: Conn, work: VoidingWork, outcome: Park, at: datetime) -> bool:
    return await voiding_queue.give_up(conn, work, outcome.reason, at)


WRITERS: Mapping[type[Outcome], Writer[VoidingWork]] = {
    NumbersVoided: one_by_one(_voided),
    NotVoided: one_by_one(_not_voided),
    VoidInDoubt: one_by_one(_in_doubt),
    Retry: one_by_one(_retry),
    Park: one_by_one(_park),
}


def voiding_kind(_: Metrics) -> WorkKind[VoidingWork]:
    """Voidings as a kind of work."""
    return WorkKind(VOIDINGS, WRITERS, subject="voiding")


def voiding_stage(
    voider: Voider, kind: WorkKind[VoidingWork], *, budget: float, scale: float = 1.0
) -> StageConfig[VoidingWork]:
    """Build the stage. Its lanes are the authority's main host, so its circuit stops voidings, too."""
    return StageConfig(
        VOID,
        kind,
        voider.void,
        _SLOTS,
        lanes(Host.ECF),
        budget,
        gap=scaled(retry_gap, scale),
        max_attempts=None,
        patience=_PATIENCE * scale,
    )
