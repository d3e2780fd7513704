"""Rejections by the authority's code, and by the process that signed: for alerts on a rise."""

import time
from collections.abc import Callable, Sequence
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge

#: How long a tenant counts after a rejection.
_WINDOW_SECONDS = 600.0

#: Most codes with a series of their own, tenants counted per code, and processes.
_CODES, _TENANTS, _PROCESSES = 100, 10_000, 64
_OTHER = "other"


class Rejections:
    """Counts the rejections that one process writes. Tenants are counted, never named."""

    def __init__(self, registry: CollectorRegistry, clock: Callable[[], float] = time.monotonic) -> None:
        self.by_code = Counter(
            "fe_rejections_total", "Rejections by the authority's code", ("environment", "code"), registry=registry
        )
        self.by_signer = Counter(
            "fe_rejections_signed_by_total",
            "Rejections by the process that signed what was rejected",
            ("environment", "process"),
            registry=registry,
        )
        self.tenants = Gauge(
            "fe_rejected_tenants",
            "Tenants of which documents were rejected under a code within ten minutes, as this process saw it",
            ("environment", "code"),
            registry=registry,
        )
        self._clock = clock
        self._codes: set[str] = set()
        self._processes: set[str] = set()
        #: By environment and code: when each tenant had its last one.
        self._seen: dict[tuple[str, str], dict[int, float]] = {}

    def count(self, environment: str, tenant_id: int, codes: Sequence[str], signed_by: str | None) -> None:
        """Count one rejected document under each of its codes."""
        for code in codes:
            known = _bounded(code, self._codes, _CODES)
            self.by_code.labels(environment, known).inc()
            seen = self._seen.get((environment, known))
            if seen is None:
                seen = self._seen[environment, known] = {}
                self.tenants.labels(environment, known).set_function(partial(self._count, seen))
            if tenant_id in seen or len(seen) < _TENANTS:
                seen[tenant_id] = self._clock()
        if signed_by is not None:
            self.by_signer.labels(environment, _bounded(signed_by, self._processes, _PROCESSES)).inc()

    def _count(self, seen: dict[int, float]) -> float:
        # Asked for by the thread that serves metrics, while the loop may put more in.
        since = self._clock() - _WINDOW_SECONDS
        for tenant_id, at in list(seen.items()):
            if at < since:
                seen.pop(tenant_id, None)
        return float(len(seen))


def _bounded(name: str, known: set[str], limit: int) -> str:
    if name not in known and len(known) >= limit:
        return _OTHER
    known.add(name)
    return name
