"""Migrate a database to this release: migrations once each, in order, then the functions that changed.

The files are in `sql/migrations` and `sql/functions` (docs/decisions/sql-files.md).
"""

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path

import psycopg

from fe.store.postgres import applied_migrations, functions
from fe.store.postgres.applied_migrations import Applied
from fe.store.postgres.connection_limit import require_free_connections
from fe.store.postgres.engine import POSTGRES, Engine
from fe.store.postgres.errors import DatabaseUnavailable, RoleRefused, StoreError, words
from fe.store.postgres.functions import FunctionSet, function_set
from fe.store.postgres.roles import EVERY, rights_of_login, why_not
from fe.store.postgres.session import apply_settings_once, connected_once, require_session_pooling
from fe.store.postgres.statements import SQL, statements, with_includes

FOLDER = SQL / "migrations"

#: Key of the advisory lock that lets one process migrate at a time: "fe-mig" as a number.
_ADVISORY_LOCK = 0x66652D6D6967

#: Switches off the timeouts that an administrator set for the login or the database. They limit a service's statements,
#: not the building of an index of millions of rows, nor the wait for another process that migrates. Each migration sets
#: its own lock timeout. (`transaction_timeout` exists from Postgres 17 on.)
_AS_LONG_AS_IT_TAKES = """
    SELECT set_config(s.name, '0', false)
      FROM pg_settings AS s
     WHERE s.name IN ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout')
"""

#: The newest migration of the previous release, which keeps running on the migrations of this one: the record says so
#: beside each migration. A migration that would break it waits for the next release.
RELEASE_BEFORE = 62

#: The baseline makes the same schema as migrations 0001 to 0062 of an earlier tree. Its files have the first numbers,
#: and the next migration is the one after this number.
BASELINE = 62
#: Digests of the first and the last of those migrations, and the last commit that has them.
_FIRST_FOLDED = bytes.fromhex("b3c5c42ca8af5db0028d231051cd3b9978718e0030bc0f8a81e7d31f2ed29a0a")
_LAST_FOLDED = bytes.fromhex("d4f4e3fdb48db410e6aa7f5ca20e637d85abc2f6fe411de00d9c86afe2e2461e")
_LAST_COMMIT = "2fe48450"

#: How many months ahead the partitions of the history exist.
MONTHS_AHEAD = 3


class MigrationError(StoreError):
    """The database and the files disagree; the message says how, and what to do."""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered file."""

    number: int
    name: str
    text: str
    folder: Path = FOLDER

    @property
    def digest(self) -> bytes:
        """SHA-256 of the text, to detect that a file was edited after it was applied."""
        return hashlib.sha256(self.text.encode()).digest()

    @property
    def statements(self) -> list[str]:
        """The statements one by one, including those of included function files."""
        return statements(with_includes(self.text, self.folder))


@dataclass(frozen=True, slots=True)
class LockPatience:
    """How long `migrate` waits for a table lock that a dump or a long statement holds.

    While it waits, all later readers and writers of the table wait behind it. So it gives up after `seconds`, lets them
    pass for a `pause`, and retries, at most `times` in all; after a deadlock, too. `seconds` must be more than the
    server's `deadlock_timeout` (a second by default), after which Postgres cancels an autovacuum that holds the lock.
    """

    seconds: float = 1.25
    pause: float = 5.0
    times: int = 20
    sleep: Callable[[float], None] = time.sleep


LOCK_PATIENCE = LockPatience()


def migrations(folder: Path = FOLDER) -> list[Migration]:
    """Read the numbered files in order. Raises MigrationError when a number is missing or appears twice."""
    found = [
        Migration(int(path.name[:4]), path.stem, path.read_text(encoding="utf-8"), folder)
        for path in sorted(folder.glob("[0-9][0-9][0-9][0-9]_*.sql"))
    ]
    numbers = [migration.number for migration in found]
    later = sum(number > BASELINE for number in numbers)
    baseline = len(numbers) - later
    if numbers != [*range(1, baseline + 1), *range(BASELINE + 1, BASELINE + 1 + later)]:
        raise MigrationError(
            f"the files in {folder.name}/ are not numbered 0001, 0002, ... and {BASELINE + 1:04}, ... without gaps"
        )
    return found


def pending(applied: Sequence[Applied], files: Sequence[Migration]) -> list[Migration]:
    """Return the migrations to apply. Raises MigrationError when the applied ones differ from the files.

    Migrations of a later release are ignored if the record says that this release can run on them.
    """
    by_number = {migration.number: migration for migration in files}
    newest = files[-1].number if files else 0
    folded = _folded_into_baseline(applied)
    for line in applied:
        if folded and line.number <= BASELINE:
            continue
        known = by_number.get(line.number)
        if known is None:
            if line.works_from > newest:
                raise MigrationError(
                    f"the database is at migration {line.number:04}, which suits releases from migration "
                    f"{line.works_from:04} on, and this one ends at {newest:04}: run a newer release"
                )
        elif known.digest != line.digest:
            raise MigrationError(f"migration {known.name} was changed after it was applied: add a new one instead")
    done = {line.number for line in applied} | (set(range(1, BASELINE + 1)) if folded else set())
    return [migration for migration in files if migration.number not in done]


def _folded_into_baseline(applied: Sequence[Applied]) -> bool:
    """Whether the database was made by the migrations that the baseline replaces.

    Raises MigrationError if only some of them were applied.
    """
    by_number = {line.number: line.digest for line in applied}
    if by_number.get(1) != _FIRST_FOLDED:
        return False
    if by_number.get(BASELINE) != _LAST_FOLDED:
        at = max(number for number in by_number if number <= BASELINE)
        raise MigrationError(
            f"the database is at migration {at:04}, and this release continues from {BASELINE:04}: "
            f"run `fe migrate` of commit {_LAST_COMMIT} first, then this one"
        )
    return True


def require_none_pending(applied: Sequence[Applied], files: Sequence[Migration]) -> None:
    """Check that this release can run on the applied migrations. Raises MigrationError."""
    if todo := pending(applied, files):
        raise MigrationError(f"the database lacks {len(todo)} migration(s), first {todo[0].name}: run `fe migrate`")


def functions_of(files: Sequence[Migration]) -> FunctionSet:
    """Return the functions that belong to these migrations."""
    return _functions_at(files[-1].number if files else 0)


#: A process reads the files once.
_functions_at = cache(function_set)


#: Raised where the migrations are applied and the functions of this release are not.
FUNCTIONS_MISSING = "the database lacks the functions of this release: run `fe migrate`"
#: Name of the functions in the answer of `migrate`.
_FUNCTIONS = "functions"


def migrate(
    dsn: str, *, now: datetime | None = None, engine: Engine = POSTGRES, patience: LockPatience = LOCK_PATIENCE
) -> list[str]:
    """Apply pending migrations, each in one transaction, then the functions that changed, in one transaction.

    Creates the partitions of this month and the coming ones. An engine with nodes then distributes the
    tables that are not distributed yet. Returns the names applied, with `functions` if any changed. Safe to start from
    many processes at once: an advisory lock lets one work. Raises DatabaseUnavailable when the server cannot be
    reached. Raises MigrationError as `pending` does, when the login lacks a right, or when a table stays locked for
    longer than `patience`; then the earlier migrations are applied.
    """
    files = migrations()
    try:
        with connected_once(dsn) as conn:
            require_session_pooling(conn, dsn)  # the advisory lock belongs to the session
            conn.execute("RESET ROLE")
            conn.execute(_AS_LONG_AS_IT_TAKES)
            conn.execute("SELECT pg_advisory_lock(%s)", (_ADVISORY_LOCK,))
            for name, value in engine.migrating.items():
                conn.execute("SELECT set_config(%s, %s, false)", (name, value))
            _see_that_it_keeps_any_letter(conn)
            applied_migrations.make(conn)
            todo = pending(applied_migrations.read_blocking(conn), files)
            for migration in todo:
                _apply_between_others(conn, migration, patience)
            names = [migration.name for migration in todo]
            with conn.transaction():
                if functions.apply(conn, functions_of(files)):
                    names.append(_FUNCTIONS)
            ensure_months(conn, now or datetime.now(UTC), patience)
            if engine.nodes is not None:
                engine.nodes.distribute(conn)
            return names
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(_reason(error)) from error
    except psycopg.errors.InsufficientPrivilege as error:
        hint = f": {error.diag.message_hint}" if error.diag.message_hint else ""
        raise MigrationError(f"{error.diag.message_primary}{hint}") from error


def _see_that_it_keeps_any_letter(conn: psycopg.Connection) -> None:
    """Check, before the first migration, that the database can store every letter of a receipt or an answer.

    Other encodings than UTF-8 lack letters, and writing a document with such a letter fails: a verdict with a dash
    would never be written. `fe doctor` reports a database that was migrated already. Raises MigrationError.
    """
    encoding = conn.info.parameter_status("server_encoding")
    if encoding != "UTF8" and not applied_migrations.read_blocking(conn):
        raise MigrationError(
            f"the database keeps text in {encoding}, which lacks letters: make it anew, with "
            "CREATE DATABASE ... ENCODING 'UTF8' TEMPLATE template0"
        )


def _apply_between_others(conn: psycopg.Connection, migration: Migration, patience: LockPatience) -> None:
    trouble = f"migration {migration.name} changes a table that others hold, and nothing of it was applied"
    _between_others(conn, patience, partial(_apply, conn, migration), trouble)


def _between_others(conn: psycopg.Connection, patience: LockPatience, work: Callable[[], object], trouble: str) -> None:
    """Do `work` in one transaction, with retries as `patience` says. Raises MigrationError with `trouble`."""
    for times_left in reversed(range(patience.times)):
        try:
            with conn.transaction():
                conn.execute("SELECT set_config('lock_timeout', %s, true)", (f"{round(patience.seconds * 1000)}ms",))
                work()
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
            if not times_left:
                raise MigrationError(
                    f"{trouble}: see who works in a transaction for long (ops/runbooks/database.md), then try again"
                ) from None
            patience.sleep(patience.pause)
        else:
            return


def _apply(conn: psycopg.Connection, migration: Migration) -> None:
    # Row-level security binds the owner, too: a statement that it would filter fails instead of skipping rows.
    conn.execute("SET LOCAL row_security = off")
    functions.fix_search_path(conn)
    for statement in migration.statements:
        conn.execute(statement.encode())
    suits = min(migration.number, RELEASE_BEFORE)
    applied_migrations.enter(conn, migration.number, migration.name, migration.digest, suits)


def pending_names(dsn: str) -> list[str]:
    """Name what `migrate` would apply, without a change. Raises as `migrate` does."""
    try:
        with connected_once(dsn) as conn, conn.transaction():
            conn.execute("SET TRANSACTION READ ONLY")
            return missing_migrations(conn)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(_reason(error)) from error


def missing_migrations(conn: psycopg.Connection) -> list[str]:
    """Name what this release has and the database lacks. Raises MigrationError as `pending` does, or without rights."""
    try:
        applied = applied_migrations.read_blocking(conn)
    except psycopg.errors.InsufficientPrivilege:
        raise MigrationError("the login may not read which migrations were applied: run it as the owner") from None
    files = migrations()
    names = [migration.name for migration in pending(applied, files)]
    return [*names, _FUNCTIONS] if functions.changed(conn, functions_of(files)) else names


def coming_months(now: datetime) -> list[datetime]:
    """A time in this month and in each of the coming months that need partitions now."""
    return [now.replace(day=1) + timedelta(days=31 * ahead) for ahead in range(MONTHS_AHEAD + 1)]


def ensure_months(conn: psycopg.Connection, now: datetime, patience: LockPatience = LOCK_PATIENCE) -> None:
    """Make the partitions of this month and the next ones. Raises MigrationError as `migrate` does.

    Making a missing partition waits for all readers of the table, as a migration does. An existing one needs no wait.
    """
    for month in coming_months(now):
        make = partial(conn.execute, "SELECT ensure_month(%s)", (month,))
        trouble = f"every migration is applied, but others hold the tables that {month:%Y-%m} is to be a partition of"
        _between_others(conn, patience, make, trouble)


def verify(dsn: str, *roles: str, connections: int = 0, no_others: bool = False, engine: Engine = POSTGRES) -> None:
    """Check at start that this release can run on the schema and that the login may take `roles`.

    The roles must have their policies, sessions must keep their settings, and the server must have room for
    `connections` and for the command line's. With `no_others` the login may have no rights beyond `roles`, because
    RESET ROLE is enough to use them. Raises MigrationError, RoleRefused, SessionRefused, TooFewConnections or
    DatabaseUnavailable, whose messages say what to do.
    """
    try:
        with connected_once(dsn) as conn:
            require_session_pooling(conn, dsn)
            if connections:
                require_free_connections(conn, connections)
            for role in roles or (None,):
                with conn.transaction():
                    if role is not None:
                        _take(conn, role)
                    _see_that_it_fits(conn)
                    if role is not None:
                        _see_that_rows_are_shown(conn, role)
                apply_settings_once(conn, role, engine)
            if no_others:
                _require_no_others(conn, roles)
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(_reason(error)) from error


def verify_node(dsn: str, role: str, *, connections: int, no_others: bool, engine: Engine) -> None:
    """Check at start that the login may take the role on the cluster node of FE_DATABASE_NEAR.

    Raises RoleRefused, SessionRefused, TooFewConnections or DatabaseUnavailable.
    """
    try:
        with connected_once(dsn) as conn:
            require_session_pooling(conn, dsn)
            require_free_connections(conn, connections, server="the node of FE_DATABASE_NEAR", fewer="")
            with conn.transaction():
                _take(conn, role)
            apply_settings_once(conn, role, engine)
            if no_others:
                _require_no_others(conn, [role])
    except psycopg.OperationalError as error:
        raise DatabaseUnavailable(_reason(error)) from error


#: Messages of a server whose connections are all taken. A refused connection reports no SQLSTATE.
_NO_SLOT = ("too many clients already", "remaining connection slots are reserved", "too many connections for")

_STANDS_ABOVE = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"


def _take(conn: psycopg.Connection, role: str) -> None:
    """Take a role to the end of the transaction."""
    login = conn.info.user
    try:
        with conn.transaction():
            conn.execute("SELECT set_config('role', %s, true)", (role,))
    except psycopg.errors.InvalidParameterValue:
        raise RoleRefused(f"the database has no role {role}: run `fe migrate`") from None
    except psycopg.errors.InsufficientPrivilege:
        raise RoleRefused(why_not(login, rights_of_login(conn), role)) from None
    if conn.execute(_STANDS_ABOVE).fetchone() == (True,):
        raise RoleRefused(
            f"no row-level security holds the role {role}: let an administrator run "
            f"ALTER ROLE {role} NOSUPERUSER NOBYPASSRLS"
        )


_LEADS_TO = """
    SELECT CASE WHEN l.rolsuper OR l.rolbypassrls OR l.rolcreaterole
                THEN 'stands above row-level security'
                WHEN pg_has_role(l.oid, t.relowner, 'MEMBER')
                THEN 'owns the tables' END,
           ARRAY(SELECT r.rolname::text FROM pg_roles AS r
                  WHERE r.rolname = ANY (%s) AND pg_has_role(l.oid, r.oid, 'MEMBER') ORDER BY r.rolname)
      FROM pg_roles AS l, pg_class AS t
     WHERE l.rolname = session_user AND t.oid = to_regclass('tenants')
"""


def _require_no_others(conn: psycopg.Connection, roles: Sequence[str]) -> None:
    """Check that RESET ROLE gives a process no rights beyond those of `roles`. Raises RoleRefused."""
    login = conn.info.user
    row = conn.execute(_LEADS_TO, ([role for role in EVERY if role not in roles],)).fetchone()
    above, others = row or (None, [])
    leads = above or (f"may take {', '.join(others)} as well" if others else None)
    if leads is not None:
        raise RoleRefused(
            f"the login {login} {leads}, and RESET ROLE leads there: give each kind of process a login of its own "
            "(docs/operations.md), or set FE_DATABASE_SHARED_LOGIN=1"
        )


def _see_that_it_fits(conn: psycopg.Connection) -> None:
    files = migrations()
    try:
        require_none_pending(applied_migrations.read_blocking(conn), files)
        if not functions.are_applied_blocking(conn, functions_of(files)):
            raise MigrationError(FUNCTIONS_MISSING)
    except psycopg.errors.InsufficientPrivilege:
        raise MigrationError("the database lacks the rights of this release: run `fe migrate`") from None


# Our tables that the role may read, but without a policy that shows it any row.
_NOT_SHOWN = """
    SELECT c.relname::text
      FROM pg_class AS c
      JOIN pg_class AS ours ON ours.oid = to_regclass('tenants') AND ours.relowner = c.relowner
     WHERE c.relnamespace = ours.relnamespace AND c.relkind IN ('r', 'p') AND c.relrowsecurity
       AND has_any_column_privilege(c.oid, 'SELECT')
       AND NOT EXISTS (
               SELECT 1
                 FROM pg_policy AS p
                WHERE p.polrelid = c.oid AND p.polcmd IN ('*', 'r')
                  AND p.polroles && ARRAY[0::oid, current_user::regrole::oid])
     ORDER BY c.relname
"""


def _see_that_rows_are_shown(conn: psycopg.Connection, role: str) -> None:
    """Check that the role has its policies. A dump that is restored before all roles exist loses them.

    Without policies every statement works and finds no rows: an accepted document is not found. Raises RoleRefused.
    """
    tables = [name for (name,) in conn.execute(_NOT_SHOWN)]
    if tables:
        raise RoleRefused(
            f"the role {role} is shown no row of {len(tables)} tables that it may read, first {tables[0]}: a dump that"
            " was restored before all roles were there lacks their policies; make the roles, then restore it anew"
            " (ops/runbooks/restore-backup.md)"
        )


def _reason(error: psycopg.Error) -> str:
    said = words(error)
    if any(full in said for full in _NO_SLOT):
        return f"{said} (all its connections are taken: docs/operations.md keeps some for commands)"
    return said
