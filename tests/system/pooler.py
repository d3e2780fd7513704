"""PgBouncer, Debian's own, in front of a test's server."""

import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.ports import free_port
from tests.waiting import PATIENCE

_PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")

needs_pgbouncer = pytest.mark.skipif(
    _PROGRAM is None, reason="NOT PROVED HERE: how we do behind a pooler (apt-get install pgbouncer)"
)


def pooler_version() -> tuple[int, ...]:
    """Which PgBouncer this is; (0,) when there is none."""
    if _PROGRAM is None:
        return (0,)
    said = subprocess.run([_PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    return tuple(int(part) for part in said.split()[1].split("."))


@dataclass(frozen=True)
class Pooler:
    """A PgBouncer that runs."""

    #: Through it.
    dsn: str
    process: "subprocess.Popen[bytes]"
    config: Path

    def switch(self, mode: str) -> None:
        """Have it pool otherwise from now on, under the connections that there are."""
        lines = re.sub("(?m)^pool_mode = .*$", f"pool_mode = {mode}", self.config.read_text())
        self.config.write_text(lines)
        self.process.send_signal(signal.SIGHUP)


@contextmanager
def pgbouncer(dsn: str, mode: str, **settings: object) -> Iterator[str]:
    """Run it in front of the server of `dsn`, all else as it comes; the DSN that goes through it."""
    with pooler(dsn, mode, **settings) as running:
        yield running.dsn


@contextmanager
def pooler(dsn: str, mode: str, **settings: object) -> Iterator[Pooler]:
    """Run PgBouncer as `pgbouncer` does; it can be switched."""
    assert _PROGRAM is not None
    where = conninfo_to_dict(dsn)
    folder = Path(tempfile.mkdtemp(prefix="fe-pooler-"))
    folder.chmod(0o755)
    port = free_port()
    users, config = folder / "users.txt", folder / "pgbouncer.ini"
    users.write_text(f'"{where["user"]}" ""\n')
    lines = {
        "listen_addr": "127.0.0.1",
        "listen_port": port,
        "unix_socket_dir": "",
        "auth_type": "trust",
        "auth_file": users,
        "pool_mode": mode,
        **settings,
    }
    config.write_text(
        f"[databases]\n* = host={where['host']} port={where.get('port', 5432)}\n[pgbouncer]\n"
        + "".join(f"{name} = {value}\n" for name, value in lines.items())
    )
    # It refuses to run as root, and the socket of the server is for the user of the server.
    user = pwd.getpwuid(Path(str(where["host"])).stat().st_uid).pw_name
    as_user = ["-u", user] if os.geteuid() == 0 else []
    through = make_conninfo(dsn, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([_PROGRAM, *as_user, str(config)], stdout=log, stderr=log, cwd="/")
    try:
        _until_it_answers(process, port, folder / "log")
        yield Pooler(through, process, config)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


def _until_it_answers(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise psycopg.OperationalError(f"PgBouncer does not run: {log.read_text()}") from None
            time.sleep(0.02)
