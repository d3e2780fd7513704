"""`fe postgres` (hidden): run the embedded server in a process that ends with its parent."""

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
    # Before the start, which takes a second: the exit of this process stops the server.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # runs after the server's own, which comes later
    try:
        dsn = start_embedded(folder / "postgres", keep=False)
    except NoEmbeddedServer:
        atexit.unregister(shutil.rmtree)  # keep the folder: its log explains the error
        raise
    click.echo(json.dumps({"dsn": dsn}))
    while True:
        signal.pause()
