"""Supervision: restarts an actor that crashes; one that keeps crashing ends the process."""

import random
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVarTuple

import structlog
import trio

from fe.monitoring.metrics import Metrics

_log = structlog.get_logger(__name__)

#: This many crashes within this many seconds end the process with a non-zero exit code.
MAX_RESTARTS = 5
WITHIN_SECONDS = 60.0

Args = TypeVarTuple("Args")


class KeepsFailing(Exception):
    """An actor crashed too often within WITHIN_SECONDS."""


async def keep_running(
    name: str,
    run: Callable[[], Awaitable[None]],
    *,
    metrics: Metrics,
    spread: random.Random,
    stopping: trio.Event,
) -> None:
    """Run an actor until it returns; restart it with exponential backoff when it crashes.

    Raises KeepsFailing after MAX_RESTARTS crashes within WITHIN_SECONDS.
    """
    crashes: deque[float] = deque(maxlen=MAX_RESTARTS)
    metrics.actor_restarts.labels(name)  # creates the series at 0
    while not stopping.is_set():
        try:
            await run()
        except Exception as error:  # a group, when it came out of a nursery; Cancelled passes through
            now = trio.current_time()
            crashes.append(now)
            metrics.actor_restarts.labels(name).inc()
            _log.exception("an actor crashed and starts again", actor=name, error=error)
            if len(crashes) == MAX_RESTARTS and now - crashes[0] <= WITHIN_SECONDS:
                raise KeepsFailing(name) from error
            await trio.sleep(0.1 * 2 ** len(crashes) * spread.uniform(0.5, 1.5))
        else:
            return


@dataclass(frozen=True, slots=True)
class Supervisor:
    """Starts the actors of one process, which run until `stopping`."""

    metrics: Metrics
    stopping: trio.Event
    spread: random.Random = field(default_factory=random.Random)

    def start(self, nursery: trio.Nursery, name: str, run: Callable[[*Args], Awaitable[None]], *args: *Args) -> None:
        """Start `run(*args)` in the nursery, under this name: see `keep_running`."""
        actor = partial(run, *args)
        supervised = partial(
            keep_running, name, actor, metrics=self.metrics, spread=self.spread, stopping=self.stopping
        )
        nursery.start_soon(supervised)
