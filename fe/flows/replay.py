"""Replaying dead letters: what would happen, what stands in the way, and doing it at a pace that can be stopped.

The command line uses these functions; whatever else operators get will use the same.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import trio

from fe.clock import Clock
from fe.ecf.catalogue import Root
from fe.ecf.ids import new_id
from fe.ecf.states import Stage
from fe.store import replay_plans
from fe.store.db import Conn, Database
from fe.store.dead_letters import DeadLetter
from fe.store.operators import Act
from fe.store.replay_plans import Plan, Progress

#: How long the canaries are watched before the rest is released, and how often.
CANARY_PATIENCE = 120.0
_LOOK_SECONDS = 0.5

#: How often a plan that runs is looked at as a whole: who follows it is told, and failures stop it.
_TELL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Preview:
    """What a replay of one row would do. `obstacles` are reasons why it would fail again."""

    letter: DeadLetter
    was_sent: str
    would: str
    obstacles: tuple[str, ...]


def preview(letter: DeadLetter, now: datetime) -> Preview:
    """Say what was sent of a dead letter, what a replay would send, and what stands in the way, from what we know."""
    return Preview(letter, _was_sent(letter), _would(letter), tuple(_obstacles(letter, now)))


def can_be_asked(letter: DeadLetter) -> bool:
    """Whether the authority may know of it, and has a service that tells (none tells of approvals and voidings)."""
    return letter.certificate_id is not None and letter.root in (Root.ECF, Root.RFCE)


def _was_sent(letter: DeadLetter) -> str:
    if letter.sends == 0:
        return "nothing"
    times = "once" if letter.sends == 1 else f"{letter.sends} times"
    what = f"the bytes {_digest(letter)} may have reached the authority {times}, last at {_clock(letter.last_sent_at)}"
    if letter.open_sends:
        return f"{what}; what became of {'it' if letter.sends == 1 else f'{letter.open_sends} of these'} is not known"
    return what


def _would(letter: DeadLetter) -> str:
    match Stage(letter.stage):
        case Stage.SIGN:
            return "sign it, and send it for the first time"
        case Stage.TRACK:
            return f"ask again for the verdict of trackId {letter.track_id}; send nothing"
        case Stage.SEND if letter.sends == 0:
            return f"send the signed bytes {_digest(letter)} for the first time"
        case Stage.SEND | Stage.RECONCILE if not can_be_asked(letter):
            return f"send the same bytes {_digest(letter)} again: nobody can be asked about a document of this kind"
        case Stage.SEND | Stage.RECONCILE:
            return f"ask the authority; if it does not know the document, send the same bytes {_digest(letter)} again"


def _obstacles(letter: DeadLetter, now: datetime) -> Iterator[str]:
    if letter.certificate_until is None:
        yield "the tenant has no certificate: it cannot be signed"
    elif letter.certificate_until <= now:
        day = f"{letter.certificate_until:%Y-%m-%d}"
        if letter.certificate_id is None:
            yield f"the tenant's last certificate expired on {day}: it cannot be signed"
        else:
            yield f"its certificate expired on {day}: the authority opens no session for it"
    if letter.sequence_until is not None and letter.sequence_until <= now:
        yield f"the sequence of {(letter.e_ncf or '')[:3]} expired on {letter.sequence_until:%Y-%m-%d}"
    if letter.accepted_instead is not None:
        yield f"the number was accepted with another submission, {letter.accepted_instead}: this one will be rejected"
    if letter.deaths:
        yield f"{letter.deaths} processes died over it: it may end the next one too"
    if letter.paused_by is not None:
        yield f"its tenant or environment is paused by {letter.paused_by}: it would wait"
    if letter.circuit_open:
        yield f"the authority's host {letter.host} in {letter.environment} is left alone now: it would wait"


def _digest(letter: DeadLetter) -> str:
    return (letter.sent_sha256 or "?")[:12]


def _clock(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S}Z" if moment is not None else "?"


@dataclass(frozen=True, slots=True)
class Run:
    """How far a run of a plan came. `stopped` says why it ended before the plan's end; None: it did not."""

    progress: Progress
    stopped: str | None = None


async def run_plan(
    db: Database,
    plan: Plan,
    by_whom: str,
    *,
    clock: Clock,
    go_on: bool = False,
    tell: Callable[[Progress], None] = lambda _: None,
) -> Run:
    """Release the rows of a plan that are not released yet; return when all are, or when a failure stops it.

    Each row is released in one transaction of its own, so a crash or a cancellation anywhere leaves a plan that the
    same call takes up again: no row is released twice, none is forgotten, and the pace is kept, however many run it.
    `go_on` overrides what the plan says of failures and canaries, for an operator who has seen them.
    """
    if go_on:
        await db.run(replay_plans.pass_canaries, plan.plan_id)
    look_at = trio.current_time()
    while True:
        if trio.current_time() >= look_at:
            progress = await db.run(replay_plans.progress, plan.plan_id)
            tell(progress)
            if progress.failed and plan.stop_on_failure and not go_on:
                return Run(progress, f"{len(progress.failed)} of the released rows failed again")
            look_at = trio.current_time() + _TELL_SECONDS
        now = clock()
        act = Act(new_id(now), now, by_whom, plan.reason)
        step = await db.transact(replay_plans.release_next, act, plan.plan_id)
        match step.what:
            case "early":
                await trio.sleep(min(step.wait, _TELL_SECONDS))
            case "canaries":
                trouble = await _watch_canaries(db, plan, tell)
                if trouble is not None:
                    return Run(await db.run(replay_plans.progress, plan.plan_id), trouble)
                await db.run(replay_plans.pass_canaries, plan.plan_id)
            case "done":
                await db.run(replay_plans.finish, plan.plan_id, clock())
                return Run(await db.run(replay_plans.progress, plan.plan_id))


async def _watch_canaries(db: Database, plan: Plan, tell: Callable[[Progress], None]) -> str | None:
    """Wait for the canaries' ends; say what is wrong with them, or None when all got through."""
    with trio.move_on_after(CANARY_PATIENCE):
        while True:
            tell(await db.run(replay_plans.progress, plan.plan_id))
            match await db.run(replay_plans.canaries, plan.plan_id):
                case "well":
                    return None
                case "failed":
                    return "a canary failed again"
            await trio.sleep(_LOOK_SECONDS)
    return f"the canaries did not come to an end within {CANARY_PATIENCE:g} s"


async def act_on_each(
    db: Database,
    letters: Sequence[DeadLetter],
    act: Callable[[Conn, Act, int, UUID], Awaitable[str | None]],
    by_whom: str,
    reason: str,
    *,
    clock: Clock,
) -> dict[UUID, str | None]:
    """Do one thing to every letter, each in its own transaction; None for those that were no dead letters any more."""
    done: dict[UUID, str | None] = {}
    for letter in letters:
        now = clock()
        deed = Act(new_id(now), now, by_whom, reason)
        done[letter.subject] = await db.transact(act, deed, letter.tenant_id, letter.subject)
    return done
