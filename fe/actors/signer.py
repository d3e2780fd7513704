"""The signer pool: from an accepted submission to signed bytes that are kept for ever."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

import trio

from fe.actors.credentials import CannotOpen, SigningCredentials
from fe.actors.loop_batcher import LoopBatcher
from fe.actors.outcomes import Failed, Signed, failure_response
from fe.actors.receipt_notes import undecided_receipt, wait_for
from fe.clock import Clock, ClockFault, no_fault
from fe.ecf.modified import NOTES, number_left_open
from fe.ecf.problems import serialize_problem
from fe.ecf.texts import Text
from fe.issuing.certificate_choice import NoCertificate, OutOfTime, choose_certificate
from fe.issuing.large import is_large, is_short
from fe.issuing.rates import KnownRates
from fe.issuing.sign import (
    CannotIssue,
    NumberTaken,
    QrHosts,
    ToSign,
    Unsigned,
    make_unsigned,
    make_unsigned_at,
    sign_unsigned,
)
from fe.lifecycle import NumberFate
from fe.limits import TurnTimeout
from fe.monitoring.metrics import Metrics
from fe.offload.pool import Apart, ApartFailed
from fe.queue.outcome import Outcome, Retry, TryLater
from fe.store.postgres.db import Database
from fe.store.queue import steps
from fe.store.queue.inputs import AcceptedInput, OutgoingDocument, ParallelInput, SigningInput
from fe.store.queue.outbox import Work
from fe.store.queue.steps import SignedDocument
from fe.store.records import numbers, statistics

#: How many problems of a document are kept with its failure; the rest are counted.
_SHOWN_PROBLEMS = 50

#: How long a large document waits for its turn before its row goes back, its attempt not counted; and for how long.
_SLOT_SECONDS = 15.0
_SLOT_AGAIN = timedelta(seconds=2)

#: When a row is due again that this process must not sign, because its clock is wrong.
_ELSEWHERE = timedelta(seconds=2)

#: A certificate that becomes valid within a day is waited for, and looked at once a minute: a new one may be added.
_WAITS_FOR_CERTIFICATE, _LOOK_AGAIN = timedelta(days=1), timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignerPool:
    """Makes, checks and signs documents: short ones in the loop, one after another, all others in threads.

    Of large ones all but the signature is made apart.
    """

    db: Database
    credentials: SigningCredentials
    loop: LoopBatcher[ToSign, SignedDocument]
    #: Bounds the threads that sign longer documents.
    threads: trio.CapacityLimiter
    #: Where large documents are made, all but the signature.
    apart: Apart
    hosts: QrHosts
    clock: Clock
    metrics: Metrics
    rates: KnownRates
    #: For how long a row is leased that goes on at once; and the claim to send what was signed, as Sender.straight.
    lease: timedelta
    claim_to_send: Callable[[Work, OutgoingDocument, str], Work | None]
    #: Reads what a document that was just taken in needs, as `steps.beside`; together with others.
    read_input: Callable[[tuple[Work, AcceptedInput]], Awaitable[ParallelInput]]
    #: Why this process must not sign now, if so.
    clock_fault: ClockFault = no_fault

    async def sign(self, work: Work) -> Outcome:
        """Sign one submission, unless the clock is wrong before or after: then the row goes back, for other processes.

        Cancelled anywhere, nothing has happened: nothing is sent before the booking.
        """
        if (fault := self.clock_fault()) is not None:
            return Retry(fault, _ELSEWHERE, counts=False)
        outcome = await self._sign(work)
        if isinstance(outcome, Signed | Failed) and (fault := self.clock_fault()) is not None:
            return Retry(fault, _ELSEWHERE, counts=False)
        return outcome

    async def _sign(self, work: Work) -> Outcome:
        signing_input = work.input
        if isinstance(signing_input, AcceptedInput):
            signing_input = (await self.read_input((work, signing_input))).signing_input(signing_input)
        elif not isinstance(signing_input, SigningInput):
            signing_input = await self.db.run(steps.signing_input, work)
        if signing_input.ecf_type in NOTES and (number := number_left_open(signing_input.original)) is not None:
            receipt = await self.db.run(numbers.signed_receipt, work, number)
            if receipt is None:
                early = await self.db.run(numbers.undecided, work, number, signing_input.issuer.get("RNCEmisor"))
                if early is not None:
                    return wait_for(early, work.waited)
            signing_input = replace(signing_input, modified=receipt)
        rates = await self.rates()
        now = self.clock()
        try:
            chosen = choose_certificate(
                signing_input.candidates, as_user=signing_input.as_user, as_user_id=signing_input.as_user_id, now=now
            )
            opened = await self.credentials.get(work.tenant_id, chosen.certificate_id)
            with self.metrics.sign_seconds.time():
                if is_large(signing_input.original):
                    unsigned = await self.apart.run(
                        work.tenant_id, make_unsigned_at, signing_input, chosen, now, rates, within=_SLOT_SECONDS
                    )
                    make = partial(_as_made, unsigned)
                else:
                    make = partial(make_unsigned, signing_input, chosen, now=now, rates=rates)
                sign = partial(
                    sign_unsigned,
                    environment=work.environment,
                    chosen=chosen,
                    signer=opened.signer,
                    now=now,
                    hosts=self.hosts,
                )
                if is_short(signing_input.original):
                    document = await self.loop.run(ToSign(make, sign))
                else:
                    document = await trio.to_thread.run_sync(lambda: sign(make()), limiter=self.threads)
        except TurnTimeout:
            return Retry("large documents before it take their time", _SLOT_AGAIN, counts=False)
        except ApartFailed as error:
            raise TryLater(str(error)) from error
        except CannotIssue as error:
            return _fail(error.text, problems=[serialize_problem(p) for p in error.problems[:_SHOWN_PROBLEMS]])
        except NumberTaken as taken:
            response = failure_response(taken.text, otherTaxLogId=str(taken.holder))
            return Failed(response=response, fate=NumberFate.USED)
        except OutOfTime as error:
            return await self._out_of_time(error)
        except (NoCertificate, CannotOpen) as error:
            return _fail(error.text)
        if any(remark["code"] == "tax-rate-assumed" for remark in document.remarks):
            self.metrics.rates_assumed.inc()
        outgoing = steps.outgoing(signing_input, document)
        is_early = await undecided_receipt(self.db, work, outgoing) is not None
        then = None if is_early else self.claim_to_send(work, outgoing, document.host)
        return Signed(document=document, then=then, lease=self.lease)

    async def _out_of_time(self, error: OutOfTime) -> Outcome:
        """Judge by the database's clock whether the certificate has expired or will be valid soon."""
        wait = error.passes_in(await self.db.run(statistics.time_of_day))
        if wait is None or wait > _WAITS_FOR_CERTIFICATE:
            return _fail(error.text)
        return Retry(error.text.en, min(max(wait, _ELSEWHERE), _LOOK_AGAIN), counts=False)


def _as_made(unsigned: Unsigned) -> Unsigned:
    return unsigned


def _fail(error: Text, **more: Any) -> Outcome:
    return Failed(response=failure_response(error, **more), fate=NumberFate.REUSABLE)
