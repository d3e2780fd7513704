"""The logins of docs/operations.md in a database of a test: what a page's command or statement is run as."""

import re

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

#: The roles each login is a member of; `fe_owner` and administrators are the test's own superuser.
MEMBER_OF = {
    "fe_cli_login": ("fe_operator",),
    "fe_actors_login": ("fe_worker", "pg_read_all_stats"),
}
_OF_TESTS = {"fe_owner", "an administrator", "an administrator, or a member of pg_signal_backend"}


def as_whom(block: str, mark: str) -> str:
    """Return the login that a block names in its first line (`-- as LOGIN`, `# as LOGIN`), or the operator's."""
    found = re.match(rf"{re.escape(mark)} as ([^\n]+)\n", block)
    return found[1] if found else "fe_cli_login"


def dsn_of(login: str, dsn: str) -> str:
    """The database of `dsn` with this login, which is made if there is none yet."""
    if login in _OF_TESTS:
        return dsn
    roles = MEMBER_OF[login]
    with psycopg.connect(dsn, autocommit=True) as conn:
        if conn.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (login,)).fetchone() is None:
            conn.execute(sql.SQL("CREATE ROLE {} LOGIN").format(sql.Identifier(login)))
        for role in roles:
            conn.execute(sql.SQL("GRANT {} TO {}").format(sql.Identifier(role), sql.Identifier(login)))
    return make_conninfo(dsn, user=login)
