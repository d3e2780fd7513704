"""Nodes that are down: asked on suspicion, until they answer; calls that wait for one are released."""

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing

from fe.store.citus.engine import CITUS
from fe.store.postgres.db import open_database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.postgres.nodes import AwayNodes


class Asked:
    """Scripted answers about the nodes, and when they were asked."""

    def __init__(self) -> None:
        self.away: Collection[int] | None = ()
        self.at: list[float] = []

    async def __call__(self) -> Collection[int]:
        self.at.append(trio.current_time())
        await trio.sleep(0.5)
        if self.away is None:
            raise DatabaseUnavailable("the coordinator is away")
        return self.away


@asynccontextmanager
async def watching(asked: Asked) -> AsyncIterator[AwayNodes]:
    nodes = AwayNodes()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(nodes.watch, asked)
        yield nodes
        nursery.cancel_scope.cancel()


async def test_nobody_is_asked_while_calls_are_short(autojump_clock: trio.testing.MockClock) -> None:
    asked = Asked()
    async with watching(asked) as nodes:
        for _ in range(20):
            with nodes.call() as call:
                await trio.sleep(0.9)
            assert not call.cancelled_caught
    assert asked.at == []


async def test_a_call_that_takes_long_is_given_up_once_it_is_known_that_a_node_is_away(
    autojump_clock: trio.testing.MockClock,
) -> None:
    asked = Asked()
    async with watching(asked) as nodes, trio.open_nursery() as nursery:
        asked.away = (2,)

        async def short() -> None:
            with nodes.call() as call:
                await trio.sleep(0.8)
            assert not call.cancelled_caught

        began = trio.current_time()
        with nodes.call() as waiting:
            nursery.start_soon(short)
            await trio.sleep(1.7)
            nursery.start_soon(short)
            await trio.Event().wait()
        assert trio.current_time() <= began + 3.5  # they are asked twice
        assert waiting.cancelled_caught
        assert nodes.groups == {2}


async def test_a_node_that_misses_its_time_once_while_a_call_is_slow_is_not_taken_for_away(
    autojump_clock: trio.testing.MockClock,
) -> None:
    asked = Asked()
    async with watching(asked) as nodes:
        asked.away = (2,)
        with nodes.call() as call:
            while not asked.at:  # noqa: ASYNC110  (by a clock that goes by itself)
                await trio.sleep(0.1)
            await trio.sleep(0.45)
            assert len(asked.at) == 1
            await trio.sleep(0.1)
            asked.away = ()
            await trio.sleep(3)
        assert not call.cancelled_caught
        assert nodes.groups == set()


async def test_a_call_that_takes_long_goes_on_while_all_nodes_answer(autojump_clock: trio.testing.MockClock) -> None:
    asked = Asked()
    async with watching(asked) as nodes:
        with nodes.call() as call:
            await trio.sleep(10)
    assert not call.cancelled_caught
    assert 5 <= len(asked.at) <= 8


async def test_those_that_are_away_are_asked_each_second_until_they_answer(
    autojump_clock: trio.testing.MockClock,
) -> None:
    asked = Asked()
    asked.away = (1, 3)
    async with watching(asked) as nodes:
        await nodes.settled()
        assert nodes.groups == {1, 3}
        asked.away = None
        await trio.sleep(10)
        assert nodes.groups == {1, 3}, "of a coordinator that is away nothing is learned"
        asked.away = ()
        await trio.sleep(3)
        assert nodes.groups == set()
        many = len(asked.at)
        await trio.sleep(10)
    assert len(asked.at) == many
    assert all(later - earlier >= 1.0 for earlier, later in zip(asked.at, asked.at[1:], strict=False))


@pytest.mark.parametrize("error", [KeyError("x"), KeyboardInterrupt()])
async def test_an_error_of_whoever_works_with_a_cluster_comes_out_as_it_is(error: BaseException) -> None:
    """Beside the work the nodes are watched; an error in a group would be taken for another."""
    with pytest.raises(type(error)) as raised:
        async with open_database("host=127.0.0.1 port=1 user=postgres", engine=CITUS):
            raise error
    assert raised.value is error
