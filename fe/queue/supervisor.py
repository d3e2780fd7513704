"""Supervision: an actor that crashes starts again; one that keeps crashing takes the process down for all to see."""

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

#: So many crashes within so many seconds are no accident: the process ends non-zero and whoever runs it decides.
MAX_RESTARTS = 5
WITHIN_SECONDS = 60.0

Args = TypeVarTuple("Args")


class KeepsFailing(Exception):
    """An actor crashed too often in too short a time."""


async def keep_running(
    name: str,
    run: Callable[[], Awaitable[None]],
    *,
    metrics: Metrics,
    spread: random.Random,
    stopping: trio.Event,
) -> None:
    """Run an actor until it ends by itself; start it again, later each time, when it crashes.

    Its siblings do not notice. Raises KeepsFailing after MAX_RESTARTS crashes within WITHIN_SECONDS.
    """
    crashes: deque[float] = deque(maxlen=MAX_RESTARTS)
    metrics.actor_restarts.labels(name)  # so that it is there, at 0, before the first crash
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
    """Starts what one process keeps running until `stopping`."""

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
