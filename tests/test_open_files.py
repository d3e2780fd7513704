"""The files that a process has open."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.running import environment


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_no_connection_takes_the_place_of_a_standard_file_that_is_closed(tmp_path: Path, closed: str) -> None:
    """Otherwise a library's output on stderr would go to the database or to a client."""
    told = tmp_path / "told"
    look = (
        "import os, sys, fe.cli\n"
        "import click, fe.cli.failures\n"
        "def look(command):\n"
        "    print('said', file=sys.stderr, flush=True)\n"
        f"    with open({str(told)!r}, 'w') as told:\n"
        "        print(told.fileno() > 2, *(os.get_inheritable(number) for number in range(3)), file=told)\n"
        "fe.cli.failures.guarded = look\n"
        "fe.cli.main()\n"
    )
    subprocess.run(["/bin/sh", "-c", f'exec "$0" -c "$1" {closed}', sys.executable, look], check=True)

    assert told.read_text().split() == ["True"] * 4


_MOST = 4096
#: Starts a program with a soft limit of 256 open files and a hard limit of 4096.
_LIMITED = (
    "import os, resource, sys\n"
    "resource.setrlimit(resource.RLIMIT_NOFILE, (256, 4096))\n"
    "os.execv(sys.executable, [sys.executable, *sys.argv[1:]])\n"
)


@pytest.mark.skipif(
    resource.getrlimit(resource.RLIMIT_NOFILE)[1] < _MOST, reason="fewer files than that may be open here"
)
def test_a_service_may_open_as_many_files_as_the_system_lets_it() -> None:
    """Else its clients' connections leave none for the database."""
    look = (
        "import resource, fe.cli.start as main\n"
        "def look(*_):\n"
        "    print(*resource.getrlimit(resource.RLIMIT_NOFILE))\n"
        "    raise SystemExit\n"
        "main.configure_logging = look\n"
        "from fe.config import load_settings\n"
        "main.run_service(load_settings(), role='http', processes=1)\n"
    )
    told = environment(database_url="host=127.0.0.1 dbname=fe", dumpable="1", authority_ecf_url="http://127.0.0.1:1")
    ended = subprocess.run(
        [sys.executable, "-c", _LIMITED, "-c", look], env=told, capture_output=True, text=True, check=True
    )

    assert ended.stdout.split() == ["4096", "4096"]
