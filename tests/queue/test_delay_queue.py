"""Rows that are held until their time has come, on a clock that jumps."""

from datetime import timedelta

import trio
import trio.testing

from fe.queue.delay_queue import DelayQueue


class Held:
    """Room for three rows, and `slots` slots."""

    def __init__(self, slots: int, limit: int = 3) -> None:
        self.slots = slots
        self.begun: list[tuple[str, float]] = []
        self.given_back: list[tuple[str, float]] = []
        self.later = DelayQueue[str](limit, fits=self._fits, begin=self._begin, return_row=self._give_back)

    def _fits(self, _: str) -> bool:
        return self.slots > 0

    def _begin(self, row: str) -> None:
        self.slots -= 1
        self.begun.append((row, trio.current_time()))

    def _give_back(self, row: str) -> None:
        self.given_back.append((row, trio.current_time()))

    def hold(self, row: str, seconds: float) -> None:
        assert self.later.has_capacity()
        self.later.reserve()
        self.later.put(row, timedelta(seconds=seconds))


async def test_a_row_is_begun_with_when_its_time_has_come_and_not_before(
    autojump_clock: trio.testing.MockClock,
) -> None:
    held, began = Held(slots=3), trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(held.later.run)
        held.hold("late", 3.0)
        held.hold("soon", 0.5)
        await trio.sleep(10)
        nursery.cancel_scope.cancel()

    assert [row for row, _ in held.begun] == ["soon", "late"]
    for (_, at), seconds in zip(held.begun, (0.5, 3.0), strict=True):
        assert seconds <= at - began <= seconds + 0.1 + 1e-6


async def test_what_is_due_at_nearly_one_moment_is_begun_with_at_one(autojump_clock: trio.testing.MockClock) -> None:
    held = Held(slots=3)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(held.later.run)
        for row, seconds in (("a", 0.51), ("b", 0.55), ("c", 0.59)):
            held.hold(row, seconds)
        await trio.sleep(10)
        nursery.cancel_scope.cancel()

    assert len({at for _, at in held.begun}) == 1


async def test_a_due_row_waits_for_a_slot_and_takes_it_when_it_is_free(
    autojump_clock: trio.testing.MockClock,
) -> None:
    held = Held(slots=1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(held.later.run)
        held.hold("first", 0.5)
        held.hold("second", 0.5)
        await trio.sleep(1)
        assert [row for row, _ in held.begun] == ["first"]
        held.slots = 1
        held.later.slot_is_free()
        await trio.sleep(0.01)
        assert [row for row, _ in held.begun] == ["first", "second"]
        nursery.cancel_scope.cancel()

    assert held.given_back == []


async def test_one_that_finds_no_slot_for_too_long_goes_back(autojump_clock: trio.testing.MockClock) -> None:
    held, began = Held(slots=0), trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(held.later.run)
        held.hold("unlucky", 0.5)
        await trio.sleep(30)
        nursery.cancel_scope.cancel()

    ((row, at),) = held.given_back
    assert (row, held.begun) == ("unlucky", [])
    assert at - began < 5


async def test_there_is_room_for_so_many_and_again_for_those_that_left(autojump_clock: trio.testing.MockClock) -> None:
    held = Held(slots=1, limit=2)
    held.hold("a", 0.5)
    held.later.reserve()
    assert not held.later.has_capacity()
    held.later.release()
    assert held.later.has_capacity()
    held.hold("b", 60)
    assert not held.later.has_capacity()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(held.later.run)
        await trio.sleep(1)
        nursery.cancel_scope.cancel()
    assert held.later.has_capacity()
    assert list(held.later.take_all()) == ["b"]
    assert list(held.later.take_all()) == []


async def test_nobody_holds_anything_where_there_is_no_room_at_all() -> None:
    assert not Held(slots=3, limit=0).later.has_capacity()
