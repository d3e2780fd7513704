"""Asking the authority about dead letters: as the reconciler would, but nothing of the answer is booked."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import trio

from fe.actors.credentials import CannotOpen, SigningCredentials
from fe.actors.outcomes import Adopted, Decided
from fe.actors.reconciler import Reconciler
from fe.authority.client import Authority, Timeouts
from fe.authority.hosts import Hosts
from fe.clock import Clock
from fe.config import ConfigError, Settings
from fe.ecf.catalogue import NUMBERED
from fe.identifiers import SubmissionId
from fe.lifecycle import Stage
from fe.operations.replay import can_be_asked
from fe.queue.outcome import TryLater
from fe.secrets.hsm import open_vault
from fe.store.postgres.db import Database
from fe.store.queue.dead_letters import DeadLetter
from fe.store.queue.outbox import OutboxLane, Work

#: Parallel queries: a look must not burden the authority.
_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class AuthorityAnswer:
    """The authority's answer about a document; `known` is None when it did not say."""

    known: bool | None
    says: str


async def ask_about(
    db: Database, chosen: Sequence[DeadLetter], settings: Settings, *, clock: Clock
) -> dict[SubmissionId, AuthorityAnswer]:
    """Ask the authority about each dead letter whether it knows the document. Nothing is written, here or there.

    Raises ConfigError when the certificates cannot be decrypted for want of a key or the hosts are no addresses.
    """
    answers: dict[SubmissionId, AuthorityAnswer] = {}
    at_once = trio.CapacityLimiter(_AT_ONCE)
    with asking(db, settings, clock=clock) as (authority, credentials):
        reconciler = Reconciler(db, authority, credentials, random.Random())  # noqa: S311  (jitter, never booked)

        async def ask(dead_letter: DeadLetter) -> None:
            async with at_once:
                answers[dead_letter.subject] = await _ask(reconciler, dead_letter)

        async with trio.open_nursery() as nursery:
            for dead_letter in chosen:
                nursery.start_soon(ask, dead_letter)
    return answers


@contextmanager
def asking(db: Database, settings: Settings, *, clock: Clock) -> Iterator[tuple[Authority, SigningCredentials]]:
    """Open the authority for questions, and the certificates that they are asked with, while the block runs.

    Raises ConfigError when the certificates cannot be decrypted for want of a key or the hosts are no addresses.
    """
    credentials = SigningCredentials(db, open_vault(settings), trio.CapacityLimiter(2), clock=clock)
    try:
        hosts = Hosts(settings.authority_ecf_url, settings.authority_fc_url, settings.authority_status_url)
    except ValueError as wrong:
        raise ConfigError(f"FE_AUTHORITY_*_URL: {wrong}") from None
    authority = Authority(
        hosts, clock=clock, timeouts=Timeouts(answer=settings.authority_timeout), connections=_AT_ONCE
    )
    try:
        yield authority, credentials
    finally:
        authority.close()


async def _ask(reconciler: Reconciler, dead_letter: DeadLetter) -> AuthorityAnswer:
    if not can_be_asked(dead_letter):
        where = f" in {dead_letter.environment}" if dead_letter.root in NUMBERED else ""
        nobody = f"no service tells about such documents{where}"
        why = "it was never signed" if dead_letter.certificate_id is None else nobody
        return AuthorityAnswer(None, f"not asked: {why}")
    work = Work(
        stage=Stage.RECONCILE,
        lane=OutboxLane(dead_letter.environment, dead_letter.host),
        tenant_id=dead_letter.tenant_id,
        subject=dead_letter.subject,
        attempt=1,
        epoch=0,  # no claim has it: should this ever be booked, it would be refused
        crash_count=0,
        waited=timedelta(0),
        last_error=dead_letter.error,
    )
    try:
        outcome = await reconciler.reconcile(work)
    except CannotOpen as closed:
        return AuthorityAnswer(None, f"not asked: {closed}")
    except TryLater as later:
        return AuthorityAnswer(None, f"no answer: {later.reason}")
    match outcome:
        case Decided(status=status):
            return AuthorityAnswer(True, f"knows it: {status}")
        case Adopted():
            return AuthorityAnswer(True, "knows it, and has not judged it yet")
        case _:
            return AuthorityAnswer(False, "does not know it")
