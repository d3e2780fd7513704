"""A database that a test left is lent again as the template is, or dropped (tests/databases.py)."""

from contextlib import ExitStack, closing

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from tests import citus
from tests.databases import Databases

pytestmark = pytest.mark.skipif(citus.wanted(), reason="on a cluster each test has a copy")

_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
_NEXT = "SELECT sequencename, last_value FROM pg_sequences ORDER BY 1"


def contents(dsn: str) -> dict[str, object]:
    """Return the rows of each table and the state of each sequence."""
    with psycopg.connect(dsn) as conn:
        tables = [name for (name,) in conn.execute(_TABLES).fetchall()]
        rows = {
            name: conn.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(name))).fetchall() for name in tables
        }
        return {**rows, "sequences": conn.execute(_NEXT).fetchall()}


def _oid(dsn: str) -> object:
    with psycopg.connect(dsn) as conn:
        return conn.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchone()


def test_database_with_rows_written_is_lent_again_as_the_template(postgres: str, template: str) -> None:
    with closing(Databases(postgres, template)) as databases, ExitStack() as ended:
        with databases.lent() as first:
            before, oid = contents(first), _oid(first)
            left_open = ended.enter_context(closing(psycopg.connect(first, autocommit=True)))
            left_open.execute("INSERT INTO tenants (name, issuer) VALUES ('one', '{}')")
            left_open.execute("DELETE FROM second_person")
            assert contents(first) != before
        with databases.lent() as second:
            assert conninfo_to_dict(second) != conninfo_to_dict(first)
            assert (contents(second), _oid(second)) == (before, oid)
            with pytest.raises(psycopg.OperationalError):
                left_open.execute("SELECT 1")


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TABLE more (number int)",
        "GRANT SELECT ON tenants TO fe_front",
        "ANALYZE tenants",
        "TRUNCATE tenants CASCADE",
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET work_mem = 64', current_database()); END $$",
    ],
)
def test_database_with_more_than_rows_changed_is_not_lent_again(postgres: str, template: str, change: str) -> None:
    with closing(Databases(postgres, template)) as databases:
        with databases.lent() as first, psycopg.connect(first, autocommit=True) as conn:
            oid = _oid(first)
            conn.execute("INSERT INTO tenants (name, issuer) VALUES ('one', '{}')")
            conn.execute(change)
        with databases.lent() as second:
            assert _oid(second) != oid
