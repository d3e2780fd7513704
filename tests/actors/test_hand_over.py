"""Several pieces of work go to a thread together, and none of them notices the others."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import trio
import trio.testing

from fe.actors.hand_over import HandOver
from tests.waiting import PATIENCE

Piece = Callable[[], Any]
Over = HandOver[Piece, Any]


def over_to(threads: int, *, at_once: int = 16) -> Over:
    """A hand-over to threads, each of which calls all that it is given."""
    return HandOver(call_all, trio.CapacityLimiter(threads), at_once=at_once)


def call_all(pieces: Sequence[Piece]) -> Sequence[Any]:
    return [came_to(piece) for piece in pieces]


def came_to(piece: Piece) -> Any:
    try:
        return piece()
    except Exception as error:
        return error


class Gate:
    """A piece of work that holds its thread until it is let go."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self._let_go = threading.Event()

    def __call__(self) -> str:
        self.begun.set()
        assert self._let_go.wait(PATIENCE)
        return "gate"

    async def is_shut(self) -> None:
        assert await trio.to_thread.run_sync(self.begun.wait, PATIENCE)

    def open(self) -> None:
        self._let_go.set()


class Pieces:
    """Pieces that note in which thread they ran, and what became of them."""

    def __init__(self, over: Over) -> None:
        self._over = over
        self.ran: list[tuple[int, int]] = []
        self.became: dict[int, object] = {}

    def piece(self, nth: int) -> Piece:
        def run() -> int:
            self.ran.append((nth, threading.get_ident()))
            if nth < 0:
                raise ValueError(nth)
            return nth * 10

        return run

    async def run(self, nth: int) -> None:
        try:
            self.became[nth] = await self._over.run(self.piece(nth))
        except ValueError as error:
            self.became[nth] = error.args


async def test_a_piece_goes_at_once_while_a_thread_is_free() -> None:
    over = over_to(1)

    assert await over.run(lambda: 7) == 7


async def test_what_waits_goes_together_in_order_and_a_bad_piece_fails_alone() -> None:
    over, gate = over_to(1, at_once=3), Gate()
    pieces = Pieces(over)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(over.run, gate)
        await gate.is_shut()
        for nth in (1, -2, 3, 4, 5):
            nursery.start_soon(pieces.run, nth)
            await trio.testing.wait_all_tasks_blocked()
        assert pieces.ran == []
        gate.open()

    assert [nth for nth, _ in pieces.ran] == [1, -2, 3, 4, 5]
    assert pieces.became == {1: 10, -2: (-2,), 3: 30, 4: 40, 5: 50}


async def test_the_threads_share_what_waits() -> None:
    over, gates = over_to(2), [Gate(), Gate()]
    barrier, turns = threading.Barrier(2, timeout=PATIENCE), list[int]()

    async def meet() -> None:
        turns.append(await over.run(barrier.wait))  # each needs the other one beside it

    async with trio.open_nursery() as nursery:
        for gate in gates:
            nursery.start_soon(over.run, gate)
            await gate.is_shut()
        for _ in range(2):
            nursery.start_soon(meet)
            await trio.testing.wait_all_tasks_blocked()
        for gate in gates:
            gate.open()

    assert sorted(turns) == [0, 1]


async def test_a_cancelled_piece_that_waits_is_not_run_and_the_others_are() -> None:
    over, gate = over_to(1), Gate()
    pieces, given_up = Pieces(over), trio.CancelScope()

    async def giving_up() -> None:
        with given_up:
            await pieces.run(1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(over.run, gate)
        await gate.is_shut()
        nursery.start_soon(giving_up)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(pieces.run, 2)
        await trio.testing.wait_all_tasks_blocked()
        given_up.cancel()
        await trio.testing.wait_all_tasks_blocked()
        gate.open()

    assert [nth for nth, _ in pieces.ran] == [2]
    assert pieces.became == {2: 20}


async def test_who_is_cancelled_when_its_turn_has_come_passes_it_on() -> None:
    """Its turn and its cancellation come in the same moment."""
    over, gate = over_to(1), Gate()
    pieces, given_up = Pieces(over), trio.CancelScope()

    async def giving_up() -> None:
        with given_up:
            await pieces.run(1)

    async def first() -> None:
        await over.run(gate)
        given_up.cancel()  # told already, not run yet

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(first)
            await gate.is_shut()
            nursery.start_soon(giving_up)
            await trio.testing.wait_all_tasks_blocked()
            nursery.start_soon(pieces.run, 2)
            await trio.testing.wait_all_tasks_blocked()
            gate.open()

        assert pieces.became[2] == 20
        assert await over.run(lambda: "free") == "free"


async def test_cancelling_who_carries_does_not_cancel_what_is_carried() -> None:
    over, gate = over_to(1), Gate()
    carried: list[str] = []

    async def carrier(scope: trio.CancelScope) -> None:
        with scope:
            carried.append(await over.run(gate))

    scope = trio.CancelScope()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(carrier, scope)
        await gate.is_shut()
        scope.cancel()
        await trio.testing.wait_all_tasks_blocked()
        assert carried == []
        gate.open()

    assert carried == ["gate"]


async def test_who_is_cancelled_already_hands_nothing_over() -> None:
    over, ran = over_to(1), list[int]()
    with trio.CancelScope() as scope:
        scope.cancel()
        with pytest.raises(trio.Cancelled):
            await over.run(lambda: ran.append(1))

    assert ran == []


async def test_when_there_is_no_thread_to_be_had_all_hear_why_and_the_place_is_free_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = over_to(1)

    async def no_thread(*_: object, **__: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(trio.to_thread, "run_sync", no_thread)
        with pytest.raises(RuntimeError, match="new thread"):
            await over.run(lambda: 7)
    assert await over.run(lambda: 7) == 7
