"""plpgsql_check over every PL/pgSQL function of the schema, on Debian's Postgres.

It reads what the server reads only when a statement runs: columns and variables that do not exist, a variable that
hides another, a value that does not fit.
"""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from fe.store.postgres.migrate import migrate
from tests import servers

#: Findings that are no faults, by function and by a part of the message: why.
ALLOWED = {
    ("claim_due", 'local variable "claims" initialization'): "the literal '{}' has no type before it is assigned",
    ("accept_submissions", 'local variable "firsts" initialization'): "the same",
    ("take_returned_number", "control reached end of function"): "a LOOP without an end: only RETURN leaves it",
    ("first_free_number", "control reached end of function"): "a LOOP without an end: only RETURN leaves it",
}

_FINDINGS = """
    SELECT p.proname, concat_ws('; ', f.level, 'line ' || f.lineno, f.message, f.detail, f.query, f.context)
      FROM pg_proc AS p
      JOIN pg_language AS l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
      LEFT JOIN pg_trigger AS t ON t.tgfoid = p.oid
     CROSS JOIN LATERAL plpgsql_check_function_tb(
               p.oid, relid => coalesce(t.tgrelid, 0), oldtable => t.tgoldtable, newtable => t.tgnewtable,
               performance_warnings => false) AS f
     WHERE p.pronamespace = 'public'::regnamespace
"""


@pytest.fixture(scope="module")
def checked() -> Iterator[psycopg.Connection]:
    """A migrated database on Debian's Postgres, with the checker."""
    try:
        programs = servers.chosen({"FE_TEST_POSTGRES": "debian"})
    except servers.NoServer as none:
        pytest.skip(f"NOT PROVED HERE: {none}")
    assert programs is not None
    control = Path("/usr/share/postgresql") / programs.parent.name / "extension" / "plpgsql_check.control"
    if not control.is_file():
        pytest.skip(f"NOT PROVED HERE: plpgsql_check is absent (looked for {control})")
    folder = Path(tempfile.mkdtemp(prefix="fe-checked-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # runs after the server's own, which comes later
    dsn = servers.start(programs, folder)
    migrate(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE EXTENSION plpgsql_check")
        yield conn


def findings(conn: psycopg.Connection) -> list[tuple[str, str]]:
    return conn.execute(_FINDINGS).fetchall()


def test_every_function_of_the_schema_passes_the_checker(checked: psycopg.Connection) -> None:
    found = findings(checked)

    seen = {known for known in ALLOWED if any(known[0] == name and known[1] in text for name, text in found)}
    assert [each for each in found if not any(each[0] == name and part in each[1] for name, part in seen)] == []
    assert seen == ALLOWED.keys(), "an exception that no function needs any more"


def test_function_whose_output_column_hides_found_is_reported(checked: psycopg.Connection) -> None:
    with checked.transaction(force_rollback=True):
        checked.execute(
            "CREATE FUNCTION counts() RETURNS TABLE (found int) LANGUAGE plpgsql AS"
            " $$ BEGIN found := 2; RETURN NEXT; END $$"
        )

        assert {name for name, text in findings(checked) if "found" in text} == {"counts"}
