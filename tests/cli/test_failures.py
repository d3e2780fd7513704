"""Every error that can end a command becomes one line on stderr and an exit code, never a traceback."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import click
import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from fe.cli.failures import KNOWN_LATER, guarded
from fe.ecf.texts import LocalizedError, Text
from fe.store.postgres.errors import DatabaseUnavailable
from tests.cli.running import Fe, environment


def test_a_database_that_cannot_be_reached_is_code_4(fe: Fe) -> None:
    told = fe.refused("tenant", "list", code=4, database_url="postgresql://127.0.0.1:1/none")

    assert told.startswith("the database cannot be reached: ")
    assert "refused" in told


def test_a_database_that_does_not_exist_is_code_4(fe: Fe) -> None:
    told = fe.refused("tenant", "list", code=4, database_url=make_conninfo(fe.dsn, dbname="none"))

    assert 'database "none" does not exist' in told


def test_a_wrong_address_of_the_database_is_code_3_and_is_not_echoed(fe: Fe) -> None:
    told = fe.refused("tenant", "list", code=3, database_url="host=db password=hunter2 nonsense")

    assert told.startswith("FE_DATABASE_URL: ")
    assert "hunter2" not in told


def test_a_setting_that_is_wrong_is_code_3_and_is_named(fe: Fe) -> None:
    assert fe.refused("tenant", "list", code=3, sign_slots="many").startswith("FE_SIGN_SLOTS: ")


def test_secrets_in_settings_are_not_echoed(fe: Fe) -> None:
    told = fe.refused("tenant", "list", code=3, kek="hunter2")

    assert told.startswith("FE_KEK: ")
    assert "hunter2" not in told


def test_a_database_without_the_tables_is_code_1_and_says_what_to_do(fe: Fe, postgres: str) -> None:
    name = f"{conninfo_to_dict(fe.dsn)['dbname']}_empty"
    with psycopg.connect(postgres, autocommit=True) as conn:
        conn.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            empty = make_conninfo(postgres, dbname=name)
            assert "run `fe migrate`" in fe.refused("tenant", "list", database_url=empty)

            assert fe("migrate", database_url=empty).out.startswith("applied 0001_")
            assert fe("migrate", database_url=empty).out == "the database is up to date\n"
            assert fe("tenant", "list", "--json", database_url=empty).json == []
        finally:
            conn.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def test_a_wrong_command_line_is_code_2_and_points_to_help(fe: Fe) -> None:
    assert fe.refused("tenants", code=2) == "No such command 'tenants'. (see `fe --help`)"
    assert "see `fe key create --help`" in fe.refused("key", "create", code=2)


def test_an_authority_that_cannot_be_reached_is_code_5(fe: Fe) -> None:
    told = fe.refused("authority", "ping", "--environment", "testecf", code=5, authority_ecf_url="http://127.0.0.1:1")

    assert told.startswith("http://127.0.0.1:1 (testecf): cannot connect")


def test_an_address_of_the_authority_that_is_none_is_refused(fe: Fe) -> None:
    told = fe.refused("authority", "ping", "--environment", "testecf", code=3, authority_ecf_url="ftp://x")

    assert "FE_AUTHORITY_" in told


def test_a_reader_that_leaves_early_is_told_nothing() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "fe", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    process.stdout.close()
    _, said = process.communicate(timeout=120)

    assert process.returncode == 1
    assert said == b""


def test_an_error_inside_groups_is_told_like_itself(capsys: pytest.CaptureFixture[str]) -> None:
    @click.command()
    def failing() -> None:
        raise ExceptionGroup("", [ExceptionGroup("", [DatabaseUnavailable("gone")])])

    assert guarded(failing, []) == 4
    assert capsys.readouterr().err == "fe: the database cannot be reached: gone\n"


def test_an_interrupt_ends_with_the_code_shells_give_it() -> None:
    @click.command()
    def interrupted() -> None:
        raise BaseExceptionGroup("", [KeyboardInterrupt()])

    assert guarded(interrupted, []) == 130


def _mismatched(folder: Path) -> dict[str, str]:
    """An environment in which `import xmlsec` finds a module that behaves like one built for another libxml2."""
    (folder / "xmlsec.py").write_text(
        "class InternalError(Exception):\n    pass\n\n"
        "raise InternalError((-1, 'lxml & xmlsec libxml2 library version mismatch'))\n"
    )
    return environment() | {"PYTHONPATH": os.pathsep.join([str(folder), str(Path(__file__).parents[2])])}


def test_libraries_that_do_not_fit_together_are_code_3_before_anything_else(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "fe", "tenant", "list"],
        capture_output=True,
        text=True,
        env=_mismatched(tmp_path),
        timeout=300,
    )

    assert ended.returncode == 3
    assert "xmlsec cannot work with the libxml2" in ended.stderr
    assert "pip install" in ended.stderr
    assert ended.stderr.count("\n") == 1


def test_an_error_nobody_thought_of_is_one_line_and_its_place_is_shown_on_demand(tmp_path: Path) -> None:
    (tmp_path / "xmlsec.py").write_text("raise RuntimeError('boom')\n")
    env = _mismatched(tmp_path)
    (tmp_path / "xmlsec.py").write_text("raise RuntimeError('boom')\n")

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "fe", *args], capture_output=True, text=True, env=env, timeout=300)

    short, long = run("tenant", "list"), run("--debug", "tenant", "list")

    assert (short.returncode, long.returncode) == (1, 1)
    assert short.stderr == "fe: unexpected RuntimeError: boom (`fe --debug ...` shows where)\n"
    assert "Traceback" in long.stderr


@pytest.mark.parametrize(("module", "name", "code"), KNOWN_LATER)
def test_an_error_that_is_known_by_its_name_goes_by_that_name(module: str, name: str, code: int) -> None:
    kind = getattr(importlib.import_module(module), name)

    @click.command()
    def command() -> None:
        error = kind.__new__(kind)
        if isinstance(error, LocalizedError):
            LocalizedError.__init__(error, Text("no", "no"))
        raise error

    assert guarded(command, []) == code
