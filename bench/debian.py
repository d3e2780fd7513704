"""Debian's Postgres as a part of a stack, with pg_stat_statements, which the embedded server does not have.

    python -m bench.debian FOLDER      # says where it is in one line of JSON; SIGTERM ends it

The newest that is installed below /usr/lib/postgresql. Statements within functions are counted too.
"""

import json
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import quote

import psycopg

DEBIAN = Path("/usr/lib/postgresql")
#: As whom it runs when we are root, which it refuses to be.
_USER = "postgres"
_PATIENCE = 60.0


def programs() -> Path | None:
    """Where the newest one's programs are; None when there is none."""
    found = [folder for folder in DEBIAN.glob("*/bin") if re.fullmatch(r"\d+", folder.parent.name)]
    return max(found, key=lambda folder: int(folder.parent.name)) if found else None


def main() -> int:
    """Run it until SIGTERM."""
    folder, where = Path(sys.argv[1]), programs()
    if where is None:
        print(f"there is no Postgres of Debian's packages below {DEBIAN}", file=sys.stderr)
        return 1
    data = folder / "postgres"
    data.mkdir(parents=True)
    owner: dict[str, object] = {}
    if os.geteuid() == 0:
        shutil.chown(data, _USER)
        folder.chmod(0o755)
        owner = {"user": _USER, "group": pwd.getpwnam(_USER).pw_gid, "extra_groups": []}
    make = [where / "initdb", "-D", data, "-U", "postgres", "--auth=trust", "--encoding=utf8", "--no-sync"]
    subprocess.run(make, check=True, capture_output=True, cwd=folder, **owner)  # type: ignore[call-overload]  # of options
    settings = {
        "listen_addresses": "",
        "shared_preload_libraries": "pg_stat_statements",
        "pg_stat_statements.track": "all",
        "track_functions": "pl",
    }
    command = [where / "postgres", "-D", data, "-k", data, *(f"--{name}={value}" for name, value in settings.items())]
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder, **owner)  # type: ignore[call-overload]  # of options
    signal.signal(signal.SIGTERM, lambda *_: server.send_signal(signal.SIGINT))
    dsn = f"postgresql://postgres@/postgres?host={quote(str(data), safe='')}"
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            with psycopg.connect(dsn, autocommit=True) as conn:
                conn.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
            break
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > until:
                print(f"it did not come up: {(folder / 'server.log').read_text()}", file=sys.stderr)
                return 1
            time.sleep(0.05)
    print(json.dumps({"dsn": dsn}), flush=True)
    server.wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
