"""Replaying dead letters: what would happen, what stands in the way, and doing it at a pace that can be stopped.

The command line uses these functions; whatever else operators get will use the same.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import trio

from fe.clock import Clock, for_people
from fe.ecf.catalogue import NUMBERED, TELLS_BY_NUMBER, Host
from fe.identifiers import ReplayPlanId, SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.store.postgres.db import Conn, Database
from fe.store.queue import audit, dead_letters, replay_plans, replay_progress
from fe.store.queue.audit import OperatorAction
from fe.store.queue.dead_letters import DeadLetter
from fe.store.queue.replay_plans import ReplayPlan
from fe.store.queue.replay_progress import Progress, ReplayTrouble


@dataclass(frozen=True, slots=True)
class PlanPatience:
    """For how long a plan that runs waits, in seconds."""

    #: How long the canaries may take to come to their verdicts before the plan stops.
    canary: float = 120.0
    #: A row that failed is tried again by itself. Nothing more is released meanwhile, and if it has not got on after so
    #: long, which is three tries, the plan stops: the last of its eight tries would be eight minutes away.
    trouble: float = 15.0
    #: How often a plan is looked at as a whole: who follows it is told, and failures hold or stop it.
    look: float = 0.5


PLAN_PATIENCE = PlanPatience()

#: A look at a large plan costs something: at most this part of the time is spent looking.
_LOOKING = 0.2


@dataclass(frozen=True, slots=True)
class Preview:
    """What a replay of one row would do. `obstacles` are reasons why it would fail again."""

    dead_letter: DeadLetter
    was_sent: str
    would: str
    #: `would` without what differs from row to row, to count alike ones.
    kind: str
    obstacles: tuple[str, ...]


def preview(dead_letter: DeadLetter, now: datetime) -> Preview:
    """Say what was sent of a dead letter, what a replay would send, and what stands in the way, from what we know."""
    would = _would(dead_letter, f" {_digest(dead_letter)}", f"trackId {dead_letter.track_id}")
    kind = _would(dead_letter, "", "its trackId")
    return Preview(dead_letter, _was_sent(dead_letter), would, kind, tuple(_obstacles(dead_letter, now)))


def can_be_asked(dead_letter: DeadLetter) -> bool:
    """Whether the authority may know of it, and has a service that tells.

    None tells of approvals and voidings, nor in certification of anything but summaries.
    """
    tells = dead_letter.host == Host.FC or dead_letter.environment in TELLS_BY_NUMBER
    return dead_letter.certificate_id is not None and dead_letter.root in NUMBERED and tells


def _was_sent(dead_letter: DeadLetter) -> str:
    if dead_letter.sends == 0:
        return "nothing"
    times = "once" if dead_letter.sends == 1 else f"{dead_letter.sends} times"
    last = for_people(dead_letter.last_sent_at)
    what = f"the bytes {_digest(dead_letter)} may have reached the authority {times}, last at {last}"
    if dead_letter.open_sends:
        which = "it" if dead_letter.sends == 1 else f"{dead_letter.open_sends} of these"
        return f"{what}; what became of {which} is not known"
    return what


def _would(dead_letter: DeadLetter, digest: str, track: str) -> str:
    match dead_letter.stage:
        case Stage.SIGN:
            return "sign it, and send it for the first time"
        case Stage.TRACK:
            return f"ask again for the verdict of {track}; send nothing"
        case Stage.SEND if dead_letter.sends == 0:
            return f"send the signed bytes{digest} for the first time"
        case Stage.SEND | Stage.RECONCILE if not can_be_asked(dead_letter):
            kind = f"in {dead_letter.environment}" if dead_letter.root in NUMBERED else "of this kind"
            again = f"send the same bytes{digest} again: nobody can be asked about a document {kind}"
            # Where its last send was given a trackId, what became of that one is asked first.
            known = dead_letter.root in NUMBERED and dead_letter.track_id is not None
            return f"ask for the verdict of {track}; else {again}" if known else again
        case Stage.SEND | Stage.RECONCILE:
            return f"ask the authority; if it does not know the document, send the same bytes{digest} again"


def _obstacles(dead_letter: DeadLetter, now: datetime) -> Iterator[str]:
    if dead_letter.certificate_until is None:
        yield "the tenant has no certificate: it cannot be signed"
    elif dead_letter.certificate_until <= now:
        day = f"{dead_letter.certificate_until:%Y-%m-%d}"
        is_signed = dead_letter.certificate_id is not None
        why = "the authority opens no session for it" if is_signed else "it cannot be signed"
        yield f"the tenant's last certificate expired on {day}: {why}"
    if dead_letter.sequence_until is not None and dead_letter.sequence_until <= now:
        yield f"the sequence of {(dead_letter.e_ncf or '')[:3]} expired on {dead_letter.sequence_until:%Y-%m-%d}"
    if dead_letter.accepted_instead is not None:
        other = dead_letter.accepted_instead
        yield f"the number was accepted with another submission, {other}: this one will be rejected"
    if dead_letter.crash_count:
        yield f"{dead_letter.crash_count} processes died over it: it may end the next one too"
    if dead_letter.paused_by is not None:
        yield f"its tenant or environment is paused by {dead_letter.paused_by}: it would wait"
    if dead_letter.circuit_open:
        yield f"the authority's host {dead_letter.host} in {dead_letter.environment} has an open circuit: it would wait"


def _digest(dead_letter: DeadLetter) -> str:
    return (dead_letter.sent_sha256 or "?")[:12]


@dataclass(frozen=True, slots=True)
class Run:
    """How far a run of a plan came. `stopped` says which failure ended it; None: it came to the plan's end.

    `was_halted`: that was on record before, by whoever stopped the plan, who may have gone on with it since.
    """

    progress: Progress
    stopped: str | None = None
    was_halted: bool = False


async def run_plan(
    db: Database,
    plan: ReplayPlan,
    by_whom: str,
    *,
    clock: Clock,
    go_on: bool = False,
    try_again: bool = False,
    wait: bool = True,
    tell: Callable[[Progress], None] = lambda _: None,
    patience: PlanPatience = PLAN_PATIENCE,
) -> Run:
    """Release the rows of a plan that are not released yet, and wait for their ends; or stop when rows fail.

    Each row is released in one transaction of its own, so a crash or a cancellation anywhere leaves a plan that the
    same call takes up again: no row is released twice, none is forgotten, and the pace is kept, however many run it.
    What stopped it stops it again, until an operator says otherwise: with `try_again` the rows that are dead letters
    again are released once more; with `go_on` the rows that failed are passed over, canaries go first again, and
    failures after that stop it as before. Without `wait` it returns when all are
    released; with it, when none is under way any more, which may take as long as the authority does.
    """
    if go_on:
        await db.transact(replay_plans.go_on, plan.plan_id)
    elif try_again:
        await db.transact(replay_plans.try_again, plan.plan_id)
    watch = _Watch(db, plan, tell, patience)
    all_released = False
    while True:
        stopped = await watch.look()
        if stopped is not None:
            return Run(watch.progress, stopped)
        if all_released and (not wait or watch.progress.open <= 0):
            return Run(watch.progress)
        if all_released or watch.holds:
            await trio.sleep(patience.look)
            continue
        action = OperatorAction.of(by_whom, plan.reason, clock())
        step = await db.transact(replay_plans.release_next, action, plan.plan_id)
        match step.what:
            case "early":
                await trio.sleep(min(step.wait, patience.look))
            case "canaries":
                watch.awaits_canaries()
            case "halted":
                progress = await db.run(replay_progress.progress, plan.plan_id)
                return Run(progress, await _why_halted(db, plan), was_halted=True)
            case "done":
                await db.run(replay_plans.finish, plan.plan_id, clock())
                all_released = True
                watch.look_anew()


async def _why_halted(db: Database, plan: ReplayPlan) -> str:
    found = await db.run(replay_plans.find, plan.plan_id)
    return (found.halted_because if found else None) or "it was stopped"


class _Watch:
    """Looks at a plan now and then; `holds` while nothing more is to be released."""

    def __init__(
        self, db: Database, plan: ReplayPlan, tell: Callable[[Progress], None], patience: PlanPatience
    ) -> None:
        self._patience = patience
        self._db = db
        self._plan = plan
        self._tell = tell
        self._look_at = trio.current_time()
        #: As it was at the last look.
        self.progress = Progress(total=0, released=0, skipped=0, ended=0, failed=[])
        #: Since when rows fail, and since when canaries are waited for.
        self._failing_since: float | None = None
        self._canaries_since: float | None = None

    @property
    def holds(self) -> bool:
        return self._failing_since is not None or self._canaries_since is not None

    def awaits_canaries(self) -> None:
        """The canaries are out: nothing is released before they are through. They are looked at from now on."""
        if self._canaries_since is None:
            self._canaries_since = trio.current_time()
            self.look_anew()

    def look_anew(self) -> None:
        """Something has changed: the next look is due now."""
        self._look_at = trio.current_time()

    async def look(self) -> str | None:
        """Say why the plan has to stop; None when it has not, or when the last look was a moment ago."""
        began = trio.current_time()
        if began < self._look_at:
            return None
        await self._count()
        why = await self._failures() or await self._canaries()
        if why is not None:  # what has come since the rows were counted must be among them
            await self._count()
        now = trio.current_time()
        self._look_at = now + max(self._patience.look, (now - began) * (1 / _LOOKING - 1))
        return why

    async def _count(self) -> None:
        self.progress = await self._db.run(replay_progress.progress, self._plan.plan_id)
        self._tell(self.progress)

    async def _failures(self) -> str | None:
        found = await self._db.run(replay_progress.troubles, self._plan.plan_id)
        # A plan that failures do not stop has canaries all the same, unless it was made without.
        counted = [one for one in found if one.is_canary or self._plan.stop_on_failure]
        if not counted:
            self._failing_since = None
            return None
        first = counted[0]
        if first.gave_up:
            return _said(counted, "failed again")
        now = trio.current_time()
        self._failing_since = self._failing_since or now
        return _said(counted, "fails") if now - self._failing_since >= self._patience.trouble else None

    async def _canaries(self) -> str | None:
        if self._canaries_since is None:
            return None
        still = await self._db.run(replay_progress.open_canaries, self._plan.plan_id)
        if not still:
            await self._db.transact(replay_plans.pass_canaries, self._plan.plan_id)
            self._canaries_since = None  # whoever releases the next row is told whether others are awaited now
        elif trio.current_time() - self._canaries_since >= self._patience.canary:
            waits = f"waits in stage {still[0].stage}" if still[0].stage else "is not under way"
            failed = f"; its last try failed: {still[0].error}" if still[0].error else ""
            return f"a canary came to no end within {self._patience.canary:g} s: {still[0].subject} {waits}{failed}"
        return None


def _said(troubles: Sequence[ReplayTrouble], what: str) -> str:
    first = troubles[0]
    number = f" {first.e_ncf}" if first.e_ncf else ""
    who = "a canary" if first.is_canary else "a released row"
    more = f", and {len(troubles) - 1} more in trouble" if len(troubles) > 1 else ""
    return f"{who} {what}: {first.subject}{number}: {first.error}{more}"


async def halt_plan(conn: Conn, plan_id: ReplayPlanId, by: OperatorAction) -> bool:
    """Stop a plan, whoever runs it, until an operator goes on; False where it is over or was stopped before.

    One transaction's work, with the act on record in it.
    """
    if not await replay_plans.halt(conn, plan_id, f"{by.by_whom}: {by.reason}", by.at):
        return False
    await audit.record(conn, by, "plan stop", None, None, {"plan": plan_id})
    return True


async def act_on_each(
    db: Database,
    found: Sequence[DeadLetter],
    act: Callable[[Conn, OperatorAction, TenantId, SubmissionId], Awaitable[str | None]],
    by_whom: str,
    reason: str,
    *,
    clock: Clock,
) -> dict[SubmissionId, str | None]:
    """Do one thing to every dead letter, each in its own transaction; None for those that are none any more.

    Nor to one that was set going since it was looked at, and has died anew: for another reason, perhaps.
    """

    async def act_on(conn: Conn, action: OperatorAction, one: DeadLetter) -> str | None:
        if not await dead_letters.unchanged(conn, [(one.tenant_id, one.subject, one.died_at)]):
            return None
        return await act(conn, action, one.tenant_id, one.subject)

    done: dict[SubmissionId, str | None] = {}
    for dead_letter in found:
        action = OperatorAction.of(by_whom, reason, clock())
        done[dead_letter.subject] = await db.transact(act_on, action, dead_letter)
    return done
