"""Citus cluster for tests, the fault suite and benchmarks, set up as README.md beside this says.

It starts no server. Whoever starts them gives each one the `settings` and the `environment`, and says here where
they are.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

_PATIENCE = 60.0
_HERE = Path(__file__).resolve().parent

_MEMBERS = "SELECT nodename, nodeport FROM pg_dist_node WHERE isactive ORDER BY groupid"


def settings(*, tls: bool = True) -> dict[str, str]:
    """Settings of every server: postgresql.conf, without TLS for servers that have no certificates."""
    told = _told("postgresql.conf")
    if not tls:
        told["citus.node_conninfo"] = told["citus.node_conninfo"].replace("sslmode=require", "sslmode=prefer")
    return told


def environment() -> dict[str, str]:
    """Variables added to the environment of every server."""
    return _told("environment")


def _told(file: str) -> dict[str, str]:
    told: dict[str, str] = {}
    for line in (_HERE / file).read_text(encoding="utf-8").splitlines():
        name, is_setting, value = line.partition("#")[0].partition("=")
        if is_setting:
            told[name.strip()] = value.strip().strip("'")
    return told


@dataclass(frozen=True, slots=True)
class Node:
    """A server: how we reach it, as a superuser, and how the others of its cluster do."""

    dsn: str
    host: str
    port: int

    @classmethod
    def on_this_machine(cls, dsn: str, port: int) -> Self:
        """One that the others reach by the loopback address."""
        return cls(dsn, "127.0.0.1", port)

    def database(self, name: str) -> str:
        """The DSN of one of its databases."""
        return make_conninfo(self.dsn, dbname=name)

    def execute(self, statement: sql.SQL | sql.Composed, values: Sequence[Any] = (), *, database: str = "") -> None:
        """Execute one statement, by itself."""
        with psycopg.connect(self.database(database) if database else self.dsn, autocommit=True) as conn:
            conn.execute(statement, values)


class Cluster:
    """Its nodes, the coordinator first. A database of it is one on each of them, by the same name."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = list(nodes)

    @classmethod
    def at(cls, url: str) -> Self:
        """The cluster that a database of its coordinator tells of; the login reaches every node, as a superuser."""
        with psycopg.connect(url, autocommit=True) as conn:
            members = conn.execute(_MEMBERS).fetchall()
        if not members:
            raise ValueError("the database is not that of a coordinator: pg_dist_node has no node in it")
        first = Node(url, members[0][0], int(conninfo_to_dict(url).get("port") or 5432))
        return cls([first, *(Node(make_conninfo(url, host=host, port=port), host, port) for host, port in members[1:])])

    @property
    def coordinator(self) -> Node:
        """The node that the service connects to."""
        return self.nodes[0]

    def make_database(self, name: str, *, shards: int, members: int | None = None) -> None:
        """Make an empty database on every node, or on the first `members`, and join them to a cluster."""
        first, *others = self.nodes[:members]
        for node in self.nodes:
            node.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
            node.execute(sql.SQL("CREATE EXTENSION citus"), database=name)
        first.execute(sql.SQL("SELECT citus_set_coordinator_host(%s, %s)"), [first.host, first.port], database=name)
        for node in others:
            first.execute(sql.SQL("SELECT citus_add_node(%s, %s)"), [node.host, node.port], database=name)
        many = sql.SQL("ALTER DATABASE {} SET citus.shard_count = {}")
        first.execute(many.format(sql.Identifier(name), sql.Literal(shards)))

    def set_up_roles(self, name: str) -> None:
        """Do to the roles what roles.sql says, once a database was migrated."""
        with psycopg.connect(self.coordinator.database(name), autocommit=True) as conn:
            for statement in (_HERE / "roles.sql").read_text(encoding="utf-8").split(";\n"):
                if statement.strip():
                    conn.execute(statement.encode())

    def leave(self, name: str) -> None:
        """End what works in a database by itself (Citus's own daemon): a database in use is not copied."""
        for node in self.nodes:
            _leave(node, name)

    def copy_database(self, name: str, template: str) -> None:
        """Copy a database that was left, on every node."""
        copy = sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY")
        for node in self.nodes:
            node.execute(copy.format(sql.Identifier(name), sql.Identifier(template)))

    def drop_database(self, name: str) -> None:
        """Drop a database on every node, ending its sessions. Raises psycopg.errors.ObjectInUse after a minute."""
        for node in self.nodes:
            until = time.monotonic() + _PATIENCE
            while True:
                _leave(node, name)
                try:
                    node.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))
                    break
                except psycopg.errors.ObjectInUse:  # FORCE leaves Citus's own daemon alone, which may just be starting
                    if time.monotonic() > until:
                        raise


def _leave(node: Node, name: str) -> None:
    with psycopg.connect(node.dsn, autocommit=True) as conn:
        conn.execute("UPDATE pg_database SET datallowconn = false WHERE datname = %s", (name,))  # if it is there
        conn.execute("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s", (name,))
