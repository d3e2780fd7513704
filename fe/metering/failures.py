"""Log events of failures in metering."""

import structlog

from fe.identifiers import TenantId
from fe.store.records.failures import Failures

_log = structlog.get_logger(__name__)


def failures_of_metering() -> Failures:
    """Those of one turn."""
    return Failures(_note)


def _note(error: Exception, tenant_id: TenantId | None) -> None:
    _log.error("a part of metering failed, the others go on", error=error, tenant_id=tenant_id)
