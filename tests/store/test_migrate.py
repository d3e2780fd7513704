"""Migrations: once each, however many start at once; and a message where files and database disagree."""

import inspect
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest
import trio
from hypothesis import given
from hypothesis import strategies as st
from psycopg.conninfo import make_conninfo

from fe.actors.partition_maintenance import ensure_month
from fe.store.postgres import functions as store_functions
from fe.store.postgres import migrate as module
from fe.store.postgres import readiness
from fe.store.postgres.db import Conn, open_database
from fe.store.postgres.errors import DatabaseUnavailable, LockNotHad
from fe.store.postgres.functions import FunctionSet, function_set
from fe.store.postgres.migrate import (
    LOCK_PATIENCE,
    LockPatience,
    MigrationError,
    coming_months,
    migrate,
    migrations,
    verify,
)
from tests import citus
from tests.store.race import plain
from tests.waiting import until

NOW = datetime(2026, 11, 6, 12, tzinfo=UTC)
ONE = "-- A comment; with a semicolon.\nCREATE TABLE a (n int);\n\nCREATE TABLE b (t text DEFAULT 'x;y');\n"
TWO = """
CREATE FUNCTION double(n int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    twice int := n * 2; -- inside;
BEGIN
    IF n IS NULL THEN
        RETURN 0;
    END IF;
    RETURN twice;
END
$$;
-- The end of the file is a comment.
"""


Write = Callable[..., None]


async def always(conn: Conn, functions: FunctionSet) -> bool:
    """Functions are what test_functions.py is about."""
    return True


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes migrations of our own in place of the real ones; the months are left out."""

    def write(**texts: str) -> None:
        for path in tmp_path.glob("*.sql"):
            path.unlink()
        for name, text in texts.items():
            (tmp_path / f"{name.removeprefix('m')}.sql").write_text(text)

    monkeypatch.setattr(module, "migrations", lambda: migrations(tmp_path))
    monkeypatch.setattr(module, "functions_of", lambda files: function_set(0, tmp_path / "functions"))
    monkeypatch.setattr(store_functions, "are_applied_blocking", lambda conn, functions: True)
    monkeypatch.setattr(readiness, "are_applied", always)
    monkeypatch.setattr(module, "ensure_months", lambda conn, now, patience: None)
    # On Citus: none of the files has the tables that are distributed.
    monkeypatch.setitem(inspect.unwrap(module.migrate).__kwdefaults__, "engine", replace(citus.engine(), nodes=None))
    return write


def applied(dsn: str) -> list[tuple[int, str]]:
    with plain(dsn) as conn:
        return conn.execute("SELECT number, name FROM applied_migrations ORDER BY number").fetchall()


def test_all_of_ours_are_applied_once_and_the_coming_months_stand_ready(empty: str) -> None:
    names = migrate(empty, now=NOW)

    assert names == [*(migration.name for migration in migrations()), "functions"]
    assert migrate(empty, now=NOW) == []
    verify(empty)
    with plain(empty) as conn:
        for month in ("2026_11", "2026_12", "2027_01", "2027_02"):
            for table in ("submissions", "submission_documents", "submission_events", "sends"):
                found = conn.execute("SELECT to_regclass(%s) IS NOT NULL", (f"{table}_{month}",)).fetchone()
                assert found == (True,), f"{table}_{month}"


def test_every_month_is_tidied_in_small_parts(empty: str) -> None:
    """Those that stood ready before the migration that says so, and one that is made later."""
    migrate(empty, now=NOW)
    with psycopg.connect(empty, autocommit=True) as conn:
        conn.execute("SELECT ensure_month(%s)", (datetime(2033, 1, 5, tzinfo=UTC),))
        found = conn.execute(
            "SELECT c.relname, c.reloptions FROM pg_class AS c"
            " WHERE c.relname ~ '^(submission.*|sends)_[0-9]{4}_[0-9]{2}$' AND c.relkind = 'r'"
        ).fetchall()

    months = {name[-7:] for name, _ in found}
    assert {"2026_11", "2027_02", "2033_01"} <= months
    assert len(found) == 4 * len(months)
    for name, options in found:
        told = dict(option.split("=") for option in options)
        assert float(told["autovacuum_analyze_scale_factor"]) >= 1, name
        grows_only = name.startswith(("submission_documents", "submission_events"))
        assert ("autovacuum_vacuum_insert_threshold" in told) == grows_only, name


def test_many_at_once_apply_each_once(empty: str) -> None:
    at_the_line, names, trouble = threading.Barrier(6), list[list[str]](), list[BaseException]()

    def run() -> None:
        at_the_line.wait()
        try:
            names.append(migrate(empty, now=NOW))
        except Exception as error:
            trouble.append(error)

    racers = [threading.Thread(target=run) for _ in range(6)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()

    assert trouble == []
    assert sorted(len(each) for each in names) == [0] * 5 + [len(migrations()) + 1]


def test_statements_are_run_one_by_one_whatever_semicolons_they_hold(empty: str, files: Write) -> None:
    files(m0001_tables=ONE, m0002_function=TWO)

    assert [len(migration.statements) for migration in module.migrations()] == [2, 1]
    assert migrate(empty) == ["0001_tables", "0002_function"]
    with plain(empty) as conn:
        assert conn.execute("SELECT double(21)").fetchone() == (42,)
        assert conn.execute("INSERT INTO b DEFAULT VALUES RETURNING t").fetchone() == ("x;y",)


def test_a_file_that_fails_leaves_nothing_of_itself_and_all_of_those_before(empty: str, files: Write) -> None:
    files(m0001_tables=ONE, m0002_broken="CREATE TABLE c (n int);\nSELECT nonsense;\n")

    with pytest.raises(psycopg.errors.UndefinedColumn):
        migrate(empty)

    assert applied(empty) == [(1, "0001_tables")]
    with plain(empty) as conn:
        assert conn.execute("SELECT to_regclass('c')").fetchone() == (None,)
    files(m0001_tables=ONE, m0002_broken="CREATE TABLE c (n int);\n")
    assert migrate(empty) == ["0002_broken"]


def test_a_file_that_was_changed_after_it_was_applied_is_refused(empty: str, files: Write) -> None:
    files(m0001_tables=ONE)
    migrate(empty)
    files(m0001_tables=ONE + "-- one more word\n")

    for act in (migrate, verify):
        with pytest.raises(MigrationError, match="0001_tables was changed after it was applied: add a new one"):
            act(empty)


def test_a_database_of_a_newer_release_is_refused(empty: str, files: Write) -> None:
    files(m0001_tables=ONE, m0002_function=TWO)
    migrate(empty)
    files(m0001_tables=ONE)

    for act in (migrate, verify):
        with pytest.raises(MigrationError, match="at migration 0002, which suits releases from migration 0002 on"):
            act(empty)


# --- Releases side by side --------------------------------------------------------------------------------------------

MORE = "CREATE TABLE c (n int);"


async def is_ready(dsn: str) -> None:
    async with open_database(dsn) as db:
        await db.run(readiness.check, module.migrations(), function_set(0))


async def test_a_later_migration_that_suits_this_release_changes_nothing_for_it(
    empty: str, files: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RELEASE_BEFORE", 1)
    files(m0001_tables=ONE, m0002_function=TWO)
    migrate(empty)
    files(m0001_tables=ONE)

    verify(empty)
    assert migrate(empty) == []
    await is_ready(empty)


async def test_a_later_migration_that_does_not_suit_it_is_refused(
    empty: str, files: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RELEASE_BEFORE", 2)
    files(m0001_tables=ONE, m0002_function=TWO, m0003_more=MORE)
    migrate(empty)
    files(m0001_tables=ONE)

    for act in (migrate, verify):
        with pytest.raises(MigrationError, match="suits releases from migration 0002 on, and this one ends at 0001"):
            act(empty)
    with pytest.raises(MigrationError, match="run a newer release"):
        await is_ready(empty)


async def test_a_release_needs_its_own_schema(empty: str, files: Write) -> None:
    files(m0001_tables=ONE, m0002_function=TWO)
    migrate(empty)
    files(m0001_tables=ONE, m0002_function=TWO, m0003_more=MORE)

    with pytest.raises(MigrationError, match=r"lacks 1 migration\(s\), first 0003_more"):
        verify(empty)
    with pytest.raises(MigrationError, match=r"lacks 1 migration\(s\), first 0003_more"):
        await is_ready(empty)


def test_all_of_ours_suit_the_release_before(empty: str) -> None:
    migrate(empty, now=NOW)

    with plain(empty) as conn:
        book = conn.execute("SELECT number, works_from FROM applied_migrations ORDER BY number").fetchall()
    assert book == [(file.number, min(file.number, module.RELEASE_BEFORE)) for file in migrations()]


def test_a_migration_lets_others_by_while_somebody_holds_its_table(empty: str, files: Write) -> None:
    """A lock wait blocks all later statements; a dump locks every table for as long as it takes."""
    files(m0001_tables=ONE)
    migrate(empty)
    files(m0001_tables=ONE, m0002_more="CREATE TABLE c (n int);\nALTER TABLE a ADD m int;")
    paused: list[float] = []
    with plain(empty) as dump, plain(empty) as other:
        dump.execute("BEGIN")
        dump.execute("SELECT * FROM a")

        def sleep(seconds: float) -> None:
            other.execute("SET lock_timeout = '10s'")
            other.execute("INSERT INTO a VALUES (1)")  # no lock wait before it
            paused.append(seconds)
            if len(paused) == 2:
                dump.execute("COMMIT")

        patience = LockPatience(seconds=0.05, pause=7.0, times=3, sleep=sleep)
        assert migrate(empty, patience=patience) == ["0002_more"]
        assert other.execute("SELECT count(*), count(m) FROM a").fetchone() == (2, 0)
    assert paused == [7.0, 7.0]


def test_a_migration_that_finds_its_table_held_for_too_long_leaves_nothing_behind(empty: str, files: Write) -> None:
    files(m0001_tables=ONE)
    migrate(empty)
    files(m0001_tables=ONE, m0002_more="CREATE TABLE c (n int);", m0003_last="CREATE TABLE d ();\nDROP TABLE a;")
    paused: list[float] = []
    with plain(empty) as dump:
        dump.execute("BEGIN")
        dump.execute("SELECT * FROM a")
        with pytest.raises(MigrationError, match="0003_last changes a table that others hold"):
            migrate(empty, patience=LockPatience(seconds=0.05, pause=1.0, times=2, sleep=paused.append))
        dump.execute("COMMIT")

    assert paused == [1.0]
    assert [name for _, name in applied(empty)] == ["0001_tables", "0002_more"]
    assert migrate(empty) == ["0003_last"]


def test_a_migration_takes_as_long_as_it_takes_whatever_the_database_allows_others(empty: str, files: Write) -> None:
    files(m0001_tables=ONE, m0002_long="SELECT pg_sleep(0.3);")
    with plain(empty) as conn:
        (name,) = conn.execute("SELECT current_database()").fetchone() or ("",)
        for limit in ("statement_timeout", "lock_timeout"):
            conn.execute(f"ALTER DATABASE {name} SET {limit} = '100ms'".encode())

    assert migrate(empty) == ["0001_tables", "0002_long"]


async def test_a_migration_that_others_wait_for_in_turn_begins_anew(empty: str, files: Write) -> None:
    """It holds one table and waits for another, whose holder waits for the first."""
    files(m0001_tables=ONE)
    migrate(empty)
    files(m0001_tables=ONE, m0002_more="ALTER TABLE a ADD m int;\nALTER TABLE b ADD m int;")
    names: list[str] = []
    with plain(empty) as one, plain(empty) as other:
        one.execute("SET deadlock_timeout = '1min'")  # so it is the migration that sees it
        one.execute("BEGIN")
        one.execute("SELECT * FROM b")
        async with trio.open_nursery() as nursery:

            async def run() -> None:
                patience = replace(LOCK_PATIENCE, times=50, sleep=lambda _: None)
                names.extend(await trio.to_thread.run_sync(partial(migrate, empty, patience=patience)))

            nursery.start_soon(run)
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'b'::regclass"
            await until(lambda: other.execute(waiting).fetchone() != (0,))
            await trio.to_thread.run_sync(one.execute, "SELECT * FROM a")
            one.execute("COMMIT")

    assert names == ["0002_more"]


@pytest.fixture
def tidied_every_second(postgres: str) -> Iterator[None]:
    """The server looks once a second what is to be vacuumed."""
    with plain(postgres) as conn:
        conn.execute("ALTER SYSTEM SET autovacuum_naptime = '1s'")
        conn.execute("ALTER SYSTEM SET autovacuum = on")
        conn.execute("SELECT pg_reload_conf()")
        yield
        conn.execute("ALTER SYSTEM RESET autovacuum_naptime")
        conn.execute("ALTER SYSTEM SET autovacuum = off")
        conn.execute("SELECT pg_reload_conf()")


@pytest.mark.usefixtures("tidied_every_second")
async def test_an_autovacuum_stands_aside_for_a_migration(empty: str, files: Write) -> None:
    """It may take hours, and yields only to a wait longer than the server's deadlock_timeout."""
    slowly = "autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_threshold = 1"
    files(m0001_table=f"CREATE TABLE large (t text) WITH ({slowly}, autovacuum_vacuum_scale_factor = 0);")
    migrate(empty)
    with plain(empty) as conn:
        conn.execute("INSERT INTO large SELECT repeat('x', 500) FROM generate_series(1, 20000)")
        conn.execute("DELETE FROM large")
        vacuumed = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'autovacuum: VACUUM%large'"
        await until(lambda: conn.execute(vacuumed).fetchone() == (1,))

        files(m0001_table=module.migrations()[0].text, m0002_more="ALTER TABLE large ADD n int;")
        patience = replace(LOCK_PATIENCE, times=10, sleep=lambda _: None)
        assert await trio.to_thread.run_sync(partial(migrate, empty, patience=patience)) == ["0002_more"]


def test_a_month_that_is_missing_lets_others_by_while_somebody_reads_the_tables(empty: str) -> None:
    """To make one takes a lock on the partition of all other months, which every reader holds."""
    migrate(empty, now=NOW)
    paused: list[float] = []
    with plain(empty) as dump, plain(empty) as other:
        dump.execute("SET idle_in_transaction_session_timeout = '120s'")  # others would wait this long
        dump.execute("BEGIN")
        dump.execute("SELECT * FROM sends")

        def sleep(seconds: float) -> None:
            other.execute("SET lock_timeout = '10s'")
            other.execute("SELECT * FROM sends")  # no lock wait before it
            paused.append(seconds)
            if len(paused) == 2:
                dump.execute("COMMIT")

        patience = LockPatience(seconds=0.05, pause=7.0, times=3, sleep=sleep)
        assert migrate(empty, now=NOW + timedelta(days=30), patience=patience) == []
        found = other.execute("SELECT to_regclass('sends_2027_03') IS NOT NULL").fetchone()
    assert paused == [7.0, 7.0]
    assert found == (True,)


def test_a_month_that_cannot_be_made_is_said_and_every_migration_is_there(empty: str) -> None:
    migrate(empty, now=NOW)
    with plain(empty) as dump:
        dump.execute("SET idle_in_transaction_session_timeout = '120s'")
        dump.execute("BEGIN")
        dump.execute("SELECT * FROM sends")
        with pytest.raises(MigrationError, match="others hold the tables that 2027-03 is to be a partition of"):
            migrate(empty, now=NOW + timedelta(days=30), patience=LockPatience(0.05, 1.0, 2, lambda _: None))
        dump.execute("COMMIT")

    verify(empty)
    assert migrate(empty, now=NOW + timedelta(days=30)) == []


async def test_housekeeping_keeps_nobody_waiting_behind_a_month_that_it_cannot_make(empty: str) -> None:
    """A process looks every hour, also while a dump holds the tables; there may be many of them."""
    migrate(empty, now=NOW)
    with plain(empty) as dump, plain(empty) as other:
        dump.execute("BEGIN")
        dump.execute("SELECT * FROM sends")
        other.execute("SET lock_timeout = '3s'")
        async with open_database(empty) as db, trio.open_nursery() as nursery:

            async def look_again_and_again() -> None:
                while True:
                    with pytest.raises(LockNotHad):
                        await db.transact(ensure_month, NOW + timedelta(days=120))

            nursery.start_soon(look_again_and_again)
            waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'sends_default'::regclass"
            await until(lambda: other.execute(waiting).fetchone() != (0,))
            await trio.to_thread.run_sync(other.execute, "SELECT * FROM sends")
            nursery.cancel_scope.cancel()
        dump.execute("COMMIT")


@pytest.mark.parametrize("names", [("m0002_a",), ("m0001_a", "m0003_b"), ("m0001_a", "m0001_b")])
def test_numbers_have_no_gaps_and_no_twins(files: Write, names: tuple[str, ...]) -> None:
    files(**dict.fromkeys(names, ONE))

    with pytest.raises(MigrationError, match="not numbered"):
        module.migrations()


async def test_what_is_missing_is_said_with_what_to_do(empty: str, files: Write) -> None:
    files(m0001_tables=ONE, m0002_function=TWO)
    with pytest.raises(MigrationError, match=r"lacks 2 migration\(s\), first 0001_tables: run `fe migrate`"):
        verify(empty)
    async with open_database(empty) as db:
        with pytest.raises(MigrationError, match="the database is empty: run `fe migrate`"):
            await db.run(readiness.check, module.migrations(), function_set(0))
        migrate(empty)
        await db.run(readiness.check, module.migrations(), function_set(0))
        files(m0001_tables=ONE, m0002_function=TWO, m0003_more="CREATE TABLE c (n int);")
        with pytest.raises(MigrationError, match=r"lacks 1 migration\(s\), first 0003_more"):
            await db.run(readiness.check, module.migrations(), function_set(0))


def test_a_server_that_is_not_there_is_unavailable_and_its_password_is_not_told(dsn: str) -> None:
    nowhere = make_conninfo(dsn, host="127.0.0.1", port=1, password="CANARY")

    for act in (migrate, verify):
        with pytest.raises(DatabaseUnavailable) as unavailable:
            act(nowhere)
        assert "CANARY" not in str(unavailable.value)


@given(st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))
def test_the_months_that_stand_ready_are_this_one_and_the_next_three(now: datetime) -> None:
    months = [(month.year, month.month) for month in coming_months(now)]

    assert months[0] == (now.year, now.month)
    assert len(months) == 4
    for (year, month), following in pairwise(months):
        assert following == ((year, month + 1) if month < 12 else (year + 1, 1))
    assert all(month.utcoffset() == timedelta(0) for month in coming_months(now))
