"""Quotas: how many documents (and bytes of them), or calls of its own webhook, one tenant may ask for in a while."""

import math
from collections import OrderedDict
from dataclasses import dataclass

from fe.config import Settings
from fe.http import messages
from fe.http.errors import ApiError
from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics

_MINUTE, _DAY = 60.0, 86_400.0


@dataclass(frozen=True, slots=True)
class Quota:
    """What one tenant may hand in to one process, validating included; 0: as much as it likes.

    Of calls it asks for, each counts as a document without bytes.
    """

    documents_a_minute: int = 0
    documents_a_day: int = 0
    bytes_a_minute: int = 0
    bytes_a_day: int = 0

    @classmethod
    def from_settings(cls, settings: Settings) -> "Quota":
        """What FE_TENANT_* say."""
        return cls(
            documents_a_minute=settings.tenant_documents_a_minute,
            documents_a_day=settings.tenant_documents_a_day,
            bytes_a_minute=settings.tenant_bytes_a_minute,
            bytes_a_day=settings.tenant_bytes_a_day,
        )


NO_QUOTA = Quota()


@dataclass(slots=True)
class _Span:
    """What came in since `began`, and how much may come until `began` + `seconds`."""

    began: float
    seconds: float
    max_documents: int
    max_bytes: int
    documents: int = 0
    bytes: int = 0

    def wait(self, size: int, now: float) -> float:
        """Seconds until one more document of `size` bytes may come: 0 when it may now."""
        if now >= self.began + self.seconds:
            self.began, self.documents, self.bytes = now, 0, 0
        # The first of a span always fits: else a document larger than the whole quota were told to come again for ever.
        full = self.documents and (
            (self.max_documents and self.documents >= self.max_documents)
            or (self.max_bytes and self.bytes + size > self.max_bytes)
        )
        return self.began + self.seconds - now if full else 0.0


class Quotas:
    """Counts what each tenant hands in to this process, in spans that begin with its first document.

    A tenant is forgotten when its day is over, and no sooner: however many there are, none begins a second day's worth.
    """

    def __init__(self, quota: Quota, metrics: Metrics, *, limit: str = "tenant_quota") -> None:
        """Take what one may have; `limit` names it in the metrics (fe/monitoring/zeros.py)."""
        self._quota = quota
        self._limit = limit
        self._metrics = metrics
        self._on = quota != NO_QUOTA
        #: In the order in which their days began.
        self._spans: OrderedDict[TenantId, tuple[_Span, _Span]] = OrderedDict()

    def take(self, tenant_id: TenantId, size: int, now: float) -> None:
        """Count a document of `size` bytes at `now` (seconds of a clock that only moves forward).

        Raises ApiError (429) when the tenant has had its quota; `Retry-After` says when the next begins.
        """
        if not self._on:
            return
        self._forget_days_that_are_over(now)
        spans = self._spans.get(tenant_id)
        if spans is None:
            quota = self._quota
            spans = self._spans[tenant_id] = (
                _Span(now, _MINUTE, quota.documents_a_minute, quota.bytes_a_minute),
                _Span(now, _DAY, quota.documents_a_day, quota.bytes_a_day),
            )
        wait = max(spans[0].wait(size, now), spans[1].wait(size, now))
        if wait:
            self._metrics.share_refused.labels(self._limit).inc()
            raise ApiError(429, messages.TOO_MANY_REQUESTS, (("Retry-After", str(math.ceil(wait))),))
        for span in spans:
            span.documents += 1
            span.bytes += size

    def _forget_days_that_are_over(self, now: float) -> None:
        while self._spans and now >= next(iter(self._spans.values()))[1].began + _DAY:
            self._spans.popitem(last=False)

    def add(self, tenant_id: TenantId, documents: int) -> None:
        """Count the other documents of a body that `take` let in: they may pass the quota; what follows waits."""
        for span in self._spans.get(tenant_id, ()):
            span.documents += documents
