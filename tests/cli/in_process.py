"""Run commands within the process of the tests: what takes a process of its own half a second is a few milliseconds."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fe.cli import cli
from fe.cli.failures import guarded
from tests.cli.running import Ended, environment
from tests.logs import log_as_found


@dataclass(frozen=True)
class FeHere:
    """The command, with a database of the test's own; `settings` are FE_* variables in lower case."""

    folder: Path
    dsn: str
    monkeypatch: pytest.MonkeyPatch
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *args: str, **settings: str) -> Ended:
        told = environment(**{"database_url": self.dsn, "data_dir": str(self.folder)} | settings)
        with self.monkeypatch.context() as patched:
            for name in [name for name in os.environ if name.startswith("FE_")]:
                patched.delenv(name)
            for name, value in told.items():
                if name.startswith("FE_"):
                    patched.setenv(name, value)
            patched.chdir(self.folder)
            self.capsys.readouterr()
            with log_as_found():  # a command sets up the log of its process, and this is not its
                try:
                    code = guarded(cli, list(args))
                except SystemExit as ended:
                    code = int(ended.code or 0)
            said = self.capsys.readouterr()
        return Ended(code, said.out, said.err)

    def json(self, *args: str, **settings: str) -> Any:
        """Run a command with --json that has to end well; its answer."""
        ended = self(*args, "--json", **settings)
        assert ended.code == 0, ended
        assert ended.out.count("\n") == 1, "one line"
        return json.loads(ended.out)

    def refused(self, *args: str, code: int = 1, **settings: str) -> str:
        """Run a command that has to fail so; the line it says."""
        ended = self(*args, **settings)
        assert ended.code == code, ended
        assert ended.out == ""
        return ended.err.removeprefix("fe: ").strip()
