"""Check the database: server, login, clock, migrations, rights, and writing."""

from collections.abc import Sequence

import psycopg

from fe.clock import Clock
from fe.config import Settings
from fe.operations.doctor.certificates import check_certificates
from fe.operations.doctor.clocks import skew_of_the_database
from fe.operations.doctor.finding import Finding, Role, State, role_of_login, takes
from fe.store.engines import engine_named
from fe.store.postgres.clocks import compare_clocks_once
from fe.store.postgres.errors import StoreError, words
from fe.store.postgres.migrate import missing_migrations, verify
from fe.store.postgres.roles import FRONT, OPERATOR, PORTAL, RECEPTION, SHARE, WORKER, rights_of_login
from fe.store.postgres.session import connected_once

_OLDEST_SERVER = 150000


def infer_role(settings: Settings) -> tuple[Finding, Role | None]:
    """Derive the role from the database login; None if it cannot be read."""
    assert settings.database_url is not None
    try:
        with connected_once(settings.database_url) as conn:
            role, login = role_of_login(rights_of_login(conn)), conn.info.user
    except psycopg.Error as error:
        return _away(error), None
    return Finding("role", State.OK, f"looked over as --role {role}, by the login {login}"), role


def _away(error: psycopg.Error) -> Finding:
    return Finding(
        "database",
        State.FAILED,
        words(error),
        "see that FE_DATABASE_URL names it, that it runs, and that it lets this machine in (pg_hba.conf)",
    )


def check_database(settings: Settings, role: Role, clock: Clock) -> list[Finding]:
    """Make every check of the database; after the first that failed there may be none. Blocks."""
    assert settings.database_url is not None
    found: list[Finding] = []
    dsn, roles = settings.database_url, takes(role, settings)
    try:
        with connected_once(dsn) as conn, conn.transaction():
            conn.execute("SET TRANSACTION READ ONLY")
            found += [_server(conn), _login(conn, roles), _clock(conn, clock)]
            if settings.database_engine == "citus":
                from fe.operations.doctor.cluster import check_cluster, check_node

                found.append(check_cluster(conn, roles))
                if settings.database_near is not None and WORKER in roles:
                    found.append(check_node(dsn, settings.database_near))
            found += [check_locks(conn), _migrations(conn)]
    except psycopg.Error as error:
        return [*found, _away(error)]
    if found[-1].state is State.FAILED:
        return [
            *found,
            *(Finding(check, State.SKIPPED, "after the migrations") for check in ("rights", "certificates")),
        ]
    with connected_once(dsn) as conn:
        found.append(_left_to_everybody(conn))
    for taken in roles:
        found.append(_rights(dsn, taken, settings))
    found.append(
        _writing(dsn) if role in (Role.ALL, Role.HTTP) else Finding("writing", State.SKIPPED, "the front asks")
    )
    # The front and the portal cannot read encrypted certificates.
    sees_certificates = next((each for each in (WORKER, OPERATOR) if each in roles), None)
    if sees_certificates is not None:
        found.append(check_certificates(dsn, settings, sees_certificates, clock()))
    return found


def _server(conn: psycopg.Connection) -> Finding:
    version = conn.info.server_version
    standby = conn.execute("SELECT pg_is_in_recovery(), current_setting('synchronous_commit')").fetchone()
    assert standby is not None
    says = f"Postgres {version // 10000}.{version % 10000} answers"
    if version < _OLDEST_SERVER:
        return Finding("database", State.FAILED, says, "this release needs Postgres 15 or newer")
    if standby[0]:
        return Finding("database", State.FAILED, f"{says} and is a standby", "name the primary in FE_DATABASE_URL")
    if standby[1] == "off":
        return Finding(
            "database",
            State.FAILED,
            f"{says}, with synchronous_commit off: accepted receipts may be lost in a crash",
            "ALTER SYSTEM SET synchronous_commit = on",
        )
    if (encoding := conn.info.parameter_status("server_encoding")) != "UTF8":
        return Finding(
            "database",
            State.FAILED,
            f"{says}, and keeps text in {encoding}: what has a letter that this lacks cannot be written",
            "dump it and restore it into a database that was made with ENCODING 'UTF8' TEMPLATE template0"
            " (ops/runbooks/restore-backup.md)",
        )
    if (sorted_by := conn.execute(_SORTED_BY).fetchone()) is not None:
        was, now = sorted_by
        return Finding(
            "database",
            State.FAILED,
            f"{says}, and sorts text by version {now} of its collation, and its indexes by {was}: "
            "existing rows may not be found, such as a repeated clientRequestId",
            "before anything is started, as the owner: REINDEX DATABASE ..., then ALTER DATABASE ... REFRESH COLLATION "
            "VERSION; keys that are there twice by now are named",
        )
    return Finding("database", State.OK, says)


# The server's machine was exchanged, or its C library: the files of the database came from another one.
_SORTED_BY = """
    SELECT d.datcollversion, coalesce(pg_database_collation_actual_version(d.oid), 'none')
      FROM pg_database AS d
     WHERE d.datname = current_database() AND d.datcollversion IS NOT NULL
       AND d.datcollversion IS DISTINCT FROM pg_database_collation_actual_version(d.oid)
"""

_ABOVE = """
    SELECT rolsuper, rolbypassrls, rolcreaterole,
           (SELECT count(*) FROM pg_roles AS r
             WHERE r.rolname = ANY (%s) AND pg_has_role(session_user, r.oid, 'MEMBER'))
      FROM pg_roles WHERE rolname = session_user
"""


def _login(conn: psycopg.Connection, roles: Sequence[str]) -> Finding:
    row = conn.execute(_ABOVE, ([FRONT, WORKER, OPERATOR, PORTAL, RECEPTION, SHARE],)).fetchone()
    assert row is not None
    is_super, bypasses, makes_roles, may_take = row
    login = conn.info.user
    if is_super or bypasses or makes_roles:
        which = "a superuser" if is_super else "above row-level security" if bypasses else "one that makes roles"
        return Finding(
            "login",
            State.WARNING,
            f"the login {login} is {which}: row-level security does not apply to it",
            "give each kind of process a login of its own: docs/operations.md, Who logs in to the database",
        )
    if may_take > len(roles):
        return Finding(
            "login",
            State.WARNING,
            f"the login {login} may take {may_take} roles: RESET ROLE would lead from one to the other",
            "give each kind of process a login of its own: docs/operations.md, Who logs in to the database",
        )
    return Finding("login", State.OK, f"{login} may take no more than it needs")


_LEFT = """
    SELECT has_database_privilege('fe_readonly', current_database(), 'TEMPORARY'),
           has_function_privilege('fe_readonly', 'pg_catalog.lo_create(oid)', 'EXECUTE')
"""


def _left_to_everybody(conn: psycopg.Connection) -> Finding:
    """Check that the default rights of PUBLIC were revoked, as far as the migration could (sql/migrations/0001)."""
    row = conn.execute(_LEFT).fetchone()
    assert row is not None
    remedies = [
        *(["REVOKE TEMPORARY ON DATABASE ... FROM PUBLIC, as its owner"] if row[0] else []),
        *(["the REVOKE for large objects of docs/operations.md, as an administrator"] if row[1] else []),
    ]
    if remedies:
        says = "every login may make temporary tables or large objects, outside every policy"
        return Finding("server's own rights", State.WARNING, says, " and ".join(remedies))
    return Finding("server's own rights", State.OK, "no temporary tables, no large objects")


def _clock(conn: psycopg.Connection, clock: Clock) -> Finding:
    return skew_of_the_database(compare_clocks_once(conn, clock))


#: Locks that a server has room for, in tables and indexes of all months: then a hundred new connections may plan a
#: statement over all months at once.
_ROOM = 8

_LOCKS = """
    SELECT current_setting('max_locks_per_transaction')::int, count(*)::int
      FROM pg_class AS c
     WHERE c.relispartition AND c.relkind IN ('r', 'i') AND c.relnamespace = current_schema()::regnamespace
"""


def check_locks(conn: psycopg.Connection) -> Finding:
    """Check that the lock table has room for newly planned statements, which need more locks each month."""
    row = conn.execute(_LOCKS).fetchone()
    assert row is not None
    allowed, of_months = row
    says = f"the months have {of_months} tables and indexes, and max_locks_per_transaction is {allowed}"
    if of_months > _ROOM * allowed:
        return Finding(
            "locks",
            State.WARNING,
            f"{says}: connections that begin at the same moment may find no room to lock them (out of shared memory)",
            "ALTER SYSTEM SET max_locks_per_transaction = 1024, and restart the server when that suits",
        )
    return Finding("locks", State.OK, says)


def _migrations(conn: psycopg.Connection) -> Finding:
    try:
        missing = missing_migrations(conn)
    except StoreError as wrong:
        return Finding("migrations", State.FAILED, str(wrong), "run what the line says, as the owner")
    if missing:
        says = f"{len(missing)} are still to be run, first {missing[0]}"
        return Finding("migrations", State.FAILED, says, "run `fe migrate` as the owner (docs/operations.md)")
    return Finding("migrations", State.OK, "all of this release are applied")


def _rights(dsn: str, role: str, settings: Settings) -> Finding:
    try:
        engine = engine_named(settings.database_engine)
        verify(dsn, role, connections=settings.database_connections, engine=engine)
    except StoreError as wrong:
        return Finding(f"rights ({role})", State.FAILED, str(wrong), "do what the line says")
    return Finding(f"rights ({role})", State.OK, "the login takes it, and row-level security holds it")


_WRITABLE_AGAIN = (
    "the server or the database is set to read-only: ALTER DATABASE ... RESET default_transaction_read_only, or ALTER"
    " SYSTEM RESET default_transaction_read_only and SELECT pg_reload_conf(); a standby: name the primary in"
    " FE_DATABASE_URL (database.md, step 5)"
)


def _writing(dsn: str) -> Finding:
    """Check that a row can be written, and roll back: a full disk or a standby would fail."""
    try:
        with connected_once(dsn) as conn, conn.transaction(force_rollback=True):
            conn.execute("SELECT set_config('role', %s, true)", (FRONT,))
            conn.execute("SELECT probe_writing(gen_random_uuid())")
    except psycopg.errors.ReadOnlySqlTransaction as error:
        return Finding("writing", State.FAILED, words(error), _WRITABLE_AGAIN)
    except psycopg.Error as error:
        return Finding(
            "writing", State.FAILED, words(error), "free space on the database's disks (database.md, step 5)"
        )
    return Finding("writing", State.OK, "a row can be written")
