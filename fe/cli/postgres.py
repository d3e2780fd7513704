"""`fe postgres` (hidden): the embedded server as a process of ours, so that it ends with whoever wanted it."""

import atexit
import json
import shutil
import signal
import sys
from pathlib import Path

import click

from fe.store.postgres.embedded import NoEmbeddedServer, start_embedded


@click.command(hidden=True)
@click.argument("folder", type=click.Path(path_type=Path))
def postgres(folder: Path) -> None:
    """Run the embedded Postgres in FOLDER until SIGTERM, then stop it and delete FOLDER with all that is in it."""
    # Before the start, which takes a second: the server is stopped on the way out of this process, however it is told.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # runs after the server's own, which comes later
    try:
        dsn = start_embedded(folder / "postgres", keep=False)
    except NoEmbeddedServer:
        atexit.unregister(shutil.rmtree)  # what went wrong is still to be read there
        raise
    click.echo(json.dumps({"dsn": dsn}))
    while True:
        signal.pause()
