"""Several processes watched by one: restarts, the end after too many deaths, signals passed on; all of it real."""

import gc
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import pytest

from fe.config import ConfigError, load_settings
from fe.process.workers import Listeners, collect_rarely, split_bind
from tests.ports import free_port
from tests.waiting import PATIENCE

#: Program of a child process; BODY is its work. Each child writes its start and its end to the file.
CHILD = """
import json, os, signal, sys, time
from fe.process.parent_watch import obey
from fe.process.supervise import ProcessFiles

given = ProcessFiles(**json.loads(sys.argv[-1]))
index = int(os.environ["METRICS"].split(",").index(str(given.metrics)))
out = open(sys.argv[1], "a", buffering=1)
obey(given.parent)

def tell(*words):
    print(*words, file=out)

def until_told(grace=0.0):
    def hear(number, _):
        tell("heard", index, signal.Signals(number).name, os.getpid())
        time.sleep(grace)
        sys.exit(0)
    signal.signal(signal.SIGTERM, hear)
    tell("started", index, os.getpid())
    os.write(given.ready, b"1")
    while True:
        time.sleep(10)

def when(said):
    while said not in open(sys.argv[1]).read():
        time.sleep(0.01)

def count(said):
    return open(sys.argv[1]).read().count(said)

BODY
"""

#: Program of the parent that watches the children, as `fe run --processes` does.
PARENT = """
import json, os, socket, sys

metrics = [socket.create_server(("127.0.0.1", 0)) for _ in range(PROCESSES)]
for one in metrics:
    one.set_inheritable(True)
os.environ["METRICS"] = ",".join(str(one.fileno()) for one in metrics)
plan = {
    "command": [sys.executable, *sys.argv[1:]],
    "listeners": {},
    "metrics": [one.fileno() for one in metrics],
    "grace": GRACE,
    "closed": False,
}
os.execv(sys.executable, [sys.executable, "-m", "fe.process.supervise", json.dumps(plan)])
"""


@dataclass
class Parent:
    process: subprocess.Popen[str]
    said: Path
    stderr: IO[str] = field(repr=False)

    def lines(self, word: str) -> list[list[str]]:
        return [line.split() for line in self.said.read_text().splitlines() if line.startswith(word)]

    def await_lines(self, word: str, count: int) -> list[list[str]]:
        end = time.monotonic() + PATIENCE
        while len(self.lines(word)) < count:
            assert time.monotonic() < end, self.said.read_text()
            assert self.process.poll() is None or len(self.lines(word)) >= count, self.said.read_text()
            time.sleep(0.02)
        return self.lines(word)

    def end(self) -> int:
        return self.process.wait(PATIENCE)


@contextmanager
def parent(folder: Path, body: str, processes: int = 2, grace: float = 20.0) -> Iterator[Parent]:
    said = folder / "said"
    said.touch()
    child = folder / "child.py"
    child.write_text(CHILD.replace("BODY", body))
    code = PARENT.replace("PROCESSES", str(processes)).replace("GRACE", str(grace))
    with open(folder / "stderr", "w+") as stderr:
        running = Parent(
            subprocess.Popen(
                [sys.executable, "-c", code, str(child), str(said)], stderr=stderr, text=True, start_new_session=True
            ),
            said,
            stderr,
        )
        try:
            yield running
        finally:
            for pid in [running.process.pid, *(int(line[2]) for line in running.lines("started"))]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            running.process.wait(PATIENCE)


def alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True


def test_sigterm_is_passed_on_and_the_end_is_zero_when_all_have_ended(tmp_path: Path) -> None:
    with parent(tmp_path, "until_told(grace=0.5)", processes=3) as running:
        started = running.await_lines("started", 3)

        running.process.send_signal(signal.SIGTERM)

        assert running.end() == 0
        assert sorted(line[1] for line in started) == ["0", "1", "2"]
        assert sorted(line[:3] for line in running.lines("heard")) == [["heard", str(n), "SIGTERM"] for n in range(3)]
        assert not any(alive(line[2]) for line in started)


def test_children_stop_when_their_parent_is_killed(tmp_path: Path) -> None:
    with parent(tmp_path, "until_told()") as run:
        run.await_lines("started", 2)

        run.process.kill()
        run.end()

        end = time.monotonic() + PATIENCE
        while len(run.lines("heard")) < 2:
            assert time.monotonic() < end, run.said.read_text()
            time.sleep(0.02)
    assert {line[2] for line in run.lines("heard")} == {"SIGTERM"}


def test_who_does_not_stop_with_its_parent_is_ended_hard() -> None:
    """Whatever holds it up: here it does not listen to SIGTERM at all, and would wait for ever."""
    child = (
        "import signal, sys, threading\n"
        "from fe.process.parent_watch import obey\n"
        "signal.signal(signal.SIGTERM, lambda *_: None)\n"
        "obey(0, patience=0.2)\n"
        "print('ready', flush=True)\n"
        "while True: threading.Event().wait(0.1)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", child], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        try:
            assert running.stdin is not None
            assert running.stdout is not None
            assert running.stdout.readline() == "ready\n"
            assert running.poll() is None, "it stays as long as its parent does"

            running.stdin.close()  # as the kernel does when the parent dies

            assert running.wait(PATIENCE) == 70
        finally:
            running.kill()


def test_sigint_stops_like_sigterm(tmp_path: Path) -> None:
    with parent(tmp_path, "until_told()") as running:
        running.await_lines("started", 2)

        running.process.send_signal(signal.SIGINT)

        assert running.end() == 0


def test_a_child_that_dies_is_started_again_under_its_number(tmp_path: Path) -> None:
    with parent(tmp_path, "until_told()") as running:
        first = running.await_lines("started", 2)
        victim = next(line for line in first if line[1] == "1")

        os.kill(int(victim[2]), signal.SIGKILL)
        again = running.await_lines("started", 3)[2]
        running.process.send_signal(signal.SIGTERM)

        assert again[1] == "1"
        assert again[2] != victim[2]
        assert running.end() == 0
        running.stderr.seek(0)
        (died,) = [json.loads(line) for line in running.stderr if "died" in line]
        assert (died["event"], died["pid"], died["status"]) == ("a process died", int(victim[2]), -signal.SIGKILL)
        assert list(died)[:3] == ["event", "level", "timestamp"]


def test_five_deaths_in_a_minute_end_the_whole_and_its_siblings_orderly(tmp_path: Path) -> None:
    body = "until_told() if index == 0 else (when('started 0'), tell('tried'), sys.exit(1))"
    with parent(tmp_path, body) as running:
        assert running.end() == 1
        assert len(running.lines("tried")) == 5
        assert [line[:3] for line in running.lines("heard")] == [["heard", "0", "SIGTERM"]]


def test_an_error_in_a_child_is_told_and_counts_as_a_death(tmp_path: Path) -> None:
    with parent(tmp_path, "raise LookupError('what was wrong')", processes=1) as running:
        assert running.end() == 1
        running.stderr.seek(0)
        assert running.stderr.read().count("LookupError: what was wrong") == 5


def test_a_second_signal_kills_who_does_not_end(tmp_path: Path) -> None:
    with parent(tmp_path, "until_told(grace=600)", grace=600) as running:
        started = running.await_lines("started", 2)
        running.process.send_signal(signal.SIGTERM)
        running.await_lines("heard", 2)

        running.process.send_signal(signal.SIGTERM)

        assert running.end() == 1
        assert not any(alive(line[2]) for line in started)


def test_who_has_not_ended_when_the_grace_is_over_is_killed(tmp_path: Path) -> None:
    with parent(tmp_path, "until_told(grace=600)", grace=-14.0) as running:  # the time to close after it is 15 s
        running.await_lines("started", 2)
        running.process.send_signal(signal.SIGTERM)

        assert running.end() == 1


@pytest.mark.parametrize("after", [0.0, 0.01, 0.05, 0.2])
def test_a_stop_that_comes_while_processes_are_being_started_stops_them_too(tmp_path: Path, after: float) -> None:
    """Between a fork and the child's own arrangements the parent's are in force there."""
    body = "until_told() if index else (tell('tried', index), time.sleep(0.05), sys.exit(1))"
    with parent(tmp_path, body, processes=4) as running:
        running.await_lines("tried", 1)
        time.sleep(after)

        running.process.send_signal(signal.SIGTERM)

        running.end()
        time.sleep(0.1)
        assert not any(alive(line[2]) for line in running.lines("started"))


AS_SERVED = """import trio
from fe.process.workers import stop_on_signal

async def serve():
    stopping = trio.Event()
    async with trio.open_nursery() as nursery:
        await nursery.start(stop_on_signal, stopping, 30.0)
        tell("started", index, os.getpid())
        await stopping.wait()
        tell("stopping", index)
        await trio.sleep(0.5)  # work in flight
        nursery.cancel_scope.cancel()

trio.run(serve)
tell("drained", index)"""


def test_ctrl_c_reaches_a_child_from_the_terminal_and_from_its_parent_and_is_one_stop(tmp_path: Path) -> None:
    with parent(tmp_path, AS_SERVED) as running:
        running.await_lines("started", 2)

        os.killpg(running.process.pid, signal.SIGINT)  # as a terminal does

        assert running.end() == 0
        assert len(running.lines("drained")) == 2


def test_a_second_signal_after_a_while_ends_a_child_hard(tmp_path: Path) -> None:
    body = AS_SERVED.replace("trio.sleep(0.5)", "trio.sleep(600)").replace("stopping, 30.0", "stopping, 900.0")
    with parent(tmp_path, body, processes=1) as running:
        ((_, _, pid),) = running.await_lines("started", 1)
        os.kill(int(pid), signal.SIGTERM)
        running.await_lines("stopping", 1)
        time.sleep(1.5)  # sooner it would be taken for the first one once more
        os.kill(int(pid), signal.SIGTERM)

        running.await_lines("started", 2)  # it was a crash, so it is started again

        assert not alive(pid)


# --- Replacing ---------------------------------------------------------------------------------------------------


def test_sighup_replaces_each_process_once_its_successor_serves(tmp_path: Path) -> None:
    with parent(tmp_path, "until_told()") as running:
        first = {line[2] for line in running.await_lines("started", 2)}

        running.process.send_signal(signal.SIGHUP)
        running.await_lines("heard", 2)

        ended = {line[3] for line in running.lines("heard")}
        said = [line.split()[:2] for line in running.said.read_text().splitlines()]
        assert ended == first
        # One after the other: while one is replaced the other serves.
        assert said[2:] == [["started", "0"], ["heard", "0"], ["started", "1"], ["heard", "1"]]
        running.process.send_signal(signal.SIGTERM)
        assert running.end() == 0
        assert len(running.lines("started")) == 4


def test_a_successor_that_does_not_come_to_serve_leaves_the_old_processes_at_work(tmp_path: Path) -> None:
    body = "until_told() if count('started') < 2 else (tell('refused'), sys.exit(3))"
    with parent(tmp_path, body) as running:
        first = running.await_lines("started", 2)

        running.process.send_signal(signal.SIGHUP)
        running.await_lines("refused", 1)
        time.sleep(0.5)

        assert running.lines("heard") == []
        assert all(alive(line[2]) for line in first)
        running.process.send_signal(signal.SIGTERM)
        assert running.end() == 0
        running.stderr.seek(0)
        (said,) = [json.loads(line) for line in running.stderr if "serve" in line]
        assert (said["level"], said["status"]) == ("error", 3)


def test_settings_that_are_wrong_at_the_start_end_the_whole_with_their_exit_code(tmp_path: Path) -> None:
    """systemd does not start it again then: RestartPreventExitStatus=3."""
    with parent(tmp_path, "sys.exit(3)") as running:
        assert running.end() == 3


def test_the_parent_takes_a_tenth_of_the_memory_of_what_it_starts(tmp_path: Path) -> None:
    with parent(tmp_path, "until_told()") as running:
        running.await_lines("started", 2)
        status = Path(f"/proc/{running.process.pid}/status").read_text()
        (kilobytes,) = re.findall(r"VmRSS:\s+(\d+) kB", status)

    assert int(kilobytes) < 30_000


# --- Listeners ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bind", "host", "port"),
    [
        ("127.0.0.1:8080", "127.0.0.1", 8080),
        ("[::1]:9464", "::1", 9464),
        (":80", "0.0.0.0", 80),
        ("localhost:0", "localhost", 0),
    ],
)
def test_an_address_is_split_at_its_last_colon(bind: str, host: str, port: int) -> None:
    assert split_bind(bind, "FE_X") == (host, port)


@pytest.mark.parametrize("bind", ["", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "a:-1", "a:٣"])
def test_what_is_no_address_is_named(bind: str) -> None:
    with pytest.raises(ConfigError, match="FE_X should be address:port"):
        split_bind(bind, "FE_X")


def test_a_taken_port_is_an_error_that_names_the_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings = load_settings(http_bind=f"127.0.0.1:{taken.getsockname()[1]}", metrics_bind="127.0.0.1:0")
        with pytest.raises(ConfigError, match="FE_HTTP_BIND"):
            Listeners.open(settings, "http")


@pytest.mark.parametrize("offset", [0, 1])
def test_a_taken_port_for_metrics_is_told_before_anything_starts(offset: int) -> None:
    with ExitStack() as stack:
        while True:  # until the port before it is free
            taken = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            port = taken.getsockname()[1] - offset
            with suppress(OSError), socket.create_server(("127.0.0.1", taken.getsockname()[1] - 1)):
                break
        settings = load_settings(metrics_bind=f"127.0.0.1:{port}")
        with pytest.raises(ConfigError, match=f"FE_METRICS_BIND: cannot listen on 127.0.0.1:{port + offset}"):
            Listeners.open(settings, "actors", processes=2)


def test_a_port_for_metrics_that_another_listener_of_the_process_has_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        bind = f"127.0.0.1:{free.getsockname()[1]}"
    settings = load_settings(http_bind=bind, metrics_bind=bind)

    with pytest.raises(ConfigError, match=f"FE_METRICS_BIND: cannot listen on {bind}"):
        Listeners.open(settings, "http", 1)


def test_a_host_for_metrics_that_does_not_exist_is_told_too() -> None:
    with pytest.raises(ConfigError, match="FE_METRICS_BIND"):
        Listeners.open(load_settings(metrics_bind="nowhere.invalid:9464"), "actors")


def test_actors_open_no_public_port_and_each_process_has_its_own_for_metrics() -> None:
    port = free_port()
    listeners = Listeners.open(load_settings(metrics_bind=f"127.0.0.1:{port}"), "actors", 2)

    assert not listeners.http
    assert [one.getsockname() for one in listeners.metrics] == [("127.0.0.1", port + n) for n in range(2)]
    listeners.close()


# --- In a container ----------------------------------------------------------------------------------------------


def alone(*command: str) -> "subprocess.Popen[str]":
    """Start a command as the first process of a namespace of its own."""
    apart = ["unshare", "--pid", "--fork", "--mount-proc"]
    try:
        subprocess.run([*apart, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("NOT PROVED HERE: only root makes namespaces of processes")
    return subprocess.Popen([*apart, *command], stdout=subprocess.PIPE, text=True)


def test_the_first_process_of_a_container_ends_at_sigterm_before_it_serves() -> None:
    """Without a handler for it the kernel keeps it away from such a process."""
    program = (
        "import fe.cli, fe.cli.failures, os, time\n"
        "fe.cli.failures.guarded = lambda _: (print(os.getpid(), flush=True), time.sleep(120))\n"
        "fe.cli.main()\n"
    )
    with alone(sys.executable, "-c", program) as around:
        assert around.stdout is not None
        assert around.stdout.readline() == "1\n"
        (first,) = Path(f"/proc/{around.pid}/task/{around.pid}/children").read_text().split()

        os.kill(int(first), signal.SIGTERM)

    assert around.returncode == 128 + signal.SIGTERM


# --- The collector -----------------------------------------------------------------------------------------------


@pytest.fixture
def collector() -> Iterator[None]:
    """Python's collector as it was, afterwards."""
    before = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*before)


def test_the_collector_leaves_alone_what_was_there_and_still_finds_rings(collector: None) -> None:
    collect_rarely()
    ring: list[object] = []
    ring.append(ring)
    gone = weakref.ref(holder := _Holder(ring))
    ring.append(holder)
    del ring, holder

    assert gc.get_freeze_count() > 0
    assert gc.isenabled()
    assert gone() is not None
    gc.collect(0)
    assert gone() is None


class _Holder:
    """Something in a ring that can be asked whether it is still there."""

    def __init__(self, ring: list[object]) -> None:
        self.ring = ring
