"""Options of the command line and an empty Postgres, for every benchmark."""

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

#: An option that only the benchmark itself passes, to its own processes.
HIDDEN = argparse.SUPPRESS


def read_options(
    description: str | None,
    wanted: Mapping[str, Any],
    *,
    short: Mapping[str, Any] | None = None,
    argv: Sequence[str] | None = None,
) -> argparse.Namespace:
    """Read the command line.

    `wanted` has the options by name: a default, or a default and its help. A type is an option without a default, and
    a mapping is passed to argparse as it is. `short`: values that --short sets.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, what in wanted.items():
        parser.add_argument(f"--{name}", **_argument(what))
    if short is not None:
        parser.add_argument("--short", action="store_true", help="as `make bench` runs it")
    found = parser.parse_args(argv)
    if short is not None and found.short:
        vars(found).update(short)
    return found


def _argument(what: Any) -> dict[str, Any]:
    if isinstance(what, dict):
        return what
    default, words = what if isinstance(what, tuple) else (what, None)
    if default is False:
        return {"action": "store_true", "help": words}
    if isinstance(default, type):
        return {"type": default, "help": words}
    if isinstance(default, list):
        return {"type": type(default[0]), "nargs": "*", "default": default, "help": words}
    return {"type": type(default), "default": default, "help": words}


@contextmanager
def empty_postgres() -> Iterator[tuple[str, Path]]:
    """DSN of an embedded Postgres, migrated, until the block ends; and the folder in which it is."""
    # Here: what is measured may patch what a driver finds at import (fe/store/postgres).
    from fe.store.postgres.embedded import start_embedded
    from fe.store.postgres.migrate import migrate

    with tempfile.TemporaryDirectory(prefix="fe-bench-", ignore_cleanup_errors=True) as folder:
        dsn = start_embedded(Path(folder) / "postgres", keep=False)
        migrate(dsn)
        yield dsn, Path(folder)
