"""`python -m tests.faults.mutant NAME ...`: the `fe` command with one deliberate bug in it.

One bug for each invariant, of the kind that a tired engineer writes. The harness must catch every one of them: what it
does not catch here it would not catch in earnest. See mutants.py for what each needs to show itself.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from email.message import EmailMessage
from typing import Any
from uuid import uuid4

import psycopg
import trio

from fe.actors import deliverer, mailer, outcomes
from fe.actors.outcomes import SendAgain
from fe.actors.reconciler import Reconciler
from fe.actors.sender import Sender
from fe.authority.client import Verdict
from fe.authority.estado import Estado
from fe.clock import Clock, boot_seconds
from fe.ecf.catalogue import Environment
from fe.egress.client import Egress
from fe.http.auth import authenticate as auth
from fe.identifiers import ApiKeyId, TenantId
from fe.issuing import paper_replacing
from fe.issuing.deferral import KnownDeferrals
from fe.issuing.paper_replacing import PaperState
from fe.lifecycle import Status
from fe.mail.message import ReceiptMail, message_id_of, receipt_message
from fe.mail.relay import Relay
from fe.queue.lease_guard import LeaseGuard
from fe.queue.outcome import Outcome
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import DatabaseUnavailable, NoNumber
from fe.store.queue import claim as claims
from fe.store.queue import outbox, steps, workers
from fe.store.queue.capacity import LaneCapacity, LaneClaim, Terms
from fe.store.queue.claim import claim_together
from fe.store.queue.inputs import OutgoingDocument
from fe.store.queue.outbox import Work
from fe.store.queue.steps import IntentAnswer, SignedAnswer, SignedDocument
from fe.store.queue.tables import AnyTable
from fe.store.records import paper, submissions
from fe.store.records.keys import ApiKey
from fe.store.records.paper import PaperRecord, TriedSubmission
from fe.store.records.submissions import Accepted, Leases, NewSubmission
from fe.webhooks import exchange
from fe.webhooks.exchange import Tried, WebhookCall

_accept = submissions.accept
_accept_many = submissions.accept_many
_claim = outbox.claim
_outgoing_document = steps.outgoing_document
_send = Sender.send
_try_once = exchange.try_once
_receipt_message = receipt_message


def acknowledges_too_early() -> None:
    """I1: a database that cannot be asked is no reason to keep the client waiting."""

    async def accept(conn: Conn, new: NewSubmission, at: datetime) -> Accepted:
        try:
            return await _accept(conn, new, at)
        except psycopg.OperationalError:
            return Accepted("accepted", new.submission_id, Status.QUEUED, new.e_ncf, True)

    async def accept_many(
        conn: Conn, batch: Sequence[tuple[NewSubmission, datetime]], leases: Leases | None = None
    ) -> list[Accepted | NoNumber]:
        try:
            return await _accept_many(conn, batch, leases)
        except psycopg.OperationalError:
            return [Accepted("accepted", new.submission_id, Status.QUEUED, new.e_ncf, True) for new, _ in batch]

    submissions.accept = accept
    submissions.accept_many = accept_many


def makes_the_document_anew() -> None:
    """I2: another try, another moment of signing."""

    async def outgoing_document(conn: Conn, work: Work) -> OutgoingDocument:
        kept = await _outgoing_document(conn, work)
        return replace(kept, content=kept.content + b"\n" * work.epoch) if work.epoch > 2 else kept

    async def send(self: Sender, work: Work) -> Outcome:
        if work.epoch > 2 and isinstance(work.input, OutgoingDocument):
            content = work.input.content + b"\n" * work.epoch
            work = replace(work, input=replace(work.input, content=content))
        return await _send(self, work)

    steps.outgoing_document = outgoing_document
    Sender.send = send  # type: ignore[method-assign]


def announces_nothing() -> None:
    """I3: the intent is written down when there is time."""

    async def intend_to_send(conn: Conn, works: Sequence[Work], **_: Any) -> list[IntentAnswer]:
        return ["go"] * len(works)

    steps.intend_to_send = intend_to_send
    _never_straight_through()


def _never_straight_through() -> None:
    """Disable the direct hand-over from signer to sender: each send is announced in a transaction of its own."""
    whole = steps.signed

    async def signed(
        conn: Conn, works: Sequence[Work], documents: Sequence[SignedDocument], *, at: datetime, leases: Sequence[Any]
    ) -> list[SignedAnswer]:
        return await whole(conn, works, documents, at=at, leases=[None] * len(leases))

    steps.signed = signed


#: Tries of a row before it asks after all: else it would be tried until the run's last patience is over.
_TRIES_WITHOUT_ASKING = 20


def asks_nobody() -> None:
    """I3: no answer means that nothing arrived."""
    ask = outbox.doubt

    async def doubt(
        conn: Conn, works: Sequence[Work], *, at: datetime, afters: Sequence[timedelta], errors: Sequence[str]
    ) -> list[bool]:
        if any(work.attempt > _TRIES_WITHOUT_ASKING for work in works):
            return await ask(conn, works, at=at, afters=afters, errors=errors)
        return await outbox.retry(conn, works, at=at, afters=afters, counts=[True] * len(works), errors=errors)

    outbox.doubt = doubt


_ANNOUNCE_ANYWAY = """
    INSERT INTO sends (tenant_id, submission_id, epoch, digest, intended_at)
    VALUES (%(tenant)s, %(subject)s, %(epoch)s, %(digest)s, %(at)s)
    ON CONFLICT DO NOTHING
"""


def fences_nothing() -> None:
    """I3: what was claimed once is ours, however long ago that was."""

    async def intend_to_send(
        conn: Conn, works: Sequence[Work], *, at: datetime, leases: Sequence[timedelta], digests: Sequence[bytes]
    ) -> list[IntentAnswer]:
        await trio.sleep(0.4)  # a slow machine: time to be frozen in
        for work, digest in zip(works, digests, strict=True):
            claim = {"tenant": work.tenant_id, "subject": work.subject, "epoch": work.epoch}
            await conn.execute(_ANNOUNCE_ANYWAY, {**claim, "digest": digest, "at": at})
        return ["go"] * len(works)

    steps.intend_to_send = intend_to_send
    _never_straight_through()


def tries_a_rejection_again() -> None:
    """I3: a rejection is a failure like another."""
    final = outcomes.final

    def again(verdict: Verdict, **more: Any) -> Outcome:
        if verdict.estado is Estado.REJECTED:
            return SendAgain(reason="rejected", after=timedelta(seconds=1))
        return final(verdict, **more)

    vars(outcomes)["final"] = again


def sleeps_and_sends() -> None:
    """I3: what was announced goes out, however long ago that was."""
    LeaseGuard.look = lambda self: lambda: None  # type: ignore[method-assign]


def never_looks_after_the_dead() -> None:
    """I8: no rescue, and leases without end."""

    async def rescue(
        conn: Conn, tables: Sequence[AnyTable], silence: timedelta, apart: timedelta = timedelta(0)
    ) -> list[str]:
        return []

    async def claim(*args: Any, **options: Any) -> list[Work]:
        return await _claim(*args, **{**options, "lease": timedelta(hours=1)})

    async def together(
        conn: Conn, stage: str, lanes: Sequence[LaneCapacity], terms: Terms, *, traced: bool = False
    ) -> Sequence[LaneClaim[Work]]:
        return await claim_together(conn, stage, lanes, replace(terms, lease=timedelta(hours=1)), traced=traced)

    workers.rescue = rescue
    outbox.claim = claim
    claims.claim_together = together


def remembers_keys_for_ever() -> None:
    """I9: a key that was good stays good."""
    build = auth.KeyStates.__init__

    def for_ever(
        self: auth.KeyStates,
        db: Database,
        patience: auth.KeyPatience = auth.KEY_PATIENCE,
        now: Callable[[], float] = boot_seconds,
    ) -> None:
        build(self, db, replace(patience, fresh=1e9, believed=1e9), now)

    auth.KeyStates.__init__ = for_ever  # type: ignore[method-assign]


def renews_the_hold() -> None:
    """I11: a call that is turned away because the database did not answer a moment ago makes that moment now."""
    ask = auth.KeyStates._ask

    async def _ask(self: auth.KeyStates, api_key_id: ApiKeyId) -> ApiKey | None:
        try:
            return await ask(self, api_key_id)
        except DatabaseUnavailable:
            self._failed_at.put(api_key_id, self._now())
            raise

    auth.KeyStates._ask = _ask  # type: ignore[method-assign]


def believes_every_duplicate() -> None:
    """V: take each used number for another taxpayer's."""

    async def resolve_duplicate(self: Reconciler, work: Work, opened: Any, otherwise: Outcome) -> Outcome:
        return otherwise

    Reconciler.resolve_duplicate = resolve_duplicate  # type: ignore[method-assign]


def takes_silence_for_yes() -> None:
    """I7: it was sent, so it will have arrived."""

    async def once(*args: Any, **more: Any) -> Tried:
        return replace(await _try_once(*args, **more), error=None)

    vars(deliverer)["try_once"] = once


def calls_it_another_name() -> None:
    """I7: a call is a call, and each has an id of its own."""

    async def once(egress: Egress, call: WebhookCall, clock: Clock, **more: Any) -> Tried:
        return await _try_once(egress, replace(call, delivery_id=str(uuid4())), clock, **more)

    vars(deliverer)["try_once"] = once


def names_each_mail_anew() -> None:
    """I13: a mail is a mail, and each try has a Message-ID of its own."""

    def made(relay: Relay, mail: ReceiptMail, *args: Any) -> EmailMessage:
        return _receipt_message(relay, replace(mail, message_id=message_id_of(uuid4(), relay.sender)), *args)

    vars(mailer)["receipt_message"] = made


def defers_for_anyone() -> None:
    """I15: a company that says so will be authorised."""

    async def problem(self: KnownDeferrals, tenant_id: TenantId, environment: Environment, at: datetime) -> None:
        return None

    KnownDeferrals.problem = problem  # type: ignore[method-assign]  # the mutant is the replaced method


def replaces_it_again() -> None:
    """I16: each request for a replacement issues another e-CF."""

    def rejected(record: PaperRecord, tried: TriedSubmission | None) -> PaperState:
        return PaperState.OPEN if tried is None else PaperState.REJECTED

    vars(paper_replacing)["paper_state"] = rejected
    vars(paper)["_FREE_TRY"] = vars(paper)["_FREE_TRY"].replace("IN ('Rechazado', 'error')", "<> ''")


def as_it_is() -> None:
    """No bug here: those that live in the database are put there by mutants.py."""


BUGS: dict[str, Callable[[], None]] = {
    bug.__name__.replace("_", "-"): bug
    for bug in (
        acknowledges_too_early,
        makes_the_document_anew,
        announces_nothing,
        asks_nobody,
        fences_nothing,
        tries_a_rejection_again,
        sleeps_and_sends,
        never_looks_after_the_dead,
        remembers_keys_for_ever,
        renews_the_hold,
        believes_every_duplicate,
        takes_silence_for_yes,
        calls_it_another_name,
        names_each_mail_anew,
        defers_for_anyone,
        replaces_it_again,
        as_it_is,
    )
}

if __name__ == "__main__":
    from fe.cli import main

    name = sys.argv.pop(1)
    BUGS[name]()
    main()
