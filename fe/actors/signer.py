"""The signer: makes and signs the document of an accepted submission."""

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
from fe.issuing.document_size import is_large, is_short
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
from fe.store.postgres.clocks import time_of_day
from fe.store.postgres.db import Database
from fe.store.queue import steps
from fe.store.queue.inputs import AcceptedInput, OutgoingDocument, ParallelInput, SigningInput
from fe.store.queue.outbox import Work
from fe.store.queue.steps import SignedDocument
from fe.store.records import numbers

#: Problems of a document kept with its failure.
_SHOWN_PROBLEMS = 50

#: How long a large document waits for a process before its row is given back, uncounted; and until it is due again.
_SLOT_SECONDS = 15.0
_SLOT_AGAIN = timedelta(seconds=2)

#: When a row is due again that this process must not sign because of a clock fault.
_ELSEWHERE = timedelta(seconds=2)

#: Wait for a certificate that becomes valid within a day; look once a minute, since a new one may be added.
_WAITS_FOR_CERTIFICATE, _LOOK_AGAIN = timedelta(days=1), timedelta(minutes=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignerPool:
    """Makes, checks and signs documents: short ones in the event loop, longer ones in threads.

    Large ones are made in a process of the offload pool and signed in a thread.
    """

    db: Database
    credentials: SigningCredentials
    loop: LoopBatcher[ToSign, SignedDocument]
    #: Bounds the threads that sign longer documents.
    threads: trio.CapacityLimiter
    #: Makes large documents, except for the signature.
    apart: Apart
    hosts: QrHosts
    clock: Clock
    metrics: Metrics
    rates: KnownRates
    #: Lease of a handed-over row; and Sender.claim_to_send.
    lease: timedelta
    claim_to_send: Callable[[Work, OutgoingDocument, str], Work | None]
    #: Reads the input of a row from direct intake (`steps.beside`), batched.
    read_input: Callable[[tuple[Work, AcceptedInput]], Awaitable[ParallelInput]]
    #: Returns the reason not to sign now, if there is one.
    clock_fault: ClockFault = no_fault

    async def sign(self, work: Work) -> Outcome:
        """Sign one submission. With a clock fault before or after, the row is given back for other processes.

        Cancelled anywhere, nothing has happened: nothing is sent before the outcome is written.
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
        is_open = signing_input.ecf_type in NOTES and signing_input.format != "signed"
        if is_open and (number := number_left_open(signing_input.original)) is not None:
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
        wait = error.passes_in(await self.db.run(time_of_day))
        if wait is None or wait > _WAITS_FOR_CERTIFICATE:
            return _fail(error.text)
        return Retry(error.text.en, min(max(wait, _ELSEWHERE), _LOOK_AGAIN), counts=False)


def _as_made(unsigned: Unsigned) -> Unsigned:
    return unsigned


def _fail(error: Text, **more: Any) -> Outcome:
    return Failed(response=failure_response(error, **more), fate=NumberFate.REUSABLE)
