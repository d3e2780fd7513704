"""Replay dead letters: preview effect and obstacles, then run a plan; fe/store/queue/replay_plans.py sets its pace."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import trio

from fe.clock import Clock
from fe.ecf.catalogue import NUMBERED, TELLS_BY_NUMBER, Host
from fe.ecf.texts import Text
from fe.identifiers import ReplayPlanId, SubmissionId, TenantId
from fe.lifecycle import Stage
from fe.operations.why import COMMANDS, Reader
from fe.store.postgres.db import Conn, Database
from fe.store.queue import audit, dead_letters, replay_plans
from fe.store.queue.audit import OperatorAction
from fe.store.queue.dead_letters import DeadLetter
from fe.store.queue.replay_plans import Progress, ReplayPlan, ReplayTrouble


@dataclass(frozen=True, slots=True)
class PlanPatience:
    """How long a running plan waits, in seconds."""

    #: How long the canary may take to reach its verdict before the plan stops.
    canary: float = 120.0
    #: A failed row is retried by itself, and the plan releases no more rows meanwhile. If rows still fail after this
    #: time (three tries), the plan stops: the last of a row's eight tries would be eight minutes away.
    trouble: float = 15.0
    #: Time between looks at the whole plan: each reports the progress, and failures hold or stop the plan.
    look: float = 0.5


PLAN_PATIENCE = PlanPatience()

#: Looking at a large plan is expensive: at most this part of the time is spent on it.
_LOOKING = 0.2


@dataclass(frozen=True, slots=True)
class Preview:
    """The effect that a replay of one row would have. `obstacles` are reasons why it would fail again."""

    dead_letter: DeadLetter
    was_sent: Text
    would: Text
    #: `would` without the values that differ from row to row, to count equal ones.
    kind: Text
    obstacles: tuple[Text, ...]


def preview(dead_letter: DeadLetter, now: datetime, reader: Reader = COMMANDS) -> Preview:
    """Tell from our records what was sent of a dead letter, what a replay would send, and the obstacles."""
    would = _would(dead_letter, f" {_digest(dead_letter)}", _TRACK.fill(track=dead_letter.track_id))
    kind = _would(dead_letter, "", _ITS_TRACK)
    return Preview(
        dead_letter, _was_sent(dead_letter, reader), would, kind, tuple(_obstacles(dead_letter, now, reader))
    )


def can_be_asked(dead_letter: DeadLetter) -> bool:
    """Whether the authority may have the document, and has a service that answers about it.

    No service answers about approvals and voidings. In certification they answer about summaries only.
    """
    tells = dead_letter.host == Host.FC or dead_letter.environment in TELLS_BY_NUMBER
    return dead_letter.certificate_id is not None and dead_letter.root in NUMBERED and tells


_TRACK = Text("trackId {track}", "el trackId {track}")
_ITS_TRACK = Text("its trackId", "su trackId")
_NOTHING = Text("nothing", "nada")
_ONCE = Text("once", "una vez")
_TIMES = Text("{count} times", "{count} veces")
_MAY_HAVE = Text(
    "the bytes {digest} may have reached the authority {times}, last at {last}",
    "los bytes {digest} pueden haber llegado a la DGII {times}, la última el {last}",
)
_IT = Text("it", "él")
_SOME = Text("{count} of these", "{count} de ellos")
_NOT_KNOWN = Text("{what}; what became of {which} is not known", "{what}; no se sabe qué pasó con {which}")
_SIGNS = Text("sign it, and send it for the first time", "firmarlo y enviarlo por primera vez")
_ASKS_VERDICT = Text(
    "ask again for the verdict of {track}; send nothing",
    "preguntar otra vez por la respuesta de {track}; no enviar nada",
)
_SENDS = Text("send the signed bytes{digest} for the first time", "enviar por primera vez los bytes firmados{digest}")
_IN_THERE = Text("in {environment}", "en {environment}")
_OF_KIND = Text("of this kind", "de esta clase")
_SENDS_AGAIN = Text(
    "send the same bytes{digest} again: nobody can be asked about a document {kind}",
    "enviar otra vez los mismos bytes{digest}: por un documento {kind} no se puede preguntar a nadie",
)
_ASKS_ELSE = Text(
    "ask for the verdict of {track}; else {again}", "preguntar por la respuesta de {track}; si no, {again}"
)
_ASKS = Text(
    "ask the authority; if it does not know the document, send the same bytes{digest} again",
    "preguntar a la DGII; si no conoce el documento, enviar otra vez los mismos bytes{digest}",
)
_NO_CERTIFICATE = Text(
    "the tenant has no certificate: it cannot be signed", "la empresa no tiene certificado: no se puede firmar"
)
_NO_SESSION = Text("the authority opens no session for it", "la DGII no le abre sesión")
_NOT_SIGNED = Text("it cannot be signed", "no se puede firmar")
_CERTIFICATE_ENDED = Text(
    "the tenant's last certificate expired on {day}: {why}",
    "el último certificado de la empresa venció el {day}: {why}",
)
_SEQUENCE_ENDED = Text("the sequence of {prefix} expired on {day}", "la secuencia {prefix} venció el {day}")
_ACCEPTED_INSTEAD = Text(
    "the number was accepted with another submission, {other}: this one will be rejected",
    "el número fue aceptado con otro envío, {other}: este será rechazado",
)
_DIED = Text(
    "{count} processes died over it: it may end the next one too",
    "{count} procesos murieron al atenderlo: puede terminar también con el siguiente",
)
_IS_PAUSED = Text(
    "its tenant or environment is paused by {whom}: it would wait",
    "su empresa o su ambiente está en pausa por {whom}: esperaría",
)
_CIRCUIT = Text(
    "the authority's host {host} in {environment} has an open circuit: it would wait",
    "el servidor {host} de la DGII en {environment} tiene el circuito abierto: esperaría",
)


def _was_sent(dead_letter: DeadLetter, reader: Reader) -> Text:
    if dead_letter.sends == 0:
        return _NOTHING
    times = _ONCE if dead_letter.sends == 1 else _TIMES.fill(count=dead_letter.sends)
    what = _MAY_HAVE.fill(digest=_digest(dead_letter), times=times, last=reader.moment(dead_letter.last_sent_at))
    if dead_letter.open_sends:
        which = _IT if dead_letter.sends == 1 else _SOME.fill(count=dead_letter.open_sends)
        return _NOT_KNOWN.fill(what=what, which=which)
    return what


def _would(dead_letter: DeadLetter, digest: str, track: Text) -> Text:
    match dead_letter.stage:
        case Stage.SIGN:
            return _SIGNS
        case Stage.TRACK:
            return _ASKS_VERDICT.fill(track=track)
        case Stage.SEND if dead_letter.sends == 0:
            return _SENDS.fill(digest=digest)
        case Stage.SEND | Stage.RECONCILE if not can_be_asked(dead_letter):
            is_numbered = dead_letter.root in NUMBERED
            kind = _IN_THERE.fill(environment=dead_letter.environment) if is_numbered else _OF_KIND
            again = _SENDS_AGAIN.fill(digest=digest, kind=kind)
            # Where its last send was given a trackId, what became of that one is asked first.
            known = is_numbered and dead_letter.track_id is not None
            return _ASKS_ELSE.fill(track=track, again=again) if known else again
        case Stage.SEND | Stage.RECONCILE:
            return _ASKS.fill(digest=digest)


def _obstacles(dead_letter: DeadLetter, now: datetime, reader: Reader) -> Iterator[Text]:
    if dead_letter.certificate_until is None:
        yield _NO_CERTIFICATE
    elif dead_letter.certificate_until <= now:
        why = _NO_SESSION if dead_letter.certificate_id is not None else _NOT_SIGNED
        yield _CERTIFICATE_ENDED.fill(day=reader.day(dead_letter.certificate_until), why=why)
    if dead_letter.sequence_until is not None and dead_letter.sequence_until <= now:
        prefix = (dead_letter.e_ncf or "")[:3]
        yield _SEQUENCE_ENDED.fill(prefix=prefix, day=reader.day(dead_letter.sequence_until))
    if dead_letter.accepted_instead is not None:
        yield _ACCEPTED_INSTEAD.fill(other=dead_letter.accepted_instead)
    if dead_letter.crash_count:
        yield _DIED.fill(count=dead_letter.crash_count)
    if dead_letter.paused_by is not None:
        yield _IS_PAUSED.fill(whom=dead_letter.paused_by)
    if dead_letter.circuit_open:
        yield _CIRCUIT.fill(host=dead_letter.host, environment=dead_letter.environment)


def _digest(dead_letter: DeadLetter) -> str:
    return (dead_letter.sent_sha256 or "?")[:12]


@dataclass(frozen=True, slots=True)
class Run:
    """The progress of a run of a plan. `stopped` is why it stopped; None if it reached the plan's end."""

    progress: Progress
    stopped: str | None = None


async def run_plan(
    db: Database,
    plan: ReplayPlan,
    by_whom: str,
    *,
    clock: Clock,
    wait: bool = True,
    tell: Callable[[Progress], None] = lambda _: None,
    patience: PlanPatience = PLAN_PATIENCE,
) -> Run:
    """Release the remaining rows of a plan and wait until they end; halt the plan when rows fail.

    Each row is released in its own transaction, so the same call resumes a plan after a crash or a cancellation: no row
    is released twice or forgotten. Several processes that run the same plan keep its pace together.

    Without `wait` it returns when all rows are released. With it, it returns when none is under way any more, which
    depends on the authority.
    """
    watch = _Watch(db, plan, tell, patience)
    all_released = plan.finished_at is not None
    released_at = trio.current_time()
    while True:
        stopped = await watch.look()
        if all_released:  # nothing is left to stop
            if not wait or watch.progress.open <= 0:
                return Run(watch.progress)
            await trio.sleep(patience.look)
            continue
        if stopped is None and watch.failing_since is not None:
            await trio.sleep(patience.look)
            continue
        if stopped is None:
            action = OperatorAction.of(by_whom, plan.reason, clock())
            step = await db.transact(replay_plans.release_next, action, plan.plan_id)
            match step.what:
                case "released":
                    released_at = trio.current_time()
                case "early":
                    await trio.sleep(min(step.wait, patience.look))
                case "canary" if trio.current_time() - released_at >= patience.canary:
                    stopped = f"the canary has no verdict after {patience.canary:g} s: `fe outbox why` says why"
                case "canary":
                    await trio.sleep(patience.look)
                case "done":
                    all_released = True
                    watch.look_at = trio.current_time()
                case "halted":
                    found = await db.run(replay_plans.find, plan.plan_id)
                    because = found.halted_because if found else None
                    return Run(await db.run(replay_plans.progress, plan.plan_id), because or "it was stopped")
        if stopped is not None:
            await db.run(replay_plans.halt, plan.plan_id, stopped, clock())
            return Run(watch.progress, stopped)


class _Watch:
    """Looks at the whole plan from time to time; while `failing_since` is set, no more rows may be released."""

    def __init__(
        self, db: Database, plan: ReplayPlan, tell: Callable[[Progress], None], patience: PlanPatience
    ) -> None:
        self._patience = patience
        self._db = db
        self._plan = plan
        self._tell = tell
        #: When the next look is due.
        self.look_at = trio.current_time()
        #: The progress at the last look.
        self.progress = Progress(total=0, released=0, skipped=0, ended=0)
        self.failing_since: float | None = None

    async def look(self) -> str | None:
        """Return why the plan has to stop; None if it may go on, or if the next look is not due yet."""
        began = trio.current_time()
        if began < self.look_at:
            return None
        self.progress = await self._db.run(replay_plans.progress, self._plan.plan_id)
        self._tell(self.progress)
        now = trio.current_time()
        self.look_at = now + max(self._patience.look, (now - began) * (1 / _LOOKING - 1))
        # A failed canary stops every plan, also one that goes on after other failures.
        counted = [
            one
            for one in self.progress.troubles
            if not one.passed_over and (one.is_canary or self._plan.stop_on_failure)
        ]
        self.failing_since = (self.failing_since or now) if counted else None
        if counted and counted[0].gave_up:
            return _said(counted, "failed again")
        lasts = self.failing_since is not None and now - self.failing_since >= self._patience.trouble
        return _said(counted, "fails") if lasts else None


def _said(troubles: Sequence[ReplayTrouble], what: str) -> str:
    first = troubles[0]
    number = f" {first.e_ncf}" if first.e_ncf else ""
    who = "a canary" if first.is_canary else "a released row"
    more = f", and {len(troubles) - 1} more in trouble" if len(troubles) > 1 else ""
    return f"{who} {what}: {first.subject}{number}: {first.error}{more}"


async def halt_plan(conn: Conn, plan_id: ReplayPlanId, by: OperatorAction) -> bool:
    """Stop a plan in every process that runs it, until an operator goes on. False if it is over or was stopped.

    The audit record is written in the same transaction.
    """
    if not await replay_plans.halt(conn, plan_id, f"{by.by_whom}: {by.reason}", by.at):
        return False
    await audit.record(conn, by, "plan stop", None, None, {"plan": plan_id})
    return True


async def resume_plan(conn: Conn, plan: ReplayPlan, by: OperatorAction) -> bool:
    """Go on with a plan that stopped, and record that. False if it is over, or has not stopped as `plan` says."""
    if plan.halted_at is None or not await replay_plans.go_on(conn, plan.plan_id, plan.halted_at):
        return False
    await audit.record(conn, by, "plan go on", None, None, {"plan": plan.plan_id})
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
    """Do `act` to every dead letter, each in its own transaction. The result is None for rows that have changed.

    A row that was replayed since it was read and is a dead letter again counts as changed: it may have failed for
    another reason.
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
