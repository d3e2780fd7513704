"""Supervision: a crash is followed by a restart, later each time; crash upon crash ends the process."""

import random
from collections.abc import Awaitable, Callable
from itertools import pairwise

import pytest
import trio
import trio.testing

from fe.monitoring.metrics import Metrics
from fe.queue.supervisor import MAX_RESTARTS, WITHIN_SECONDS, KeepsFailing, Supervisor, keep_running

Run = Callable[[], Awaitable[None]]


class Steady(random.Random):
    """Draws the middle of what is asked for."""

    def uniform(self, a: float, b: float) -> float:
        return (a + b) / 2


async def supervise(run: Run, *, metrics: Metrics | None = None, stopping: trio.Event | None = None) -> None:
    await keep_running(
        "actor",
        run,
        metrics=metrics or Metrics(),
        spread=Steady(),
        stopping=trio.Event() if stopping is None else stopping,
    )


def crashing(times: list[float], *errors: Exception | None, pause: float = 0.0) -> Run:
    """Notes when it starts, pauses, and raises the next error; None ends it well."""
    left = list(errors)

    async def run() -> None:
        times.append(trio.current_time())
        await trio.sleep(pause)
        error = left.pop(0)
        if error is not None:
            raise error

    return run


async def test_an_actor_that_ends_by_itself_is_not_started_again(autojump_clock: trio.testing.MockClock) -> None:
    times: list[float] = []

    await supervise(crashing(times, None))

    assert len(times) == 1


async def test_an_actor_that_crashes_starts_again_later_each_time(autojump_clock: trio.testing.MockClock) -> None:
    times: list[float] = []
    metrics = Metrics()

    await supervise(crashing(times, ValueError(), ExceptionGroup("g", [OSError()]), KeyError(), None), metrics=metrics)

    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert gaps == pytest.approx([0.2, 0.4, 0.8])
    assert metrics.registry.get_sample_value("fe_actor_restarts_total", {"actor": "actor"}) == 3


async def test_five_crashes_in_a_minute_end_it_with_the_last_error(autojump_clock: trio.testing.MockClock) -> None:
    times: list[float] = []
    last = ValueError("the fifth")

    with pytest.raises(KeepsFailing) as gave_up:
        await supervise(crashing(times, *[ValueError()] * (MAX_RESTARTS - 1), last))

    assert len(times) == MAX_RESTARTS
    assert gave_up.value.__cause__ is last


async def test_crashes_that_are_far_apart_go_on_for_ever(autojump_clock: trio.testing.MockClock) -> None:
    times: list[float] = []
    pause = WITHIN_SECONDS / (MAX_RESTARTS - 1)

    await supervise(crashing(times, *[ValueError()] * 30, None, pause=pause))

    assert len(times) == 31
    longest = max(later - earlier for earlier, later in pairwise(times))
    assert longest == pytest.approx(pause + 0.1 * 2**MAX_RESTARTS)


async def test_siblings_do_not_notice(autojump_clock: trio.testing.MockClock) -> None:
    times: list[float] = []
    steady = 0

    async def sibling() -> None:
        nonlocal steady
        for _ in range(100):
            await trio.sleep(0.1)
            steady += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(supervise, sibling)
        nursery.start_soon(supervise, crashing(times, ValueError(), ValueError(), ValueError(), None))

    assert steady == 100


async def test_one_that_keeps_failing_takes_its_siblings_down(autojump_clock: trio.testing.MockClock) -> None:
    times: list[float] = []

    async def both() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(supervise, trio.sleep_forever)
            nursery.start_soon(supervise, crashing(times, *[ValueError()] * MAX_RESTARTS))

    with pytest.raises(ExceptionGroup) as group:
        await both()

    assert group.group_contains(KeepsFailing)


async def test_a_cancelled_actor_is_not_restarted(autojump_clock: trio.testing.MockClock) -> None:
    starts = 0

    async def run() -> None:
        nonlocal starts
        starts += 1
        await trio.sleep_forever()

    with trio.move_on_after(5) as scope:
        await supervise(run)

    assert scope.cancelled_caught
    assert starts == 1


async def test_after_the_stop_a_crash_is_the_end(autojump_clock: trio.testing.MockClock) -> None:
    stopping = trio.Event()
    starts = 0

    async def run() -> None:
        nonlocal starts
        starts += 1
        stopping.set()
        raise ValueError

    await supervise(run, stopping=stopping)

    assert starts == 1


async def test_nothing_is_started_after_the_stop(autojump_clock: trio.testing.MockClock) -> None:
    stopping = trio.Event()
    stopping.set()
    times: list[float] = []

    await supervise(crashing(times), stopping=stopping)

    assert times == []


async def test_a_supervisor_starts_actors_by_name_with_what_they_need(autojump_clock: trio.testing.MockClock) -> None:
    metrics, started = Metrics(), []

    async def actor(number: int, word: str) -> None:
        started.append((number, word))
        if len(started) == 1:
            raise RuntimeError("once")

    async with trio.open_nursery() as nursery:
        Supervisor(metrics, trio.Event(), Steady()).start(nursery, "actor", actor, 1, "one")

    assert started == [(1, "one")] * 2
    assert metrics.registry.get_sample_value("fe_actor_restarts_total", {"actor": "actor"}) == 1
