"""The `fe` command without its start-up time: a process that has imported everything forks one for each command.

A command takes some hundredths of a second, and its imports a whole one; the tests run hundreds of commands. Each is
still a process of its own, with arguments, environment, folder, umask, standard streams and exit code, and ends as any
Python does. Code before `fe.cli.main` and the order of imports are not tested this way: tests of them start `python -m
fe` (tests/cli/test_failures.py).

`warm_fe()` is the path of an executable that replaces `fe`, for a test as for a page's block.
"""

import atexit
import functools
import gc
import importlib
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

#: Stand-in for `fe`: passes on the process's state and signals, and ends as the command ended.
_CLIENT = """\
#!{python} -ISE
import os, signal, socket, sys

umask = os.umask(0)
os.umask(umask)
told = [str(umask).encode(), os.fsencode(os.getcwd()), str(len(sys.argv) - 1).encode()]
told += [os.fsencode(arg) for arg in sys.argv[1:]]
told += [name + b"=" + value for name, value in os.environb.items()]
request = b"\\0".join(told)
pid, heard = 0, []

def hand_on(number, _=None):
    if not pid:
        heard.append(number)  # until there is somebody to hand it to
        return
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass

for number in (signal.SIGTERM, signal.SIGINT):
    signal.signal(number, hand_on)
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    socket.send_fds(server, [len(request).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(request)
    pid = int.from_bytes(server.recv(8, socket.MSG_WAITALL), "big")
    for number in heard:
        hand_on(number)
    code = int(server.recv(16) or 70)
if code < 0:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


@functools.cache
def warm_fe() -> Path:
    """The executable, with a server behind it that ends with this process."""
    if sys.platform != "linux":
        return Path(sys.executable).parent / "fe"
    folder = Path(tempfile.mkdtemp(prefix="fe-warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    address = folder / "socket"
    program = folder / "fe"
    program.write_text(_CLIENT.format(python=sys.executable, address=str(address)), encoding="utf-8")
    program.chmod(0o755)
    plain = {name: value for name, value in os.environ.items() if not name.startswith("FE_")}
    # Its standard input stays silent and closes when this process ends, however it ends; then the server ends too.
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.cli.warm", str(address)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=plain,
        cwd=Path(__file__).resolve().parents[2],
        start_new_session=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    atexit.register(server.wait)
    atexit.register(server.stdin.close)  # the last registered comes first
    with server.stdout as said:
        assert said.readline() == b"warm\n"
    return program


def path_with_fe() -> str:
    """A PATH on which `fe` is that executable, and what else is installed beside it the real one."""
    return os.pathsep.join([str(warm_fe().parent), str(Path(sys.executable).parent), os.environ["PATH"]])


# --- the server ----------------------------------------------------------------------------------------------------


def _serve(address: str) -> None:
    """Fork for each client until standard input closes. Returns in each command's process, to become that command."""
    from fe.cli import COMMANDS, HIDDEN

    for where in (
        *(where for where, _ in COMMANDS.values()),
        *HIDDEN.values(),
        "fe.cli.failures:",
        "fe.cli.start:",
        "fe.main:",
    ):
        importlib.import_module(where.partition(":")[0])
    assert threading.active_count() == 1, threading.enumerate()
    gc.collect()
    gc.freeze()  # keep the shared memory from being copied by garbage collection
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # let the kernel reap children
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(64)
        os.write(1, b"warm\n")
        while True:
            ready, _, _ = select.select([listener.fileno(), 0], [], [])
            if 0 in ready:
                os._exit(0)
            client, _ = listener.accept()
            if os.fork() == 0:
                listener.close()
                return _wait_for_one(client)
            client.close()


def _wait_for_one(client: socket.socket) -> None:
    """Fork the command, and tell the client how it ended; if he leaves before, kill it. Returns in the command."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    length, streams, _, _ = socket.recv_fds(client, 4, 3)
    request = b""
    while len(request) < int.from_bytes(length, "big"):
        request += client.recv(1 << 20)
    pid = os.fork()
    if pid == 0:
        client.close()
        return _become(request, streams)
    for stream in streams:
        os.close(stream)
    client.sendall(pid.to_bytes(8, "big"))
    ended = os.pidfd_open(pid)
    ready, _, _ = select.select([client.fileno(), ended], [], [])
    if ended not in ready:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    try:
        client.sendall(str(os.waitstatus_to_exitcode(status)).encode())
    finally:
        os._exit(0)


def _become(request: bytes, streams: list[int]) -> None:
    umask, folder, count, *rest = request.split(b"\0")
    args, environ = rest[: int(count)], rest[int(count) :]
    os.environb.clear()
    os.environb.update((name, value) for name, _, value in (one.partition(b"=") for one in environ))
    os.umask(int(umask))
    os.chdir(folder)
    sys.argv = ["fe", *map(os.fsdecode, args)]
    # Start of a new process (fe/process/hardening.py).
    sys.orig_argv = [sys.executable, "-m", "fe", *sys.argv[1:]]
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # Made anew, because what they wrap may be of another kind now: a pipe that was a file. They stay open.
    sys.stdin = os.fdopen(0, closefd=False)
    sys.stdout = os.fdopen(1, "w", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace", closefd=False)


def _end_as_python_does(run: Callable[[], None]) -> None:
    """Run, and end the process as Python does, but for taking apart all that was imported.

    To free each object is to write on the page it lies on, which is to copy it: that takes longer than most commands.
    """
    code: str | int | None = None
    try:
        run()
    except SystemExit as ended:
        code = ended.code
    if threading.active_count() > 1 or isinstance(code, str):
        sys.exit(code)  # there is more to do
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)  # the reader has gone: Python has an exit code of its own for that
    os._exit((code or 0) & 0xFF)


if __name__ == "__main__":
    _serve(sys.argv[1])
    from fe.cli import main

    _end_as_python_does(main)
