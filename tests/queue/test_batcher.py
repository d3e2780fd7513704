"""Group commit: items added during a write are written with the next; a bad item does not affect the others."""

from collections.abc import Awaitable, Callable, Sequence

import pytest
import trio
import trio.testing

from fe.queue.batcher import ENOUGH, Batcher
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import DatabaseUnavailable
from tests.factories.tenants import rows

Write = Callable[[Sequence[int]], Awaitable[list[int]]]


class Paced:
    """Writes when it is let, and remembers its batches; some items it never takes."""

    def __init__(self, *bad: int) -> None:
        self.bad = set(bad)
        self.batches: list[list[int]] = []
        self.begun, self.go_on = trio.Event(), trio.Event()

    async def write(self, items: Sequence[int]) -> list[int]:
        self.batches.append(list(items))
        self.begun.set()
        await self.go_on.wait()
        if self.bad & set(items):
            raise ValueError("one of these")
        return [item * 10 for item in items]


async def put_all(batcher: Batcher[int, int], items: Sequence[int]) -> dict[int, int | Exception]:
    """Hand them in, all at once; what each was answered."""
    said: dict[int, int | Exception] = {}

    async def put(item: int) -> None:
        try:
            said[item] = await batcher.put(item)
        except Exception as error:
            said[item] = error

    async with trio.open_nursery() as nursery:
        for item in items:
            nursery.start_soon(put, item)
    return said


async def test_the_first_is_written_at_once_and_those_that_come_meanwhile_together() -> None:
    paced = Paced()
    batcher = Batcher(paced.write)
    async with batcher.running(), trio.open_nursery() as nursery:
        nursery.start_soon(batcher.put, 1)
        await paced.begun.wait()
        for item in (2, 3, 4):
            nursery.start_soon(batcher.put, item)
        await trio.testing.wait_all_tasks_blocked()
        paced.go_on.set()

    assert [sorted(batch) for batch in paced.batches] == [[1], [2, 3, 4]]


async def test_a_batch_has_an_upper_bound() -> None:
    paced = Paced()
    batcher = Batcher(paced.write, limit=10)
    paced.go_on.set()
    async with batcher.running():
        await put_all(batcher, range(35))

    assert max(len(batch) for batch in paced.batches) == 10
    assert sorted(item for batch in paced.batches for item in batch) == list(range(35))


@pytest.mark.parametrize("bad", [{57}, {0}, {99}, {0, 1, 50, 99}, set(range(100))], ids=len)
async def test_poisoned_items_among_a_hundred_fail_alone(bad: set[int]) -> None:
    paced = Paced(*bad)
    batcher = Batcher(paced.write)
    paced.go_on.set()
    async with batcher.running():
        said = await put_all(batcher, range(100))

    assert {item for item, answer in said.items() if isinstance(answer, ValueError)} == bad
    assert {item: answer for item, answer in said.items() if item not in bad} == {
        item: item * 10 for item in range(100) if item not in bad
    }


async def test_a_poisoned_row_leaves_what_is_written_with_it_in_one_transaction_untouched(db: Database) -> None:
    """On the real database: a statement that fails takes its whole transaction with it, and the others are not lost."""
    await rows(db, "CREATE TABLE written (n int PRIMARY KEY, CONSTRAINT not_57 CHECK (n <> 57))")

    async def insert(conn: Conn, items: Sequence[int]) -> list[int]:
        await conn.execute("INSERT INTO written SELECT unnest(%s::int[])", (list(items),))
        return list(items)

    async def write(items: Sequence[int]) -> list[int]:
        async def as_owner(conn: Conn) -> list[int]:
            return await insert(conn, items)

        return await db.transact(as_owner)

    batcher = Batcher(write)
    async with batcher.running():
        said = await put_all(batcher, range(100))

    assert [item for item, answer in said.items() if isinstance(answer, Exception)] == [57]
    assert [row["n"] for row in await rows(db, "SELECT n FROM written ORDER BY n")] == [*range(57), *range(58, 100)]


async def test_when_the_database_is_away_everybody_hears_of_it_and_nothing_is_tried_again() -> None:
    asked: list[int] = []
    away = True

    async def write(items: Sequence[int]) -> list[int]:
        asked.append(len(items))
        await trio.lowlevel.checkpoint()
        if away:
            raise DatabaseUnavailable("gone")
        return list(items)

    batcher = Batcher(write)
    async with batcher.running():
        said = await put_all(batcher, range(20))
        assert len(asked) <= 2
        away = False
        assert await batcher.put(7) == 7

    errors = list(said.values())
    assert all(isinstance(error, DatabaseUnavailable) and "gone" in str(error) for error in errors)
    assert len(set(map(id, errors))) == 20


async def test_a_write_that_hangs_is_given_up_in_time(autojump_clock: trio.testing.MockClock) -> None:
    async def write(items: Sequence[int]) -> list[int]:
        await trio.sleep_forever()
        raise AssertionError

    batcher = Batcher(write, seconds=3)
    async with batcher.running():
        with pytest.raises(DatabaseUnavailable, match="too long"):
            await batcher.put(1)

    assert trio.current_time() == pytest.approx(3)


async def test_whoever_is_cancelled_while_waiting_is_withdrawn_and_the_others_are_written() -> None:
    paced, scope = Paced(), trio.CancelScope()
    batcher = Batcher(paced.write)

    async def impatient() -> None:
        with scope:
            await batcher.put(2)

    async with batcher.running(), trio.open_nursery() as nursery:
        nursery.start_soon(batcher.put, 1)
        await paced.begun.wait()
        nursery.start_soon(impatient)
        nursery.start_soon(batcher.put, 3)
        await trio.testing.wait_all_tasks_blocked()
        scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        paced.go_on.set()

    assert paced.batches == [[1], [3]]


async def test_whoever_is_cancelled_while_its_batch_is_written_does_not_stop_it() -> None:
    paced, scope = Paced(), trio.CancelScope()
    batcher = Batcher(paced.write)
    said: list[int] = []

    async def patient() -> None:
        said.append(await batcher.put(3))

    async def impatient() -> None:
        with scope:
            await batcher.put(2)

    async with batcher.running(), trio.open_nursery() as nursery:
        nursery.start_soon(batcher.put, 1)
        await paced.begun.wait()
        nursery.start_soon(impatient)
        nursery.start_soon(patient)
        await trio.testing.wait_all_tasks_blocked()
        first, paced.go_on, paced.begun = paced.go_on, trio.Event(), trio.Event()
        first.set()
        await paced.begun.wait()
        scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        paced.go_on.set()

    assert sorted(paced.batches[1]) == [2, 3]
    assert said == [30]


async def test_what_is_handed_in_while_all_is_cancelled_is_written_before_the_end() -> None:
    paced = Paced()
    batcher = Batcher(paced.write)
    said: list[int | Exception] = []
    with trio.CancelScope() as everything:
        async with batcher.running():
            try:
                everything.cancel()
                await trio.sleep_forever()
            finally:
                batcher.add(1, lambda _, result: said.append(result))
                paced.go_on.set()

    assert said == [10]


async def test_what_cannot_be_written_before_the_end_is_answered_too(autojump_clock: trio.testing.MockClock) -> None:
    said: list[int | Exception] = []

    async def write(items: Sequence[int]) -> list[int]:
        with trio.CancelScope(shield=False):
            await trio.sleep(60)
        raise AssertionError

    batcher = Batcher(write, seconds=5)
    async with batcher.running():
        batcher.add(1, lambda _, result: said.append(result))
        await trio.sleep(1)
        batcher.add(2, lambda _, result: said.append(result))

    assert [type(result) for result in said] == [DatabaseUnavailable] * 2


async def test_items_gather_for_as_long_as_is_said_from_when_the_first_came(
    autojump_clock: trio.testing.MockClock,
) -> None:
    paced, seconds = Paced(), 0.04
    paced.go_on.set()
    batcher = Batcher(paced.write, gather=lambda: seconds)
    began = trio.current_time()
    async with batcher.running(), trio.open_nursery() as nursery:
        for item in (1, 2, 3):
            nursery.start_soon(batcher.put, item)
            await trio.sleep(0.015)
        await trio.sleep(0.02)

        assert paced.batches == [[1, 2, 3]]
        assert trio.current_time() - began == pytest.approx(0.065)

        seconds = 0.0
        nursery.start_soon(batcher.put, 4)
        await trio.testing.wait_all_tasks_blocked()

        assert paced.batches[1:] == [[4]]


async def test_enough_items_wait_for_no_more(autojump_clock: trio.testing.MockClock) -> None:
    paced = Paced()
    paced.go_on.set()
    batcher = Batcher(paced.write, gather=lambda: 3600.0)
    began = trio.current_time()
    async with batcher.running(), trio.open_nursery() as nursery:
        nursery.start_soon(batcher.put, 0)
        await trio.sleep(1)
        for item in range(1, ENOUGH):
            nursery.start_soon(batcher.put, item)

    assert [sorted(batch) for batch in paced.batches] == [list(range(ENOUGH))]
    assert trio.current_time() - began == pytest.approx(1)


async def test_whoever_is_cancelled_while_items_gather_is_withdrawn(autojump_clock: trio.testing.MockClock) -> None:
    paced = Paced()
    paced.go_on.set()
    batcher = Batcher(paced.write, gather=lambda: 0.04)
    async with batcher.running():
        with trio.move_on_after(0.01):
            await batcher.put(1)
        assert await batcher.put(2) == 20
        with trio.move_on_after(0.01):
            await batcher.put(3)
        await trio.sleep(1)

    assert paced.batches == [[2]]


async def test_an_idle_batcher_sets_no_timer(autojump_clock: trio.testing.MockClock) -> None:
    paced = Paced()
    paced.go_on.set()
    batcher = Batcher(paced.write)
    async with batcher.running():
        assert await batcher.put(1) == 10
        await trio.testing.wait_all_tasks_blocked()
        # The mock clock jumps to the next deadline there is: ours, in an hour.
        await trio.sleep(3600)
        statistics = trio.lowlevel.current_statistics()
        assert statistics.seconds_to_next_deadline == float("inf")
