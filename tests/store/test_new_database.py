"""A new database admits no one: it has no account, key or password."""

import psycopg

from fe.store.postgres.roles import EVERY

#: The roles that migrations make are taken by logins of the operator's, and are none themselves.
_MADE = "SELECT count(*), bool_or(rolcanlogin OR rolsuper OR rolbypassrls OR rolcreaterole) FROM pg_roles"


def test_it_has_no_tenant_user_key_or_login(dsn: str) -> None:
    with psycopg.connect(dsn) as conn:
        for table in ("tenants", "users", "api_keys", "certificates", "webhook_endpoints", "webhook_secrets"):
            assert conn.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() == (0,), table
        made = conn.execute(f"{_MADE} WHERE rolname = ANY (%s)".encode(), (list(EVERY),)).fetchone()

    assert made == (len(EVERY), False)
