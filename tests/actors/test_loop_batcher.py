"""Short work in the loop: a few pieces in each of its turns, each for itself, and others in between."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import trio

from fe.actors.loop_batcher import LoopBatcher

Piece = Callable[[], Any]


def came_to(piece: Piece) -> Any:
    try:
        return piece()
    except Exception as error:
        return error


class Noted(trio.abc.Instrument):
    """Records the pieces done in each turn of the loop."""

    def __init__(self, at_once: int) -> None:
        self.together: list[int] = []
        self.turns: list[int] = []
        self.over: LoopBatcher[Piece, Any] = LoopBatcher(self._do_all, at_once=at_once)
        self._turn = 0

    def _do_all(self, pieces: Sequence[Piece]) -> Sequence[Any]:
        self.together.append(len(pieces))
        self.turns.append(self._turn)
        return [came_to(piece) for piece in pieces]

    def after_io_wait(self, timeout: float) -> None:
        """Another turn begins: the loop has looked who else is ready."""
        self._turn += 1


async def test_pieces_are_done_in_the_order_in_which_they_come_and_each_has_its_own_result() -> None:
    noted, done, became = Noted(2), list[int](), dict[int, int]()

    def piece(nth: int) -> Piece:
        def do() -> int:
            done.append(nth)
            return nth * 10

        return do

    async def run(nth: int) -> None:
        became[nth] = await noted.over.run(piece(nth))

    async with trio.open_nursery() as nursery:
        for nth in range(5):
            nursery.start_soon(run, nth)
            await trio.lowlevel.checkpoint()  # it has come before the next does
    assert done == list(range(5))
    assert became == {nth: nth * 10 for nth in range(5)}


async def test_of_many_at_once_so_many_are_done_in_a_turn_and_others_have_theirs_in_between() -> None:
    noted = Noted(2)
    trio.lowlevel.add_instrument(noted)
    async with trio.open_nursery() as nursery:
        for _ in range(6):
            nursery.start_soon(noted.over.run, lambda: None)
    trio.lowlevel.remove_instrument(noted)
    assert noted.together == [2, 2, 2]
    assert len(set(noted.turns)) == 3


async def test_a_piece_that_fails_fails_alone() -> None:
    noted, became = Noted(2), list[object]()

    def fail() -> None:
        raise ValueError("this one")

    async def run(piece: Piece) -> None:
        try:
            became.append(await noted.over.run(piece))
        except ValueError as error:
            became.append(str(error))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run, fail)
        nursery.start_soon(run, lambda: "that one")
    assert sorted(map(str, became)) == ["that one", "this one"]


async def test_what_fails_of_all_is_told_to_all_and_the_next_goes_on() -> None:
    def broken(pieces: Sequence[Piece]) -> Sequence[Any]:
        if len(pieces) > 1:
            raise RuntimeError("no memory")
        return [pieces[0]()]

    over, failed = LoopBatcher[Piece, Any](broken, at_once=2), 0

    async def run() -> None:
        nonlocal failed
        with pytest.raises(RuntimeError, match="no memory"):
            await over.run(lambda: 1)
        failed += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        nursery.start_soon(run)
    assert failed == 2
    assert await over.run(lambda: 7) == 7


@pytest.mark.parametrize("nth", range(4))
async def test_whoever_is_cancelled_before_its_turn_is_not_done_and_the_others_are(nth: int) -> None:
    """The first of four, which leads, as any other."""
    noted, done = Noted(1), list[int]()
    scopes = [trio.CancelScope() for _ in range(4)]

    async def run(which: int) -> None:
        with scopes[which]:
            await noted.over.run(lambda: done.append(which))

    scopes[nth].cancel()
    async with trio.open_nursery() as nursery:
        for which in range(4):
            nursery.start_soon(run, which)
    assert sorted(done) == [which for which in range(4) if which != nth]
    assert await noted.over.run(lambda: 7) == 7


async def test_cancelled_while_others_are_done_it_withdraws_and_nobody_is_left_waiting() -> None:
    noted, done = Noted(1), list[int]()
    late = trio.CancelScope()

    async def first() -> None:
        await noted.over.run(late.cancel)

    async def second() -> None:
        with late:
            await noted.over.run(lambda: done.append(2))

    async def third() -> None:
        await noted.over.run(lambda: done.append(3))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(first)
        await trio.lowlevel.checkpoint()
        nursery.start_soon(second)
        nursery.start_soon(third)
    # The second was to lead when it heard that it is cancelled, or was done before it heard: never lost in between.
    assert done in ([3], [2, 3])
