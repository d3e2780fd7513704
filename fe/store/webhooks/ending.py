"""Sequences and certificates near their end, of tenants with an endpoint for such events."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from psycopg.rows import class_row

from fe.identifiers import CertificateId, TenantId
from fe.store.postgres.db import Conn
from fe.store.records.certificates import HAS_NO_RENEWAL
from fe.store.records.sequences import VOID_COLUMNS, GoesOn


@dataclass(frozen=True, slots=True)
class EndingSequence(GoesOn):
    """An active sequence that runs low or ends soon. `current_number` is the next one; `max_number` + 1: used up."""

    tenant_id: TenantId
    environment: str
    prefix: str
    min_number: int
    max_number: int
    current_number: int
    expire_at: datetime | None
    #: '' of the one that a submission draws from by default.
    name: str = ""
    next_min: int | None = None
    next_max: int | None = None
    next_expire_at: datetime | None = None
    void_left: int = 0
    void_until: int | None = None


@dataclass(frozen=True, slots=True)
class EndingCertificate:
    """A certificate in use that ends soon; `email` is that of its user, None where it is the company's."""

    tenant_id: TenantId
    certificate_id: CertificateId
    email: str | None
    not_after: datetime


# A list, not a join: where an engine spreads one table over its nodes and keeps the other, they cannot be joined.
_WANTED = """{table}.tenant_id IN (SELECT e.tenant_id
                                     FROM webhook_endpoints AS e
                                    WHERE e.enabled AND e.removed_at IS NULL AND {wants})"""
_WANTS_SEQUENCES = _WANTED.format(table="q", wants="e.events && ARRAY['sequence.low', 'sequence.expiring']")
_WANTS_CERTIFICATES = _WANTED.format(table="c", wants="'certificate.expiring' = ANY (e.events)")

_SEQUENCES = f"""
    SELECT q.tenant_id, q.environment, left(q.prefix, 3) AS prefix, substr(q.prefix, 5) AS name, q.min_number,
           q.max_number, q.current_number, q.expire_at, q.next_min, q.next_max, q.next_expire_at,
           {VOID_COLUMNS}
      FROM sequences AS q
     WHERE q.is_active AND {_WANTS_SEQUENCES}
       AND ((q.max_number - q.current_number + 1) * 10 <= q.max_number - q.min_number + 1 OR q.expire_at < %(before)s)
     ORDER BY q.tenant_id, q.environment, q.prefix
"""


async def sequences(conn: Conn, now: datetime, within: timedelta) -> list[EndingSequence]:
    """Return sequences with at most a tenth of their own range left, or whose range expires `within` this time."""
    cursor = conn.cursor(row_factory=class_row(EndingSequence))
    await cursor.execute(_SEQUENCES, {"before": now + within})
    return await cursor.fetchall()


_CERTIFICATES = f"""
    SELECT c.tenant_id, c.certificate_id, u.email, c.not_after
      FROM certificates AS c
      LEFT JOIN users AS u ON u.tenant_id = c.tenant_id AND u.user_id = c.user_id
     WHERE c.retired_at IS NULL AND c.not_after < %(before)s AND {HAS_NO_RENEWAL} AND {_WANTS_CERTIFICATES}
     ORDER BY c.tenant_id, c.certificate_id
"""


async def certificates(conn: Conn, now: datetime, within: timedelta) -> list[EndingCertificate]:
    """Return certificates in use that expire `within` this time."""
    cursor = conn.cursor(row_factory=class_row(EndingCertificate))
    await cursor.execute(_CERTIFICATES, {"before": now + within})
    return await cursor.fetchall()
