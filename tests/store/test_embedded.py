"""The embedded Postgres where several are started at once."""

import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

# Looks, waits and creates, as useradd does: two that look at once both create it.
_MAKE = """
import sys, time
from pathlib import Path
from fe.store.postgres.embedded import one_at_a_time

def make(name):
    made = Path(name)
    if not made.exists():
        time.sleep(0.3)
        with made.open("a") as users:
            users.write("one\\n")

print("ready", flush=True)
sys.stdin.readline()
one_at_a_time(make)(sys.argv[1])
"""


def test_of_several_that_begin_at_once_one_makes_the_servers_user(tmp_path: Path) -> None:
    user = tmp_path / "user"
    command = [sys.executable, "-c", _MAKE, str(user)]
    with ExitStack() as stack:
        several = [
            stack.enter_context(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
            for _ in range(3)
        ]
        pipes = [(each.stdin, each.stdout) for each in several]
        assert all(said is not None and said.readline() == "ready\n" for _, said in pipes)
        for told, _ in pipes:
            assert told is not None
            told.close()
        assert [each.wait(timeout=60) for each in several] == [0, 0, 0]
    assert user.read_text() == "one\n"
