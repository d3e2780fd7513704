"""Connections that have said nothing: heard as they speak, ended when it is time, all of them by one task."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest
import trio
import trio.testing

from fe.http.server.unheard import FirstBytes, Unheard
from tests.waiting import until


class Connections:
    """Pairs of sockets, and what was heard of them."""

    def __init__(self, held: ExitStack) -> None:
        self._held = held
        self.heard: list[tuple[int, bytes]] = []
        self.times: list[float] = []

    def made(self) -> tuple[socket.socket, socket.socket]:
        ours, theirs = (self._held.enter_context(end) for end in socket.socketpair())
        return ours, theirs

    def hear(self, sock: socket.socket, number: int, first: FirstBytes) -> None:
        self.heard.append((number, first.arrived))
        self.times.append(first.until)
        sock.close()


@pytest.fixture
def connections() -> Iterator[Connections]:
    with ExitStack() as held:
        yield Connections(held)


async def test_who_has_spoken_already_is_heard_at_once(connections: Connections, nursery: trio.Nursery) -> None:
    unheard = Unheard(60.0, connections.hear)
    nursery.start_soon(unheard.run)
    ours, theirs = connections.made()
    ours.sendall(b"GET /")

    unheard.add(theirs, 1)

    assert connections.heard == [(1, b"GET /")]


async def test_each_is_heard_when_it_speaks_or_leaves(connections: Connections, nursery: trio.Nursery) -> None:
    unheard = Unheard(1e6, connections.hear)
    nursery.start_soon(unheard.run)
    pairs = [connections.made() for _ in range(20)]
    for number, (_, theirs) in enumerate(pairs):
        unheard.add(theirs, number)
    await trio.testing.wait_all_tasks_blocked()
    assert connections.heard == []

    for number in (3, 1):
        pairs[number][0].sendall(b"x%d" % number)
        await until(lambda: len(connections.heard) % 2 == 1 or number == 1)  # noqa: B023  (awaited here)
    pairs[7][0].close()
    await until(lambda: len(connections.heard) == 3)
    assert sorted(connections.heard) == [(1, b"x1"), (3, b"x3"), (7, b"")]

    for ours, _ in pairs[8:]:  # more than are heard in one turn
        ours.sendall(b"y")
    await until(lambda: len(connections.heard) == 15)


async def test_who_says_nothing_in_time_has_left(
    connections: Connections, autojump_clock: trio.testing.MockClock
) -> None:
    unheard = Unheard(5.0, connections.hear)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(unheard.run)
        began = trio.current_time()
        unheard.add(connections.made()[1], 1)
        await trio.sleep(3)
        unheard.add(connections.made()[1], 2)
        await trio.sleep(1.5)
        assert connections.heard == []
        await trio.sleep(1)
        assert connections.heard == [(1, b"")]
        await trio.sleep(3)
        assert connections.heard == [(1, b""), (2, b"")]
        assert [until - began for until in connections.times] == [5.0, 8.0]
        nursery.cancel_scope.cancel()


async def test_who_speaks_in_the_moment_its_time_is_over_is_heard(
    connections: Connections, autojump_clock: trio.testing.MockClock
) -> None:
    unheard = Unheard(5.0, connections.hear)
    pairs = [connections.made() for _ in range(2)]
    for number, (_, theirs) in enumerate(pairs):
        unheard.add(theirs, number)
    await trio.sleep(5.0)  # of the test's clock, which jumps: its time is over to the moment
    pairs[1][0].sendall(b"x")  # one more than were heard in this turn

    unheard._end_the_late()

    assert connections.heard == [(0, b""), (1, b"x")]


async def test_at_the_end_all_have_left(connections: Connections) -> None:
    unheard = Unheard(1e6, connections.hear)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(unheard.run)
        for number in (1, 2):
            unheard.add(connections.made()[1], number)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert connections.heard == [(1, b""), (2, b"")]

    ours, theirs = connections.made()
    ours.sendall(b"GET /")
    unheard.add(theirs, 3)
    assert connections.heard[2:] == [(3, b"")]
