"""Engines: a process on plain Postgres works without the room of Citus."""

import subprocess
import sys

from fe.store.engines import engine_named
from fe.store.postgres.engine import POSTGRES

#: Imports everything that a service runs, and reads the names of what came along.
_IMPORTS = """
import sys
import fe.main, fe.cli, fe.actors.run, fe.operations.doctor.database
from fe.store.engines import engine_named
engine_named("postgres")
print(*(name for name in sys.modules if name.startswith("fe.store.citus")))
"""


def test_process_on_plain_postgres_loads_nothing_of_citus() -> None:
    ended = subprocess.run([sys.executable, "-c", _IMPORTS], capture_output=True, text=True, check=True)

    assert ended.stdout.strip() == ""


def test_engines_are_found_by_their_names() -> None:
    citus = engine_named("citus")

    assert engine_named("postgres") is POSTGRES
    assert (citus.name, citus.nodes is not None, "outbox" in citus.distributed) == ("citus", True, True)
