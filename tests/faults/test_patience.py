"""A wait goes on while there is progress, and no longer."""

from collections.abc import Hashable, Iterable

import trio.testing

from tests.faults.patience import LOOK_SECONDS, settle


async def waited(found: Iterable[set[Hashable]], patience: float = 10 * LOOK_SECONDS) -> bool:
    looks = iter(found)

    async def look() -> frozenset[Hashable]:
        return frozenset(next(looks))

    return await settle(look, patience, lambda words: None, "rows")


async def test_work_that_goes_on_slowly_is_waited_for(autojump_clock: trio.testing.MockClock) -> None:
    slowly: list[set[Hashable]] = [set(range(left)) for left in range(20, 0, -1) for _ in range(9)]

    assert await waited([*slowly, set()])


async def test_work_that_stands_still_is_stuck(autojump_clock: trio.testing.MockClock) -> None:
    assert not await waited([{"a"}] * 12)


async def test_work_that_moves_in_a_circle_is_stuck_in_the_end(autojump_clock: trio.testing.MockClock) -> None:
    assert not await waited([{"a"}, {"b"}] * 100)
