"""Measures the authority: counts and times of our exchanges with each service, for the page that anyone reads."""

from collections.abc import Mapping
from dataclasses import dataclass

import structlog
import trio

from fe.authority.hosts import Host, Operation, host_of
from fe.clock import Clock
from fe.ecf.catalogue import Environment
from fe.store.postgres.db import Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE
from fe.store.records import authority_state
from fe.store.records.authority_state import Exchanges

_log = structlog.get_logger(__name__)

_FLUSH_SECONDS = 30.0
#: Old measurements are deleted every this many flushes.
_FORGET_EVERY = 120
#: Outcomes that are no answer; a cancelled exchange says nothing.
_FAILED, _SAYS_NOTHING = ("unavailable", "unknown"), "cancelled"


@dataclass(slots=True)
class _Sum:
    answered: int = 0
    failed: int = 0
    milliseconds: float = 0.0
    slowest: float = 0.0


class HealthMeter:
    """Sums of this process that are not stored yet. One per process with actors."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock
        self._sums: dict[tuple[str, Operation], _Sum] = {}

    def note(self, environment: str, operation: Operation, outcome: str, seconds: float) -> None:
        """Note one exchange; the status service is of no environment, and is left out."""
        if outcome == _SAYS_NOTHING or host_of(operation) is Host.STATUS:
            return
        one = self._sums.get((environment, operation))
        if one is None:
            one = self._sums[environment, operation] = _Sum()
        if outcome in _FAILED:
            one.failed += 1
            return
        one.answered += 1
        one.milliseconds += seconds * 1000
        one.slowest = max(one.slowest, seconds * 1000)

    async def run(self) -> None:
        """Store the sums at intervals, until cancelled. A failed write loses its measurements."""
        flushes = 0
        while True:
            await trio.sleep(_FLUSH_SECONDS)
            flushes += 1
            try:
                await self.flush()
                if flushes % _FORGET_EVERY == 1:
                    await self._db.run(authority_state.forget, self._clock())
            except ANY_OF_THE_DATABASE as error:
                _log.warning("measurements of the authority were not stored", error=error)

    async def flush(self) -> None:
        """Store the sums so far."""
        sums, self._sums = self._sums, {}
        if sums:
            await self._db.run(authority_state.add, _exchanges(sums), self._clock())


def _exchanges(sums: Mapping[tuple[str, Operation], _Sum]) -> list[Exchanges]:
    return [
        Exchanges(Environment(of), service, one.answered, one.failed, round(one.milliseconds), round(one.slowest))
        for (of, service), one in sums.items()
    ]
