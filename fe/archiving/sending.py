"""Objects of the archive on their way to a client: failures of the store are counted and logged."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import structlog

from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics
from fe.objects.storage import ObjectStore, StorageError
from fe.objects.streaming import begin_stream

_log = structlog.get_logger(__name__)


async def begin_sending(
    store: ObjectStore, metrics: Metrics, tenant_id: TenantId, name: str, start: int = 0, end: int | None = None
) -> AsyncGenerator[bytes, None]:
    """Read the first part of an object; return it and the rest as a stream. Both raise StorageError."""
    try:
        parts = await begin_stream(store, name, start, end)
    except StorageError as error:
        _failed(metrics, tenant_id, name, error)
        raise
    return _rest(parts, metrics, tenant_id, name)


async def _rest(
    parts: AsyncGenerator[bytes, None], metrics: Metrics, tenant_id: TenantId, name: str
) -> AsyncGenerator[bytes, None]:
    async with aclosing(parts):
        try:
            async for part in parts:
                yield part
        except StorageError as error:
            _failed(metrics, tenant_id, name, error)
            raise


def _failed(metrics: Metrics, tenant_id: TenantId, name: str, error: StorageError) -> None:
    metrics.archive_failures.labels(error.fault).inc()
    _log.error("an object of the archive cannot be sent", tenant=tenant_id, object=name, error=error)
