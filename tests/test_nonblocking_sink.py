"""The log while its reader is stuck: the service does not wait, and later the reader learns what is missing."""

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from fe.monitoring.nonblocking_sink import NonblockingSink
from tests.waiting import PATIENCE

LINE = b'{"event": "%d", "text": "' + b"x" * 300 + b'"}\n'
#: A traceback.
LONG = b'{"event": "long", "text": "' + b"y" * 20_000 + b'"}\n'
#: More than any pipe or socket holds.
MANY = 5_000

Ends = tuple[int, int]


def pipe(around: ExitStack) -> Ends:
    reading, writing = os.pipe()
    around.callback(os.close, reading)
    around.callback(os.close, writing)
    return reading, writing


def pair(around: ExitStack) -> Ends:
    reading, writing = (around.enter_context(each) for each in socket.socketpair())
    return reading.fileno(), writing.fileno()


@pytest.fixture(params=[pipe, pair], ids=["pipe", "socket"])
def ends(request: pytest.FixtureRequest) -> Iterator[Ends]:
    make: Callable[[ExitStack], Ends] = request.param
    with ExitStack() as around:
        yield make(around)


def read_all(number: int) -> list[bytes]:
    """Read the available lines."""
    os.set_blocking(number, False)
    read = b""
    try:
        while data := os.read(number, 1 << 20):
            read += data
    except BlockingIOError:
        pass
    assert read.endswith(b"\n")
    return read.splitlines()


def test_lines_that_nobody_reads_are_left_out_and_counted_and_the_others_are_whole(ends: Ends) -> None:
    reading, writing = ends
    outlet = NonblockingSink(writing)

    for number in range(MANY):
        outlet.write(LONG if number % 10 == 9 else LINE % number)
    first = [json.loads(line) for line in read_all(reading)]
    outlet.write(LINE % MANY)
    lost, last = (json.loads(line) for line in read_all(reading))
    outlet.write(LINE % MANY)
    (again,) = read_all(reading)

    assert [line["event"] for line in first[:9]] == [str(number) for number in range(9)]
    assert lost["event"] == "lines of the log were left out: nobody read them"
    assert len(first) + lost["lines"] == MANY
    assert last["event"] == json.loads(again)["event"] == str(MANY)


def test_a_line_longer_than_a_pipe_goes_through_when_nothing_else_is_there() -> None:
    with ExitStack() as around:
        reading, writing = pipe(around)
        longest = b"z" * 200_000 + b"\n"
        read: list[bytes] = []

        def follow() -> None:
            with os.fdopen(os.dup(reading), "rb") as file:
                read.append(file.readline())

        reader = threading.Thread(target=follow)
        reader.start()
        NonblockingSink(writing).write(longest)
        reader.join()

    assert read == [longest]


def test_line_longer_than_a_pipe_that_nobody_reads_is_cut_off_and_the_next_stands_alone(ends: Ends) -> None:
    reading, writing = ends
    outlet = NonblockingSink(writing)

    began = time.monotonic()
    outlet.write(b"z" * 1_000_000 + b"\n")
    took = time.monotonic() - began
    outlet.write(LINE % 1)
    os.set_blocking(reading, False)
    while True:
        try:
            os.read(reading, 1 << 20)
        except BlockingIOError:
            break
    outlet.write(LINE % 2)

    assert took < PATIENCE
    end_of_the_long_one, lost, line = read_all(reading)
    assert end_of_the_long_one == b""
    assert (json.loads(lost)["lines"], json.loads(line)["event"]) == (2, "2")
