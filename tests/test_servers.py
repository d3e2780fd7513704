"""Which Postgres the tests run on."""

import atexit
import shutil
import tempfile
from pathlib import Path

import psycopg
import pytest

from tests.servers import NoServer, chosen, start_server


def test_without_a_wish_it_is_the_embedded_one() -> None:
    assert chosen({}) is None
    assert chosen({"FE_TEST_POSTGRES": "embedded"}) is None


def test_debians_newest_is_taken_by_its_number(tmp_path: Path) -> None:
    for version in ("9", "15", "common"):
        (tmp_path / version / "bin").mkdir(parents=True)

    assert chosen({"FE_TEST_POSTGRES": "debian"}, tmp_path) == tmp_path / "15" / "bin"


def test_what_is_not_there_is_an_error_and_never_another_server(tmp_path: Path) -> None:
    with pytest.raises(NoServer, match="no Postgres of Debian's packages"):
        chosen({"FE_TEST_POSTGRES": "debian"}, tmp_path)
    with pytest.raises(NoServer, match="no initdb"):
        chosen({"FE_TEST_POSTGRES": str(tmp_path)})


def test_a_server_of_debians_runs_for_as_long_as_we_do(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        programs = chosen({"FE_TEST_POSTGRES": "debian"})
    except NoServer as nothing:
        pytest.skip(str(nothing))
    assert programs is not None
    monkeypatch.setenv("FE_TEST_POSTGRES", str(programs))
    folder = Path(tempfile.mkdtemp(prefix="fe-tests-"))  # not below pytest's own, see tests/conftest.py
    atexit.register(shutil.rmtree, folder, ignore_errors=True)

    with psycopg.connect(start_server(folder)) as conn:
        found = conn.execute("SHOW server_version_num").fetchone()

    assert found is not None
    assert int(found[0]) // 10_000 == int(programs.parent.name)
