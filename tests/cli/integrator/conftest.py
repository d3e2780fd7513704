from pathlib import Path

import pytest

from tests.cli.in_process import FeHere


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> FeHere:
    """The command in this process, with a home of the test's own, in English, and no database."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    return FeHere(tmp_path, "", monkeypatch, capsys)


KEY = {"api_key_id": "fak_0123456789ab", "api_secret": "5e" * 32}
