"""Run the `fe` command as a process of its own, the way an operator does, but for what Python takes to start."""

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests import citus
from tests.cli.warm import warm_fe

#: Default environment of every command in these tests. The secrets are worth nothing.
SECRETS = {
    "FE_API_KEY_PEPPER": "1a" + "11" * 31,
    "FE_KEK": f"test:2a{'22' * 31}",
    "FE_JWT_KEYS": f"test:3a{'33' * 31}",
    # The login of the tests is a superuser; tests of logins say otherwise.
    "FE_DATABASE_SHARED_LOGIN": "1",
}


def environment(**settings: str) -> dict[str, str]:
    """The environment of a command: this process's without its FE_*, the secrets, and `settings` without their FE_.

    A setting that is empty is not set at all. Beside a simulated authority it is development, and all hosts are there.
    """
    simulated = settings.get("authority_ecf_url", "")
    if simulated.startswith("http://"):
        hosts = {f"authority_{host}_url": simulated for host in ("ecf", "fc", "status")}
        settings = {"development": "1", **hosts, **settings}
    plain = {name: value for name, value in os.environ.items() if not name.startswith("FE_")}
    engine = {"FE_DATABASE_ENGINE": "citus"} if citus.wanted() else {}
    told = SECRETS | engine | {f"FE_{name.upper()}": value for name, value in settings.items()}
    return plain | {name: value for name, value in told.items() if value}


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self
        return json.loads(self.out)


class Fe:
    """The command with a database of the test's own."""

    def __init__(self, folder: Path, dsn: str) -> None:
        self.folder = folder
        self.dsn = dsn

    def __call__(self, *args: str, typed: str = "", **settings: str) -> Ended:
        """Run `fe ARGS`; `typed` is its standard input, `settings` are FE_* variables in lower case."""
        told = {"database_url": self.dsn, "data_dir": str(self.folder)} | settings
        ended = subprocess.run(
            [warm_fe(), *args],
            input=typed,
            capture_output=True,
            text=True,
            env=environment(**told),
            cwd=self.folder,
            timeout=300,
        )
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    def refused(self, *args: str, code: int = 1, typed: str = "", **settings: str) -> str:
        """Run a command that must fail with `code`, one line on stderr and nothing else; return that line."""
        ended = self(*args, typed=typed, **settings)
        assert ended.code == code, ended
        assert ended.out == ""
        assert ended.err.startswith("fe: ")
        assert ended.err.count("\n") == 1, ended.err
        return ended.err.removeprefix("fe: ").strip()
