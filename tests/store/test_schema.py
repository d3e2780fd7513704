"""The schema: sql/schema.sql is current, and a database of the former migrations goes on as one of the baseline."""

import gzip
from pathlib import Path

import psycopg
import pytest

from fe.store.postgres.migrate import BASELINE, MigrationError, migrate, migrations, pending_names, verify
from tests.store import catalogue
from tests.store.race import plain

#: A dump of a database that migrations 0001 to 0062 made, before the baseline took their place.
FORMER = Path(__file__).with_name("former_schema.sql.gz")


@pytest.fixture
def former(empty: str) -> str:
    """DSN of a database as the former migrations left it."""
    with plain(empty) as conn:
        result = conn.pgconn.exec_(gzip.decompress(FORMER.read_bytes()))
        assert result.status == psycopg.pq.ExecStatus.COMMAND_OK or not result.error_message, result.error_message
    return empty


def test_schema_page_is_current(shared_dsn: str) -> None:
    with plain(shared_dsn) as conn:
        made = catalogue.at_a_glance(conn)

    assert catalogue.PAGE.read_text(encoding="utf-8") == made, "run `python -m tests.store.catalogue`"


def test_database_of_former_migrations_becomes_what_the_baseline_makes(former: str, shared_dsn: str) -> None:
    with plain(former) as conn:
        before = conn.execute("SELECT number, digest, works_from FROM applied_migrations ORDER BY number").fetchall()
    later = [file.name for file in migrations() if file.number > BASELINE]

    assert pending_names(former) == [*later, "functions"]
    assert migrate(former) == [*later, "functions"]

    with plain(former) as conn, plain(shared_dsn) as other:
        assert catalogue.objects(conn) == catalogue.objects(other)
        after = conn.execute("SELECT number, digest, works_from FROM applied_migrations ORDER BY number").fetchall()
    assert after[: len(before)] == before  # the release before finds its own record
    verify(former)
    assert migrate(former) == []


def test_database_older_than_the_baseline_is_told_what_to_run(former: str) -> None:
    with plain(former) as conn:
        conn.execute("DELETE FROM applied_migrations WHERE number > 58")

    for act in (migrate, verify):
        with pytest.raises(MigrationError, match=r"at migration 0058, .* run `fe migrate` of commit \w+ first"):
            act(former)
