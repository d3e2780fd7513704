"""Recording of traces by OpenTelemetry, sent to a collector (OTLP over HTTP) from a thread of its own.

The event loop never waits for it: ended spans go into a bounded queue and are dropped when it is full. A client's
`traceparent` is a proposal; this module decides what is recorded (docs/decisions/tracing.md).
"""

import logging
import os
import random
import socket
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import requests
import structlog
import trio
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from fe import __version__
from fe.config import Settings
from fe.identifiers import TenantId
from fe.limits import TokenBucket
from fe.monitoring.metrics import Metrics
from fe.monitoring.tracing import NO_SPAN, Span, TracedRow, Tracing

#: Most spans that wait for the collector, about 2 kB each; the size of a batch; and the longest wait.
_QUEUE: Final = 4096
_BATCH: Final = 512
_DELAY_MS: Final = 1000
#: Timeouts: of one batch with its retries, and of the rest when the process ends.
EXPORT_SECONDS: Final = 5.0
LAST_SECONDS: Final = 2.0

#: No attribute of ours is longer.
_LIMITS: Final = SpanLimits(max_span_attributes=32, max_links=1, max_events=0, max_span_attribute_length=128)

_W3C: Final = TraceContextTextMapPropagator()


class Recorded(Span):
    """A span that is recorded."""

    def __init__(self, span: trace.Span) -> None:
        """Copies the span's context at once, because threads and rows outlive the span."""
        self._span = span
        carrier: dict[str, str] = {}
        _W3C.inject(carrier, trace.set_span_in_context(span, Context()))
        self.context = " ".join(filter(None, (carrier["traceparent"], carrier.get("tracestate"))))

    def annotate(self, **about: str | int) -> None:
        """Add attributes."""
        for name, value in about.items():
            self._span.set_attribute(f"fe.{name}", value)


class RecordedTracing(Tracing):
    """Begins spans that are recorded."""

    is_on = True

    def __init__(
        self,
        tracer: trace.Tracer,
        ratio: float,
        asked: TokenBucket[TenantId] | None,
        *,
        draw: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the share of requests that are sampled at random, and the limit of traces that each tenant asks for."""
        self._tracer = tracer
        self._ratio = ratio
        self._asked = asked
        self._draw = draw
        self._clock = clock

    @contextmanager
    def request(self, name: str, headers: Mapping[str, str], tenant_id: TenantId) -> Iterator[Span]:
        """Record a request; see Tracing.request. A malformed `traceparent` is ignored (W3C Trace Context, 3.2)."""
        parent = trace.get_current_span(_W3C.extract(headers, Context())).get_span_context()
        context, links = Context(), []
        if parent.is_valid and not parent.trace_flags.sampled:
            yield NO_SPAN
            return
        if parent.is_valid and self._asked is not None and self._asked.try_take(tenant_id, self._clock()):
            context = trace.set_span_in_context(trace.NonRecordingSpan(parent), context)
        elif self._draw() < self._ratio:
            # At random, not by the trace id, which the client chose; for the same reason in a trace of our own.
            links = [Link(_without_state(parent))] if parent.is_valid else []
        else:
            yield NO_SPAN
            return
        method, _, route = name.partition(" ")
        about: dict[str, str | int] = {"http.request.method": method, "http.route": route, "fe.tenant": int(tenant_id)}
        with self._current(name, SpanKind.SERVER, context, about, links) as span:
            yield span

    @contextmanager
    def step(self, name: str, context: str | None, work: TracedRow, *, of: str = "submission") -> Iterator[Span]:
        """Record a step; see Tracing.step."""
        if context is None:
            yield NO_SPAN
            return
        traceparent, _, tracestate = context.partition(" ")
        parent = _W3C.extract({"traceparent": traceparent, "tracestate": tracestate}, Context())
        about: dict[str, str | int] = {
            "fe.tenant": int(work.tenant_id),
            f"fe.{of}": str(work.subject),
            "fe.attempt": work.attempt,
        }
        with self._current(name, SpanKind.CONSUMER, parent, about) as span:
            yield span

    def exchange(self, name: str, seconds: float, **about: str) -> None:
        """Record an exchange; see Tracing.exchange."""
        if not trace.get_current_span().is_recording():
            return
        ended = time.time_ns()
        span = self._tracer.start_span(
            name,
            kind=SpanKind.CLIENT,
            attributes={f"fe.{key}": value for key, value in about.items()},
            start_time=ended - round(seconds * 1e9),
        )
        span.end(ended)

    @contextmanager
    def _current(
        self,
        name: str,
        kind: SpanKind,
        parent: Context,
        about: Mapping[str, str | int],
        links: Sequence[Link] = (),
    ) -> Iterator[Span]:
        span = self._tracer.start_span(name, parent, kind, about, links)
        recorded = Recorded(span)
        # An error message may quote a document: record only its type.
        with (
            structlog.contextvars.bound_contextvars(trace_id=recorded.trace_id),
            trace.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False),
        ):
            try:
                yield recorded
            except BaseException as error:
                span.set_status(Status(StatusCode.ERROR))
                span.set_attribute("error.type", type(error).__name__)
                raise


def _without_state(parent: SpanContext) -> SpanContext:
    return SpanContext(parent.trace_id, parent.span_id, is_remote=True, trace_flags=parent.trace_flags)


class _Counted(SpanExporter):
    """Counts spans that reach the collector and spans that do not."""

    def __init__(self, exporter: SpanExporter, metrics: Metrics) -> None:
        self._exporter = exporter
        self._sent, self._lost = metrics.spans.labels("sent"), metrics.spans.labels("lost")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        (self._sent if result is SpanExportResult.SUCCESS else self._lost).inc(len(spans))
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


class _Processor(BatchSpanProcessor):
    """Counts ended spans; those neither sent nor lost wait, or found the queue full."""

    def __init__(self, exporter: SpanExporter, metrics: Metrics) -> None:
        super().__init__(_Counted(exporter, metrics), _QUEUE, _DELAY_MS, _BATCH, EXPORT_SECONDS * 1000)
        self._ended = metrics.spans.labels("ended")

    def on_end(self, span: ReadableSpan) -> None:
        self._ended.inc()
        super().on_end(span)


@asynccontextmanager
async def record_spans(settings: Settings, role: str, metrics: Metrics) -> AsyncIterator[RecordedTracing]:
    """Record while the block runs. At its end, also cancelled, send waiting spans for up to two seconds."""
    # A client could fill the log with bad headers.
    logging.getLogger("opentelemetry.trace").setLevel(logging.ERROR)
    session = requests.Session()
    session.trust_env = False  # no proxy and no credentials that happen to lie around
    exporter = OTLPSpanExporter(settings.tracing_url, timeout=EXPORT_SECONDS, session=session)
    processor = _Processor(exporter, metrics)
    about = {
        "service.name": "fe",
        "service.version": __version__,
        "service.instance.id": f"{socket.gethostname()}:{os.getpid()}",
        "fe.role": role,
    }
    provider = TracerProvider(ALWAYS_ON, Resource(about), shutdown_on_exit=False, span_limits=_LIMITS)
    provider.add_span_processor(processor)
    try:
        yield RecordedTracing(
            provider.get_tracer("fe", __version__),
            settings.tracing_ratio,
            TokenBucket.per_second(settings.tracing_asked),
        )
    finally:
        with trio.move_on_after(LAST_SECONDS, shield=True) as patience:
            await trio.to_thread.run_sync(processor.shutdown, abandon_on_cancel=True)
        if patience.cancelled_caught:
            # Its thread waits for the collector, and the end of the process does not wait for its thread.
            exporter.shutdown()  # type: ignore[no-untyped-call]  # the library leaves it untyped
