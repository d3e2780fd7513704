"""Encrypted columns, for moving them to another key: all of them, in order, each replaced by itself.

Four tables have such columns: certificates, seeds of people's second factors (of no tenant: 0), secrets of webhooks,
and headers of their endpoints.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from psycopg.rows import class_row

from fe.identifiers import TenantId
from fe.store.postgres.db import Conn


@dataclass(frozen=True, slots=True)
class EncryptedRow:
    """A row, and its encrypted values in the order of its columns; None where one is not there."""

    tenant_id: TenantId
    row_id: UUID
    #: As a list, which is how the database gives an array.
    values: list[bytes | None]


@dataclass(frozen=True, slots=True)
class EncryptedColumns:
    """The statements about one table."""

    allowed: LiteralString
    after: LiteralString
    replace: LiteralString


# A login that sees no rows under the policies would find nothing to do, and the old key would be deleted too early.
_CERTIFICATES_ALLOWED = """
    SELECT has_table_privilege('certificates', 'SELECT')
           AND (has_column_privilege('certificates', 'p12', 'UPDATE')
                AND has_column_privilege('certificates', 'passphrase', 'UPDATE')
                OR NOT %(write)s)
           AND (pg_has_role('fe_worker', 'USAGE') OR NOT row_security_active('certificates'))
"""
_CERTIFICATES_AFTER = """
    SELECT tenant_id, certificate_id AS row_id, ARRAY[p12, passphrase] AS values
      FROM certificates
     WHERE (tenant_id, certificate_id) > (%(tenant)s, %(row)s) AND p12 IS NOT NULL
     ORDER BY tenant_id, certificate_id
     LIMIT %(limit)s
"""
_CERTIFICATES_REPLACE = """
    UPDATE certificates SET p12 = (%(after)s::bytea[])[1], passphrase = (%(after)s::bytea[])[2]
     WHERE tenant_id = %(tenant)s AND certificate_id = %(row)s
       AND ARRAY[p12, passphrase] IS NOT DISTINCT FROM %(before)s::bytea[]
"""

_SECRETS_ALLOWED = """
    SELECT has_table_privilege('webhook_secrets', 'SELECT')
           AND (has_column_privilege('webhook_secrets', 'secret', 'UPDATE') OR NOT %(write)s)
           AND (pg_has_role('fe_worker', 'USAGE') OR NOT row_security_active('webhook_secrets'))
"""
_SECRETS_AFTER = """
    SELECT tenant_id, secret_id AS row_id, ARRAY[secret] AS values
      FROM webhook_secrets
     WHERE (tenant_id, secret_id) > (%(tenant)s, %(row)s)
     ORDER BY tenant_id, secret_id
     LIMIT %(limit)s
"""
_SECRETS_REPLACE = """
    UPDATE webhook_secrets SET secret = (%(after)s::bytea[])[1]
     WHERE tenant_id = %(tenant)s AND secret_id = %(row)s AND ARRAY[secret] = %(before)s::bytea[]
"""

_HEADERS_ALLOWED = """
    SELECT has_column_privilege('webhook_endpoints', 'headers', 'SELECT')
           AND (has_column_privilege('webhook_endpoints', 'headers', 'UPDATE') OR NOT %(write)s)
           AND (pg_has_role('fe_worker', 'USAGE') OR NOT row_security_active('webhook_endpoints'))
"""
_HEADERS_AFTER = """
    SELECT tenant_id, endpoint_id AS row_id, ARRAY[headers] AS values
      FROM webhook_endpoints
     WHERE (tenant_id, endpoint_id) > (%(tenant)s, %(row)s) AND headers IS NOT NULL
     ORDER BY tenant_id, endpoint_id
     LIMIT %(limit)s
"""
_HEADERS_REPLACE = """
    UPDATE webhook_endpoints SET headers = (%(after)s::bytea[])[1]
     WHERE tenant_id = %(tenant)s AND endpoint_id = %(row)s AND ARRAY[headers] = %(before)s::bytea[]
"""

# Without such rows no right is needed, so that a login with rights on certificates alone still works.
_SEEDS_ALLOWED = """
    SELECT has_column_privilege('people', 'totp_secret', 'SELECT')
           AND (has_column_privilege('people', 'totp_secret', 'UPDATE') OR NOT %(write)s
                OR NOT EXISTS (SELECT FROM people AS p WHERE p.totp_secret IS NOT NULL))
"""
_SEEDS_AFTER = """
    SELECT 0::bigint AS tenant_id, person_id AS row_id, ARRAY[totp_secret] AS values
      FROM people
     WHERE (0, person_id) > (%(tenant)s, %(row)s) AND totp_secret IS NOT NULL
     ORDER BY person_id
     LIMIT %(limit)s
"""
_SEEDS_REPLACE = """
    UPDATE people SET totp_secret = (%(after)s::bytea[])[1]
     WHERE 0 = %(tenant)s AND person_id = %(row)s AND ARRAY[totp_secret] = %(before)s::bytea[]
"""

SEEDS = EncryptedColumns(_SEEDS_ALLOWED, _SEEDS_AFTER, _SEEDS_REPLACE)
CERTIFICATES = EncryptedColumns(_CERTIFICATES_ALLOWED, _CERTIFICATES_AFTER, _CERTIFICATES_REPLACE)
WEBHOOK_SECRETS = EncryptedColumns(_SECRETS_ALLOWED, _SECRETS_AFTER, _SECRETS_REPLACE)
WEBHOOK_HEADERS = EncryptedColumns(_HEADERS_ALLOWED, _HEADERS_AFTER, _HEADERS_REPLACE)


async def is_allowed(conn: Conn, columns: EncryptedColumns, *, write: bool) -> bool:
    """Tell whether the login sees the encrypted values of all tenants, and, with `write`, may replace them."""
    statement = columns.allowed
    cursor = await conn.execute(statement, {"write": write})
    return await cursor.fetchone() == (True,)


async def rows_after(
    conn: Conn, columns: EncryptedColumns, tenant_id: TenantId, row_id: UUID, limit: int
) -> list[EncryptedRow]:
    """Fetch the next rows of all tenants, in order of their ids."""
    statement = columns.after
    cursor = conn.cursor(row_factory=class_row(EncryptedRow), binary=True)
    await cursor.execute(statement, {"tenant": tenant_id, "row": row_id, "limit": limit})
    return await cursor.fetchall()


async def replace(conn: Conn, columns: EncryptedColumns, before: EncryptedRow, after: Sequence[bytes | None]) -> bool:
    """Put the same secrets, encrypted otherwise, in place of `before`; False when it is not `before` any more."""
    statement = columns.replace
    cursor = await conn.execute(
        statement,
        {"tenant": before.tenant_id, "row": before.row_id, "before": before.values, "after": list(after)},
    )
    return cursor.rowcount == 1
