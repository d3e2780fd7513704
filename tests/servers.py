"""The Postgres that tests run on: the embedded one, or any other whose programs are on this machine.

FE_TEST_POSTGRES chooses: unset or `embedded`; `debian`, the newest that Debian's packages installed; or the folder
where a server's `initdb` and `postgres` are.
"""

import atexit
import os
import pwd
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg

from fe.store.postgres.embedded import start_embedded
from tests.faults.watchman import Watchman

#: Where Debian's packages put a server, by its version.
DEBIAN = Path("/usr/lib/postgresql")

#: As whom a server runs when we are root, which it refuses to be: the first of these users that there is.
_USERS = ("postgres", "nobody")

_PATIENCE = 60.0


class NoServer(Exception):
    """There is no such server here; the message says what was looked for."""


def chosen(environ: Mapping[str, str] = os.environ, debian: Path = DEBIAN) -> Path | None:
    """Where the programs of the server are that was asked for; None means the embedded one. Raises NoServer."""
    wish = environ.get("FE_TEST_POSTGRES", "embedded")
    if wish == "embedded":
        return None
    if wish == "debian":
        found = [folder for folder in debian.glob("*/bin") if re.fullmatch(r"\d+", folder.parent.name)]
        if not found:
            raise NoServer(f"there is no Postgres of Debian's packages below {debian}")
        return max(found, key=lambda folder: int(folder.parent.name))
    folder = Path(wish)
    if not (folder / "initdb").is_file():
        raise NoServer(f"FE_TEST_POSTGRES is {wish!r}, where there is no initdb")
    return folder


def start_server(folder: Path) -> str:
    """Start the server that was asked for with its data in `folder`, until this process ends; return its DSN."""
    programs = chosen()
    return start_embedded(folder / "data", keep=False) if programs is None else start(programs, folder)


def start(
    programs: Path, folder: Path, *options: str, port: int = 5432, environment: Mapping[str, str] | None = None
) -> str:
    """Start a server of these programs with further command-line options, as `start_server` does.

    `environment` is added to the variables of this process.
    """
    data = folder / "data"
    data.mkdir()
    told: dict[str, Any] = {"cwd": folder, "stdin": subprocess.DEVNULL, "env": {**os.environ, **(environment or {})}}
    if os.geteuid() == 0:
        user = next(name for name in _USERS if _exists(name))
        shutil.chown(data, user)
        folder.chmod(0o755)
        told |= {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
    make = [str(programs / "initdb"), "-D", str(data), "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync"]
    subprocess.run(make, check=True, capture_output=True, **told)
    with (folder / "log").open("wb") as log:
        command = [
            str(programs / "postgres"),
            "-D",
            str(data),
            "-k",
            str(data),
            "-p",
            str(port),
            "-c",
            "listen_addresses=",
            *options,
        ]
        server: subprocess.Popen[bytes] = subprocess.Popen(
            command, stdout=log, stderr=log, start_new_session=True, **told
        )
    watchman = Watchman()
    watchman.follow(server.pid)
    atexit.register(_stop, server, watchman)
    dsn = f"postgresql://postgres@/postgres?host={quote(str(data), safe='')}&port={port}"
    _wait_for(server, dsn, folder / "log")
    return dsn


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True


def _wait_for(server: subprocess.Popen[bytes], dsn: str, log: Path) -> None:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            psycopg.connect(dsn).close()
        except psycopg.OperationalError:
            # A server does not report when it has started: ask until it answers.
            if server.poll() is not None or time.monotonic() > until:
                raise NoServer(f"{server.args!r} did not come up: {log.read_text()}") from None
            time.sleep(0.05)
        else:
            return


def _stop(server: subprocess.Popen[bytes], watchman: Watchman) -> None:
    server.send_signal(signal.SIGINT)
    server.wait()
    watchman.forget(server.pid)
    watchman.close()
