"""How work moves, for every actor: claim a batch, try each row with no transaction open, book what came of it."""

import math
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import structlog
import trio

from fe import kill_points
from fe.actors.credentials import CannotOpen
from fe.clock import Clock
from fe.ecf.catalogue import Environment
from fe.ecf.ids import moment_of
from fe.ecf.states import Stage, Status
from fe.metrics import Metrics
from fe.queue.outcome import AT_ONCE, Booking
from fe.queue.retry import MAX_ATTEMPTS, retry_gap
from fe.store import outbox
from fe.store.db import Conn, Database
from fe.store.errors import DatabaseUnavailable, LeaseLost
from fe.store.outbox import Lane, Turn, Work
from fe.store.wakeups import Wakeups

_log = structlog.get_logger(__name__)

Handler = Callable[[Work], Awaitable[Booking]]

#: The test environments take what production leaves, and never the last quarter of the slots; nor does one tenant.
_RESERVED_SHARE = 4

_ORDER = (Environment.ECF, Environment.CERTECF, Environment.TESTECF)

#: How many tenants one claim takes from: bounds what a tenant with one row waits behind tenants with a million.
_SCOPE = 64

#: How long a lane's floor is believed. A row below it (there should be none) is found when it is renewed.
_FLOORS_SECONDS = 20.0

#: How long freed slots are gathered before they are filled by one claim.
_GATHER_SECONDS = 0.005

#: A booking may take this long, cancelled or not; then the lease decides.
_BOOKING_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Plan:
    """One stage: who handles its rows, how many at once, and what to book for a try that ended without a word."""

    stage: Stage
    handle: Handler
    slots: int
    #: The authority's hosts its rows are for; a lane is one of them in one environment.
    hosts: tuple[str, ...]
    #: Shorter than the lease by more than a cancelled query over a dead link takes (about 11 s).
    budget: float
    #: When to try again after the try of this number (from 1).
    gap: Callable[[int, random.Random], timedelta] = retry_gap
    #: After so many failed tries (None: after so long in this stage) the row is an operator's matter.
    max_attempts: int | None = MAX_ATTEMPTS
    patience: timedelta = timedelta(0)
    #: After this the authority may have acted, so a try that ends without an answer leaves a doubt, not a retry.
    may_have_acted: bool = False

    def lanes(self) -> list[Lane]:
        """In the order of service: production first."""
        return [Lane(environment, host) for environment in _ORDER for host in self.hosts]

    def slots_of_a_tenant(self) -> int:
        """How many of its rows a tenant may have in hand: never the last quarter of the slots, so that others find one
        free, however slow the authority is with that tenant's.
        """
        return max(1, self.slots - self.slots // _RESERVED_SHARE)

    def exhausted(self, work: Work) -> bool:
        """Tell whether this try, should it fail, was the last one."""
        if self.max_attempts is not None:
            return work.attempt >= self.max_attempts
        # Both, because no tries are made while the authority's circuit is open, and that is nobody's failure.
        return work.attempt >= MAX_ATTEMPTS and work.waited >= self.patience


@dataclass(frozen=True, slots=True)
class Tools:
    """What every stage's loop works with."""

    db: Database
    wakeups: Wakeups
    clock: Clock
    metrics: Metrics
    lease: timedelta
    poll_seconds: float
    holder: str
    spread: random.Random = field(default_factory=random.Random)
    #: How many rows of a lane may be claimed now, given the slots there are: fewer while its circuit is not closed.
    gate: Callable[[Lane, int], int] = field(default=lambda _, slots: slots)
    #: Told of every submission that has ended, after the commit: somebody may be waiting for it.
    ended: Callable[[UUID], None] = field(default=lambda _: None)


class TryLater(Exception):
    """The step cannot succeed now: try again by the schedule, or after `after` when that is longer."""

    def __init__(self, reason: str, after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after


class Hand:
    """What is in hand, in all, of each lane and of each tenant, and a bell for when a try ends."""

    def __init__(self, slots: int) -> None:
        self.free = slots
        self.of_lane: Counter[Lane] = Counter()
        #: By environment too: a tenant's own tests never hold up its production.
        self.of_tenant: Counter[tuple[int, Environment]] = Counter()
        self.freed = trio.Event()
        self._since: dict[int, float] = {}

    def take(self, work: Work) -> None:
        """Begin with a claimed row."""
        self.free -= 1
        self.of_lane[work.lane] += 1
        self.of_tenant[work.tenant_id, work.environment] += 1
        self._since[id(work)] = time.monotonic()

    def give_back(self, work: Work) -> None:
        """Its try has ended, however."""
        self.free += 1
        self.of_lane[work.lane] -= 1
        self.of_tenant[work.tenant_id, work.environment] -= 1
        if not self.of_tenant[work.tenant_id, work.environment]:
            del self.of_tenant[work.tenant_id, work.environment]
        del self._since[id(work)]
        self.freed.set()
        self.freed = trio.Event()

    def count(self) -> int:
        """How many are in hand."""
        return len(self._since)

    def oldest_seconds(self) -> float:
        """For how long the oldest has been in hand; 0 when nothing is. Safe to call from another thread."""
        # Taken in the order of time, and one step of the interpreter: nothing can come in between.
        first = next(iter(self._since.values()), None)
        return 0.0 if first is None else time.monotonic() - first


async def run_stage(plan: Plan, tools: Tools, stopping: trio.Event) -> None:
    """Work on one stage until `stopping`, then finish what is in hand.

    Cancelled instead, every try in hand is given up at its next await and booked as such (shielded, with a deadline of
    its own), so that a peer can go on at once.
    """
    hand = Hand(plan.slots)
    tools.metrics.watch_hand(plan.stage, plan.slots, hand.count, hand.oldest_seconds)
    cursors = dict.fromkeys(plan.lanes(), 0)
    floors = _Floors()
    async with trio.open_nursery() as in_flight:
        while not stopping.is_set():
            tools.metrics.turned(plan.stage)
            bell, freed = tools.wakeups.bell(plan.stage), hand.freed
            found = await _claim(plan, tools, cursors, hand, floors)
            if found.works:
                kill_points.reached("claimed")
            for work in found.works:
                hand.take(work)
                in_flight.start_soon(_carry, plan, tools, work, hand)
            if found.room_for_more:
                continue
            if found.full:
                # There was no room for all that is due; what becomes due now may yet find a slot that was kept for it.
                # A moment's patience makes one claim of several freed slots.
                await _first_of(tools, freed, stopping, *([bell] if hand.free else []))
                await trio.sleep(_GATHER_SECONDS)
            else:
                await _first_of(tools, bell, stopping)


async def _first_of(tools: Tools, *events: trio.Event) -> None:
    """Wait for one of the events, or for the poll (jittered)."""
    with trio.move_on_after(tools.poll_seconds * tools.spread.uniform(0.8, 1.2)):
        async with trio.open_nursery() as waiting:

            async def watch(event: trio.Event) -> None:
                await event.wait()
                waiting.cancel_scope.cancel()

            for event in events:
                waiting.start_soon(watch, event)


class _Floors:
    """From when on each lane is searched, and until when that is believed."""

    def __init__(self) -> None:
        self.of_lane: Mapping[Lane, datetime] = outbox.NO_FLOORS
        self.until = -math.inf


@dataclass(slots=True)
class Found:
    """What one look at the outbox brought."""

    works: list[Work] = field(default_factory=list)
    #: More is due than there was room for.
    full: bool = False
    #: More may be due, and there is room for it: look again at once.
    room_for_more: bool = False


async def _claim(plan: Plan, tools: Tools, cursors: dict[Lane, int], hand: Hand, floors: _Floors) -> Found:
    try:
        if trio.current_time() >= floors.until:
            floors.of_lane = await tools.db.run(outbox.floors_of, plan.stage, plan.lanes())
            floors.until = trio.current_time() + _FLOORS_SECONDS
        return await tools.db.run(find_and_claim, plan, tools, cursors, hand, floors.of_lane)
    except DatabaseUnavailable as error:
        _log.warning("claiming failed, the database is away", stage=plan.stage, error=error)
        await trio.sleep(tools.spread.uniform(0.5, 1.5))
        return Found()


async def find_and_claim(
    conn: Conn,
    plan: Plan,
    tools: Tools,
    cursors: dict[Lane, int],
    hand: Hand,
    floors: Mapping[Lane, datetime] = outbox.NO_FLOORS,
) -> Found:
    """Claim rows for the free slots, production first, the tenants in turn by their weights. Moves the cursors on.

    With what is in hand already, never more of a lane than its gate lets through, nor of a tenant than its part of the
    slots. A tenant with one row waits behind others with any number of rows for as many claims as it takes to go once
    round all tenants that have work due: at most their number divided by the scope of a claim.
    """
    found, held = Found(), Counter(hand.of_tenant)
    most = plan.slots_of_a_tenant()
    lanes = [lane for lane in plan.lanes() if tools.gate(lane, plan.slots) > 0]
    due = await outbox.due_tenants(conn, plan.stage, [(lane, cursors[lane]) for lane in lanes], _SCOPE, floors=floors)
    for lane in lanes:
        room = min(hand.free - len(found.works), tools.gate(lane, plan.slots) - hand.of_lane[lane])
        if lane.environment is not Environment.ECF:
            room -= plan.slots // _RESERVED_SHARE
        turns = [turn for turn in due[lane] if held[turn.tenant_id, lane.environment] < most]
        served = turns[: max(room, 0)]
        found.full = found.full or len(served) < len(due[lane])
        if not served:
            continue
        cursors[lane] = served[-1].tenant_id
        shares = {
            turn.tenant_id: min(share, most - held[turn.tenant_id, lane.environment])
            for turn, share in zip(served, _shares(served, room), strict=True)
        }
        works = await outbox.claim(
            conn,
            plan.stage,
            lane,
            list(shares),
            list(shares.values()),
            lease=tools.lease,
            holder=tools.holder,
            floor=floors.get(lane, outbox.ALWAYS),
        )
        claimed = Counter(work.tenant_id for work in works)
        held.update((work.tenant_id, work.environment) for work in works)
        found.works += works
        # Who got all of its share may have more; and there may be tenants beyond those that one look takes in.
        filled = {held[tenant, lane.environment] for tenant, share in shares.items() if claimed[tenant] == share}
        found.full = found.full or len(works) >= room or max(filled, default=0) >= most
        if works and len(works) < room:
            may_have_more = len(due[lane]) == _SCOPE or min(filled, default=most) < most
            found.room_for_more = found.room_for_more or may_have_more
    return found


def _shares(turns: Sequence[Turn], room: int) -> list[int]:
    """Divide the room by weight, at least one each; what rounding leaves goes to the first."""
    total = sum(turn.weight for turn in turns)
    spare = room - len(turns)
    shares = [1 + spare * turn.weight // total for turn in turns]
    for index in range(room - sum(shares)):
        shares[index % len(shares)] += 1
    return shares


async def _carry(plan: Plan, tools: Tools, work: Work, hand: Hand) -> None:
    """Try one claimed row and book it, whatever happens to the try."""
    started = trio.current_time()
    with structlog.contextvars.bound_contextvars(submission=str(work.subject), stage=work.stage, attempt=work.attempt):
        try:
            booking: Booking | None = None
            try:
                booking = await attempt(plan, tools, work)
            finally:
                # Also reached when the scope was cancelled: then the row goes back without counting.
                await book(plan, tools, work, _given_up(plan, tools, work) if booking is None else booking)
        finally:
            hand.give_back(work)
            tools.metrics.step_seconds.labels(plan.stage).observe(trio.current_time() - started)


async def attempt(plan: Plan, tools: Tools, work: Work) -> Booking:
    """Make one try. A failing handler becomes a row to try again, never a crash of the actor."""
    if plan.max_attempts is not None and work.attempt > plan.max_attempts:
        # Counted at the claim, so these are tries that died with their process and could not book anything.
        return _put_aside(plan, tools, work, work.last_error or "every attempt died before it could report")
    if work.deaths >= MAX_ATTEMPTS:
        return _put_aside(plan, tools, work, f"{work.deaths} workers in a row died over it")
    try:
        with trio.fail_after(plan.budget):
            booking = await plan.handle(work)
            kill_points.reached("worked")
            return booking
    except LeaseLost as lost:
        return Booking("lease lost", partial(_raise, lost))
    except TryLater as later:
        return again(plan, tools, work, later.reason, later.after)
    except CannotOpen as error:
        return again(plan, tools, work, str(error))
    except DatabaseUnavailable as error:
        _log.warning("the step stopped, the database is away", error=error)
        return _no_answer(plan, tools, work, "the database was away", counts=False)
    except trio.TooSlowError:
        _log.warning("the step took too long", budget=plan.budget)
        return _no_answer(plan, tools, work, f"no result within {plan.budget:g} s", counts=True)
    except Exception as error:
        _log.exception("the step failed", error=error)
        return _no_answer(plan, tools, work, f"unexpected {type(error).__name__}", counts=True)


def again(plan: Plan, tools: Tools, work: Work, reason: str, after: timedelta | None = None) -> Booking:
    """Book a failed attempt: try again by the schedule, or hand over to an operator when they are used up."""
    if plan.exhausted(work):
        return _dead(tools, work, reason)
    gap = max(plan.gap(work.attempt, tools.spread), after or AT_ONCE)
    return Booking(
        "retry", partial(outbox.not_sent, work=work, at=tools.clock(), after=gap, error=reason), work.stage, gap
    )


def _dead(tools: Tools, work: Work, reason: str) -> Booking:
    return Booking("dead letter", partial(outbox.dead_letter, work=work, at=tools.clock(), error=reason))


def _put_aside(plan: Plan, tools: Tools, work: Work, reason: str) -> Booking:
    """Book that its workers died over it; if bytes may have gone out before one did, the authority is asked first."""
    dead = _dead(tools, work, reason)
    return _doubt(tools, work, reason, AT_ONCE, if_nothing_is_open=dead) if plan.may_have_acted else dead


def _no_answer(plan: Plan, tools: Tools, work: Work, reason: str, *, counts: bool) -> Booking:
    if counts:
        plain = again(plan, tools, work, reason)
    else:
        plain = _give_back(tools, work, "given back", reason, timedelta(seconds=2))
    if plan.may_have_acted:
        return _doubt(tools, work, reason, plan.gap(work.attempt, tools.spread), if_nothing_is_open=plain)
    return plain


def _given_up(plan: Plan, tools: Tools, work: Work) -> Booking:
    """We are being stopped: the row is due at once for a peer, which asks first where something may have gone out."""
    plain = _give_back(tools, work, "handed over", "the worker was stopped", AT_ONCE)
    return _doubt(tools, work, "the sender was stopped", AT_ONCE, plain) if plan.may_have_acted else plain


def _give_back(tools: Tools, work: Work, outcome: str, reason: str, after: timedelta) -> Booking:
    write = partial(outbox.retry, work=work, at=tools.clock(), after=after, error=reason, counts=False)
    return Booking(outcome, write, work.stage, after)


def _doubt(tools: Tools, work: Work, reason: str, after: timedelta, if_nothing_is_open: Booking) -> Booking:
    write = partial(outbox.doubt, work=work, at=tools.clock(), after=after, error=reason)
    return Booking("outcome unknown", write, Stage.RECONCILE, after, if_nothing_is_open)


async def book(plan: Plan, tools: Tools, work: Work, booking: Booking) -> str:
    """Write the outcome, also when we are being cancelled, and tell which. A booking that fails leaves the row to its
    lease.
    """
    outcome = ""

    async def write(conn: Conn) -> None:
        nonlocal booking
        if booking.if_nothing_is_open is not None and not await outbox.has_open_sends(conn, work):
            booking = booking.if_nothing_is_open
        await booking.write(conn)

    with trio.move_on_after(_BOOKING_SECONDS, shield=True) as deadline:
        try:
            await tools.db.run(write)
            outcome = booking.outcome
            kill_points.reached("booked")
        except LeaseLost:
            outcome = "lease lost"
            tools.metrics.leases_lost.labels(plan.stage).inc()
            _log.warning("the lease was lost, nothing was booked", outcome=booking.outcome)
        except DatabaseUnavailable as error:
            outcome = "not booked"
            _log.warning("the outcome could not be booked; the lease decides", outcome=booking.outcome, error=error)
        except Exception as error:
            outcome = "not booked"
            _log.exception("booking failed; the lease decides", outcome=booking.outcome, error=error)
    if deadline.cancelled_caught:
        outcome = "not booked"
        _log.warning("booking took too long; the lease decides", outcome=booking.outcome)
    tools.metrics.steps.labels(plan.stage, outcome).inc()
    if outcome != booking.outcome:
        return outcome
    if booking.rings is not None:
        tools.wakeups.ring_in(booking.after, booking.rings)
    if booking.end is not None:
        tools.ended(work.subject)
        taken = None if booking.end.status is Status.ERROR else tools.clock() - moment_of(work.subject)
        seconds = None if taken is None else max(taken.total_seconds(), 0.0)
        tools.metrics.observe_end(work.environment, booking.end.status, booking.end.ecf_type, seconds)
    return outcome


async def _raise(error: Exception, _: Conn) -> None:
    raise error
