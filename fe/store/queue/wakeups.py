"""Wake-ups: hints that a stage has work, so that it need not wait for the next poll.

They cost nothing in the transaction that made the work: within the process an event is set; other processes get one
NOTIFY at most every `THROTTLE` seconds, outside any transaction (inside the accepting one it would serialise commits),
and at most every `HELP_THROTTLE` seconds when this process works on those stages itself. A process ignores its own
notifications. A hint may be lost; polling guarantees correctness.
"""

import heapq
import math
import secrets
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta

import structlog
import trio

from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE

CHANNEL = "fe_due"
#: Words for work that is no stage's: a run of the certification starts, and a person asks for an act of it.
RUNS, ACTS = "certification", "certification-act"
THROTTLE = 0.01
HELP_THROTTLE = 0.2

#: Notifications for later are kept for moments this far apart, not one for each document that waits.
_GRID = 0.1
_PROBE_SECONDS = 5.0
#: Interval of checks of the listening connection, which may be lost and not replaced.
_PROBE_EVERY_SECONDS = 60.0

_log = structlog.get_logger(__name__)


class Wakeups:
    """Notifies and listens. One per process."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._events: defaultdict[str, trio.Event] = defaultdict(trio.Event)
        #: Prefix of our notifications; releases that do not know it take it for the name of an unknown stage.
        self._signature = f"by:{secrets.token_hex(4)}"
        #: Stages that a task of this process waits for.
        self._worked_on: set[str] = set()
        self._to_send: set[str] = set()
        self._something_to_send = trio.Event()
        self._later: list[tuple[float, str]] = []
        self._awaited: set[tuple[float, str]] = set()
        self._sooner = trio.Event()
        self._probe_word = ""
        self._probe_heard = trio.Event()
        #: Whether notifications arrive; None until that is known.
        self.heard: bool | None = None

    def notify(self, *stages: str) -> None:
        """Say that these stages have due work. Call it after the commit."""
        for stage in stages:
            self._wake(stage)
            self._to_send.add(stage)
        self._something_to_send.set()

    def notify_in(self, delay: timedelta, *stages: str) -> None:
        """Notify this process when `delay` has passed; all of them, at once, when there is none.

        Notifications of the same moment are one. Forgotten if we end before: the poll remembers.
        """
        if delay <= timedelta(0):
            self.notify(*stages)
            return
        at = math.ceil((trio.current_time() + delay.total_seconds()) / _GRID) * _GRID
        for awaited in ((at, stage) for stage in stages):
            if awaited not in self._awaited:
                self._awaited.add(awaited)
                heapq.heappush(self._later, awaited)
                if self._later[0] == awaited:
                    self._sooner.set()

    async def _keep_time(self) -> None:
        while True:
            with trio.move_on_at(self._later[0][0] if self._later else math.inf):
                await self._sooner.wait()
            self._sooner = trio.Event()
            while self._later and self._later[0][0] <= trio.current_time():
                passed = heapq.heappop(self._later)
                self._awaited.discard(passed)
                self._wake(passed[1])

    def event(self, stage: str) -> trio.Event:
        """Return an event that is set at the next notification. Take it *before* looking for work: none is missed."""
        self._worked_on.add(stage)
        return self._events[stage]

    async def run(self) -> None:
        """Carry notifications to the other processes and theirs to us, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._db.listen, CHANNEL, self._heard)
            nursery.start_soon(self._probe)
            nursery.start_soon(self._keep_time)
            await self._send()

    def _wake(self, stage: str) -> None:
        event, self._events[stage] = self._events[stage], trio.Event()
        event.set()

    def _heard(self, payload: str) -> None:
        # Called on this very thread by either driver, from a Trio task or from the asyncio loop that Trio carries: in
        # both it is safe to set a Trio event.
        if payload == self._probe_word:
            self._probe_heard.set()
            return
        names = payload.split(",")
        if self._signature in names:
            return  # we were woken when we said it: to look again would find nothing
        for name in names:
            if name in self._events:
                self._wake(name)

    async def _probe(self) -> None:
        """Find out whether a notification sent over the pool reaches us, now and every minute.

        A pooler in between may swallow them all, or the listening have ended.
        """
        while True:
            was_heard, self.heard = self.heard, await self._hears()
            if not self.heard and was_heard is not False:
                _log.warning(
                    "notifications do not arrive (a pooler in between?): work is found by polling alone, later"
                )
            elif self.heard and was_heard is False:
                _log.info("notifications arrive again")
            await trio.sleep(_PROBE_EVERY_SECONDS)

    async def _hears(self) -> bool:
        word = f"probe:{secrets.token_hex(8)}"
        self._probe_word, self._probe_heard = word, trio.Event()
        with trio.move_on_after(_PROBE_SECONDS):
            while not self._probe_heard.is_set():
                with suppress(*ANY_OF_THE_DATABASE):  # said elsewhere; the probe goes on until its time is over
                    await self._db.run(_notify, [word])
                with trio.move_on_after(0.5):
                    await self._probe_heard.wait()
        return self._probe_heard.is_set()

    async def _send(self) -> None:
        while True:
            await self._something_to_send.wait()
            self._something_to_send = trio.Event()
            stages, self._to_send = self._to_send, set()
            began = trio.current_time()
            try:
                await self._db.run(_notify, [self._signature, *sorted(stages)])
            except ANY_OF_THE_DATABASE as error:
                _log.warning("a wake-up was not sent", error=error)  # the others find the work by polling
            # From its start: one that took this long has gathered what came meanwhile.
            await trio.sleep_until(began + (HELP_THROTTLE if stages <= self._worked_on else THROTTLE))


async def any_of(*events: trio.Event) -> None:
    """Wait until one of these events is set."""
    async with trio.open_nursery() as nursery:

        async def wait(event: trio.Event) -> None:
            await event.wait()
            nursery.cancel_scope.cancel()

        for event in events:
            nursery.start_soon(wait, event)


async def notify_after(conn: Conn, word: str) -> None:
    """Notify all processes when the transaction of `conn` commits; for rare work, as commits wait for each other."""
    await conn.execute("SELECT pg_notify(%s, %s)", (CHANNEL, word))


async def _notify(conn: Conn, words: Iterable[str]) -> None:
    # It is a transaction that writes, and its commit would wait for the disk: for a hint, which may be lost.
    await conn.execute(
        "SELECT set_config('synchronous_commit', 'off', true), pg_notify(%s, %s)", (CHANNEL, ",".join(words))
    )
