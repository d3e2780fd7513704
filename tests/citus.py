"""The Citus cluster that tests run on: a coordinator and two workers, which end with the test run, or another.

FE_TEST_CITUS names the folder of a Postgres's programs that has the extension installed; FE_TEST_CITUS_URL a database
on the coordinator of a cluster that is there, with a superuser's login that every node of it lets in (`make citus`).
Every database of the tests is one on each of the nodes, by the same name.
"""

import inspect
import os
import subprocess
from pathlib import Path
from typing import Any

from fe.store.engines import engine_named
from fe.store.postgres.db import open_database
from fe.store.postgres.engine import POSTGRES, Engine
from fe.store.postgres.migrate import migrate, verify
from ops.citus.cluster import Cluster, Node, environment, settings
from tests.ports import free_port
from tests.servers import start

#: How many of a tenant's tables there are on the cluster: few, since a test's database is a copy of all of them.
SHARDS = 4

#: Servers that share a machine with everything else, and hold nothing that has to outlive it.
FRUGAL = {"fsync": "off", "shared_buffers": "64MB"}

#: Tests make what they write fail by triggers of their own, on tables that are spread over the nodes too.
TRIGGERS = {"citus.enable_unsafe_triggers": "on"}


def programs() -> Path | None:
    """Where the programs are that were asked for; None where no cluster of our own is."""
    told = os.environ.get("FE_TEST_CITUS")
    return Path(told) if told else None


def url() -> str | None:
    """A database of the coordinator that was named; None where none was."""
    return os.environ.get("FE_TEST_CITUS_URL") or None


def wanted() -> bool:
    """Whether the tests run on Citus."""
    return programs() is not None or url() is not None


def engine() -> Engine:
    """The engine that the tests run on."""
    return engine_named("citus") if wanted() else POSTGRES


def speak_citus() -> None:
    """Have everything of ours that opens a database without naming its engine take it for Citus.

    The tests of this folder say nothing of engines: what they show has to hold on each.
    """
    for function in (open_database, migrate, verify):
        defaults: dict[str, Any] = inspect.unwrap(function).__kwdefaults__
        defaults["engine"] = engine_named("citus")
    os.environ["FE_DATABASE_ENGINE"] = "citus"  # for services that tests run within themselves


def start_cluster(folder: Path, binaries: Path, *, workers: int = 2, **more: str) -> Cluster:
    """Start a coordinator and workers, with further settings; they end with this process.

    Node n has its data in FOLDER/node<n>/data, and its log beside.
    """
    nodes: list[Node] = []
    folder.chmod(0o755)  # as root, the servers run as another user
    told = {**settings(tls=False), **FRUGAL, **TRIGGERS, "listen_addresses": "127.0.0.1", **more}
    known = subprocess.run(
        [binaries / "postgres", "--describe-config"], check=True, capture_output=True, text=True
    ).stdout
    if "output_plugin_libraries" not in known:
        del told["output_plugin_libraries"]
    options = [part for name, value in told.items() for part in ("-c", f"{name}={value}")]
    for nth in range(workers + 1):
        own, port = folder / f"node{nth}", free_port()
        own.mkdir()
        own.chmod(0o755)
        nodes.append(Node.on_this_machine(start(binaries, own, *options, port=port, environment=environment()), port))
    return Cluster(nodes)
