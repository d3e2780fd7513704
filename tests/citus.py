"""A Citus cluster for tests: a coordinator and two workers, each a server of its own, which end with the test run.

FE_TEST_CITUS names the folder of a Postgres's programs that has the extension installed (`make citus`). Every database
of the tests is one on each of the three, by the same name.
"""

import inspect
import os
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from fe.store.postgres.db import open_database
from fe.store.postgres.engine import CITUS
from fe.store.postgres.migrate import migrate, verify
from tests.ports import free_port
from tests.servers import start

ROOT = Path(__file__).resolve().parent.parent

#: How many of a tenant's tables there are on the cluster: few, since a test's database is a copy of all of them.
_SHARDS = 4


def programs() -> Path | None:
    """Where the programs are that were asked for; None where the tests run on plain Postgres."""
    told = os.environ.get("FE_TEST_CITUS")
    return Path(told) if told else None


def speak_citus() -> None:
    """Have everything of ours that opens a database without naming its engine take it for Citus.

    The tests of this folder say nothing of engines: what they show has to hold on each.
    """
    for function in (open_database, migrate, verify):
        defaults: dict[str, Any] = inspect.unwrap(function).__kwdefaults__
        defaults["engine"] = CITUS


class Cluster:
    """The nodes, the coordinator first."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        settings = _settings()
        self.nodes: list[str] = []
        self.ports = [free_port() for _ in range(3)]
        for nth, port in enumerate(self.ports):
            own = folder / f"node{nth}"
            own.mkdir()
            own.chmod(0o755)
            self.nodes.append(start(binaries, own, *settings, "-c", "listen_addresses=127.0.0.1", port=port))

    def make_database(self, name: str) -> None:
        """Make an empty database of this name on every node, and one cluster of them."""
        for node in self.nodes:
            _execute(node, sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
            _execute(make_conninfo(node, dbname=name), sql.SQL("CREATE EXTENSION citus"))
        coordinator = make_conninfo(self.nodes[0], dbname=name)
        _execute(coordinator, sql.SQL("SELECT citus_set_coordinator_host('127.0.0.1', {})").format(self.ports[0]))
        for port in self.ports[1:]:
            _execute(coordinator, sql.SQL("SELECT citus_add_node('127.0.0.1', {})").format(port))

    def set_up_roles(self, name: str) -> None:
        """Do to the roles what the instructions say."""
        text = (ROOT / "ops" / "citus" / "roles.sql").read_text(encoding="utf-8")
        for statement in text.split(";\n"):
            if statement.strip():
                _execute(make_conninfo(self.nodes[0], dbname=name), statement.encode())

    def leave(self, name: str) -> None:
        """End what works in a database by itself (Citus's own daemon): a database in use is not copied."""
        for node in self.nodes:
            with psycopg.connect(node, autocommit=True) as conn:
                conn.execute(sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS false").format(sql.Identifier(name)))
                conn.execute(
                    "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s", (name,)
                )

    def copy_database(self, name: str, template: str) -> None:
        """Copy a database that was left, on every node."""
        for node in self.nodes:
            copy = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
            _execute(node, copy.format(sql.Identifier(name), sql.Identifier(template)))

    def drop_database(self, name: str) -> None:
        """Drop a database on every node."""
        for node in self.nodes:
            _execute(node, sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def _settings() -> list[str]:
    told: list[str] = []
    for line in (ROOT / "ops" / "citus" / "postgresql.conf").read_text(encoding="utf-8").splitlines():
        line = line.partition("#")[0].strip()
        if line:
            name, _, value = (part.strip() for part in line.partition("="))
            told += ["-c", f"{name}={value.strip(chr(39))}"]
    # A test's database is a copy of some hundred shards, and three servers share a machine with everything else.
    return [*told, "-c", f"citus.shard_count={_SHARDS}", "-c", "fsync=off", "-c", "shared_buffers=64MB"]


def _execute(dsn: str, statement: bytes | sql.SQL | sql.Composed) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute(statement)
