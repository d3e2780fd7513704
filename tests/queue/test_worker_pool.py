"""Workers that stay: how long each call may take, by one timer for all of them, and what a cancelled one leaves."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from itertools import pairwise

import trio
import trio.testing

from fe.queue.worker_pool import WorkerPool

SECONDS = 10.0


class Cut:
    """Notes what was cut short, when, and why."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float, bool]] = []

    def __call__(self, item: str, out_of_time: bool) -> None:
        self.told.append((item, trio.current_time(), out_of_time))


@asynccontextmanager
async def pool_of(carry: Callable[[str], Awaitable[None]], cut: Cut) -> AsyncIterator[WorkerPool[str]]:
    pool = WorkerPool(carry, seconds=SECONDS, cut_short=cut)
    async with trio.open_nursery() as nursery:
        pool.open(nursery)
        yield pool
        nursery.cancel_scope.cancel()


async def test_each_call_is_cut_short_when_its_own_time_is_up(autojump_clock: trio.testing.MockClock) -> None:
    cut, done = Cut(), list[str]()

    async def carry(item: str) -> None:
        await trio.sleep(float(item))
        done.append(item)

    async with pool_of(carry, cut) as pool:
        started = trio.current_time()
        pool.put(["1", "900", "9"])
        await trio.sleep(4)
        pool.put(["9.5", "901"])
        await trio.sleep(30)

    assert done == ["1", "9", "9.5"]
    assert [(item, round(at - started, 3), why) for item, at, why in cut.told] == [
        ("900", 10.0, True),
        ("901", 14.0, True),
    ]


async def test_a_worker_goes_on_after_a_call_that_was_cut_short(autojump_clock: trio.testing.MockClock) -> None:
    cut, done = Cut(), list[str]()

    async def carry(item: str) -> None:
        if item == "slow":
            await trio.sleep_forever()
        done.append(item)

    async with pool_of(carry, cut) as pool:
        for number in range(20):
            pool.put(["slow", f"quick {number}"])
            await trio.sleep(SECONDS + 1)
        tasks = trio.lowlevel.current_statistics().tasks_living
        pool.put(["slow", "last"])
        await trio.sleep(SECONDS + 1)

        assert trio.lowlevel.current_statistics().tasks_living == tasks

    assert done == [*(f"quick {number}" for number in range(20)), "last"]
    assert [(item, why) for item, _, why in cut.told] == [("slow", True)] * 21


async def test_a_call_that_takes_long_to_clean_up_is_left_to_it_and_the_others_are_timed_meanwhile(
    autojump_clock: trio.testing.MockClock,
) -> None:
    cut = Cut()

    async def carry(item: str) -> None:
        try:
            await trio.sleep_forever()
        finally:
            with trio.CancelScope(shield=item == "stubborn"):
                await trio.sleep(50)

    async with pool_of(carry, cut) as pool:
        started = trio.current_time()
        pool.put(["stubborn"])
        await trio.sleep(1)
        pool.put(["plain"])
        await trio.sleep(100)

    assert [(item, round(at - started, 3), why) for item, at, why in cut.told] == [
        ("plain", 11.0, True),
        ("stubborn", 60.0, True),
    ]


async def test_a_call_that_is_done_although_its_time_is_up_was_not_cut_short(
    autojump_clock: trio.testing.MockClock,
) -> None:
    cut, done = Cut(), list[str]()

    async def carry(item: str) -> None:
        with trio.CancelScope(shield=True):
            await trio.sleep(SECONDS + 5)
        done.append(item)

    async with pool_of(carry, cut) as pool:
        pool.put(["a"])
        await trio.sleep(20)
        pool.put(["b"])
        await trio.sleep(20)

    assert (done, cut.told) == (["a", "b"], [])


async def test_calls_that_wait_for_nothing_let_others_run_between_them() -> None:
    """Else nothing could be claimed, and nothing written, before the last of them."""
    cut, done, seen, ready = Cut(), list[str](), list[int](), trio.Event()

    async def carry(item: str) -> None:
        done.append(item)
        if len(done) == 500:
            ready.set()

    async def look() -> None:
        while True:
            await trio.lowlevel.checkpoint()
            seen.append(len(done))

    async with pool_of(carry, cut) as pool, trio.open_nursery() as nursery:
        nursery.start_soon(look)
        await trio.lowlevel.checkpoint()
        pool.put(str(number) for number in range(500))
        await ready.wait()
        nursery.cancel_scope.cancel()

    assert sorted(done, key=int) == [str(number) for number in range(500)]
    assert max(late - early for early, late in pairwise(seen)) <= 130


async def test_calls_that_begin_to_wait_after_many_that_did_not_leave_the_others_to_others() -> None:
    cut, done, waiting, all_wait = Cut(), list[str](), 0, trio.Event()

    async def carry(item: str) -> None:
        nonlocal waiting
        if int(item) >= 100:
            waiting += 1
            if waiting == 50:
                all_wait.set()
            await all_wait.wait()
        done.append(item)

    async with pool_of(carry, cut) as pool:
        pool.put(str(number) for number in range(150))
        with trio.fail_after(60):
            await all_wait.wait()
            await trio.testing.wait_all_tasks_blocked()

    assert len(done) == 150


async def test_the_end_of_the_pool_cuts_all_calls_short_and_that_is_not_for_their_time() -> None:
    cut, begun = Cut(), trio.Event()

    async def carry(_: str) -> None:
        begun.set()
        await trio.sleep_forever()

    async with pool_of(carry, cut) as pool:
        pool.put(["a"])
        await begun.wait()
        pool.put(["b"])

    left = list(pool.not_begun())
    assert sorted([item for item, *_ in cut.told] + left) == ["a", "b"]
    assert not any(why for *_, why in cut.told)
