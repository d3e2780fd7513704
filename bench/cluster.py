"""A Citus cluster as a part of a stack: a coordinator and workers on this machine.

    python -m bench.cluster --programs FOLDER --workers N FOLDER     # says where it is; SIGTERM ends it

One line of JSON: the DSN of an empty database `fe` on the coordinator, and the process of each server by its name.
"""

import argparse
import json
import signal
import sys
import threading
from pathlib import Path

from tests.citus import start_cluster

#: Waits for its disk as the server of plain Postgres does; and room for the shards of one table beside another.
_SETTINGS = {"fsync": "on", "shared_buffers": "128MB"}


def main() -> int:
    """Run it until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, help="of a Postgres that has Citus installed")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    over = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: over.set())
    cluster = start_cluster(arguments.folder, arguments.programs, workers=arguments.workers, **_SETTINGS)
    cluster.make_database("fe", shards=arguments.shards)
    names = ["coordinator", *(f"worker {nth + 1}" for nth in range(arguments.workers))]
    servers = {name: _pid(arguments.folder / f"node{nth}" / "data") for nth, name in enumerate(names)}
    print(json.dumps({"dsn": cluster.coordinator.database("fe"), "servers": servers}), flush=True)
    over.wait()
    return 0  # the servers end with us (tests/servers.py)


def _pid(data: Path) -> int:
    return int((data / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0])


if __name__ == "__main__":
    sys.exit(main())
