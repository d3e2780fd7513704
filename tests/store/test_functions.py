"""Functions of the database: applied when they change, all at once, with the grants of their files."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from fe.store.postgres import functions
from fe.store.postgres.db import Database
from fe.store.postgres.functions import FunctionSet, function_set
from fe.store.postgres.roles import FRONT, PORTAL
from tests.store.race import plain

ONE = """CREATE OR REPLACE FUNCTION one() RETURNS int LANGUAGE sql IMMUTABLE RETURN {};
GRANT EXECUTE ON FUNCTION one TO {};
"""
TWICE = "CREATE OR REPLACE FUNCTION also_one() RETURNS int LANGUAGE sql IMMUTABLE RETURN one();\n"

Write = Callable[..., FunctionSet]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write function files and return the set."""

    def write(migration: int = 1, **texts: str) -> FunctionSet:
        (tmp_path / "subject").mkdir(exist_ok=True)
        for name, text in texts.items():
            (tmp_path / "subject" / f"{name}.sql").write_text(text)
        return function_set(migration, tmp_path)

    return write


def apply(dsn: str, wanted: FunctionSet) -> list[str]:
    with plain(dsn) as conn, conn.transaction():
        return [file.name for file in functions.apply(conn, wanted)]


def called(dsn: str, name: str) -> object:
    with plain(dsn) as conn:
        (answer,) = conn.execute(f"SELECT {name}()".encode()).fetchone() or (None,)
    return answer


def may_call(dsn: str, role: str) -> bool:
    with plain(dsn) as conn:
        return conn.execute("SELECT has_function_privilege(%s, 'one()', 'EXECUTE')", (role,)).fetchone() == (True,)


def test_only_changed_files_are_applied(dsn: str, write: Write) -> None:
    assert set(apply(dsn, write(one=ONE.format(1, FRONT), also_one=TWICE))) == {"one", "also_one"}
    assert apply(dsn, write()) == []

    assert apply(dsn, write(one=ONE.format(2, FRONT))) == ["one"]
    assert called(dsn, "one") == called(dsn, "also_one") == 2


def test_grants_are_those_of_the_file_and_no_former_ones(dsn: str, write: Write) -> None:
    apply(dsn, write(one=ONE.format(1, FRONT)))
    assert (may_call(dsn, FRONT), may_call(dsn, PORTAL)) == (True, False)

    apply(dsn, write(one=ONE.format(1, PORTAL)))
    assert (may_call(dsn, FRONT), may_call(dsn, PORTAL)) == (False, True)


def test_set_that_fails_leaves_every_function_as_it_was(dsn: str, write: Write) -> None:
    apply(dsn, write(one=ONE.format(1, FRONT)))

    with pytest.raises(psycopg.errors.UndefinedFunction):
        apply(dsn, write(one=ONE.format(2, FRONT), other=TWICE.replace("RETURN one", "RETURN not_there")))

    assert called(dsn, "one") == 1


def test_older_release_leaves_functions_of_newer_one_in_place(dsn: str, write: Write) -> None:
    older = write(one=ONE.format(1, FRONT))
    apply(dsn, older)
    apply(dsn, write(one=ONE.format(2, FRONT)))

    assert apply(dsn, older) == []
    assert called(dsn, "one") == 2


def test_former_functions_come_back_with_a_migration(dsn: str, write: Write) -> None:
    apply(dsn, write(one=ONE.format(1, FRONT)))
    apply(dsn, write(one=ONE.format(2, FRONT)))

    assert apply(dsn, write(migration=2, one=ONE.format(1, FRONT))) == ["one"]
    assert called(dsn, "one") == 1


async def test_process_sees_whether_its_set_was_applied(dsn: str, db: Database, write: Write) -> None:
    wanted = write(one=ONE.format(1, FRONT))
    assert not await db.run(functions.are_applied, wanted)

    apply(dsn, wanted)
    assert await db.run(functions.are_applied, wanted)


def test_each_file_is_one_function_of_its_name_and_its_grants() -> None:
    for file in function_set(0).files:
        assert file.text.count("CREATE OR REPLACE FUNCTION ") == 1, file.path
        assert f"CREATE OR REPLACE FUNCTION {file.name}(" in file.text, file.path
        granted = [line for line in file.text.splitlines() if line.startswith("GRANT ")]
        assert all(line.startswith(f"GRANT EXECUTE ON FUNCTION {file.name} TO ") for line in granted), file.path


def test_every_function_of_the_schema_has_a_file(shared_dsn: str) -> None:
    with plain(shared_dsn) as conn:
        found = conn.execute("SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace").fetchall()

    assert {name for (name,) in found} == {file.name for file in function_set(0).files}
