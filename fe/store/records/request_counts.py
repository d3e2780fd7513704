"""Requests by tenant, environment and UTC day, and when keys were used: counted in memory, written in batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from fe.ecf.catalogue import Environment
from fe.identifiers import ApiKeyId, TenantId
from fe.store.postgres.arrays import days, int8s, moments, texts
from fe.store.postgres.db import Conn


@dataclass(slots=True)
class RequestCount:
    """Requests of one tenant, environment and day that are not in the database yet."""

    succeeded: int = 0
    failed: int = 0
    bytes_in: int = 0
    bytes_out: int = 0


#: Tenant, environment, day.
CountKey = tuple[TenantId, Environment, date]
#: Tenant, key, when it was last used.
KeyUse = tuple[TenantId, ApiKeyId, datetime]

_FLUSH = """
    SELECT flush_requests(
      %(process)s, %(batch)s, %(tenants)s, %(environments)s, %(days)s, %(succeeded)s, %(failed)s, %(bytes_in)s,
      %(bytes_out)s, %(key_tenants)s, %(keys)s, %(used_at)s)
"""


async def flush(
    conn: Conn, process: UUID, batch: int, counts: Mapping[CountKey, RequestCount], uses: Sequence[KeyUse]
) -> bool:
    """Add a process's counts in one statement; False if that batch was added before.

    A process numbers its batches from 1 and starts no batch before the last one is confirmed. So a batch with an
    unknown result is written again as it was.
    """
    # Sorted, so that two processes that add at once lock rows in the same order.
    added = sorted(counts.items(), key=lambda item: item[0])
    used = sorted(uses)
    cursor = await conn.execute(
        _FLUSH,
        {
            "process": process,
            "batch": batch,
            "tenants": int8s([tenant for (tenant, _, _), _ in added]),
            "environments": texts([environment for (_, environment, _), _ in added]),
            "days": days([day for (_, _, day), _ in added]),
            "succeeded": int8s([count.succeeded for _, count in added]),
            "failed": int8s([count.failed for _, count in added]),
            "bytes_in": int8s([count.bytes_in for _, count in added]),
            "bytes_out": int8s([count.bytes_out for _, count in added]),
            "key_tenants": int8s([tenant for tenant, _, _ in used]),
            "keys": texts([key for _, key, _ in used]),
            "used_at": moments([at for _, _, at in used]),
        },
    )
    (is_new,) = await cursor.fetchone() or (False,)
    return bool(is_new)


_FORGET = "DELETE FROM request_flushes WHERE written_at < clock_timestamp() - interval '30 days'"


async def forget_processes(conn: Conn) -> None:
    """Forget which batches of processes were written that are long gone."""
    await conn.execute(_FORGET)
