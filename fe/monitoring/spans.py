"""Traces as they are recorded: by OpenTelemetry, and sent to a collector (OTLP over HTTP) from a thread of its own.

The loop of the service never waits for it: what has ended is put into a bounded queue, and what the queue has no room
for is thrown away. Who sends a `traceparent` proposes; what is recorded is decided here (docs/decisions/tracing.md).
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

#: So many spans wait for the collector at most, about 2 kB each; so many are sent at once, at least so often.
_QUEUE: Final = 4096
_BATCH: Final = 512
_DELAY_MS: Final = 1000
#: One batch may take so long, its repetitions included; and all that is left, when the process ends.
EXPORT_SECONDS: Final = 5.0
LAST_SECONDS: Final = 2.0

#: No attribute of ours is longer.
_LIMITS: Final = SpanLimits(max_span_attributes=32, max_links=1, max_events=0, max_span_attribute_length=128)

_W3C: Final = TraceContextTextMapPropagator()


class Recorded(Span):
    """A span that is recorded."""

    def __init__(self, span: trace.Span) -> None:
        """Take the span; its context is written down at once, because threads and rows outlive it."""
        self._span = span
        carrier: dict[str, str] = {}
        _W3C.inject(carrier, trace.set_span_in_context(span, Context()))
        self.context = " ".join(filter(None, (carrier["traceparent"], carrier.get("tracestate"))))

    def annotate(self, **about: str | int) -> None:
        """Say more of it."""
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
        """As Tracing.request. A `traceparent` that is none counts as none (W3C Trace Context, 3.2)."""
        parent = trace.get_current_span(_W3C.extract(headers, Context())).get_span_context()
        context, links = Context(), []
        if parent.is_valid and not parent.trace_flags.sampled:
            yield NO_SPAN
            return
        if parent.is_valid and self._asked is not None and self._asked.try_take(tenant_id, self._clock()):
            context = trace.set_span_in_context(trace.NonRecordingSpan(parent), context)
        elif self._draw() < self._ratio:
            # By lot and not by its trace id, which the client chose; and for the same reason in a trace of our own.
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
        """As Tracing.step."""
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
        """As Tracing.exchange."""
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
        # What an error says may quote a document: of what goes wrong only the kind is told.
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
    """Counts what reaches the collector, and what does not."""

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
    """Counts what has ended: what is neither sent nor lost of it waits, or found the queue full."""

    def __init__(self, exporter: SpanExporter, metrics: Metrics) -> None:
        super().__init__(_Counted(exporter, metrics), _QUEUE, _DELAY_MS, _BATCH, EXPORT_SECONDS * 1000)
        self._ended = metrics.spans.labels("ended")

    def on_end(self, span: ReadableSpan) -> None:
        self._ended.inc()
        super().on_end(span)


@asynccontextmanager
async def record_spans(settings: Settings, role: str, metrics: Metrics) -> AsyncIterator[RecordedTracing]:
    """Record while the block runs. At its end what waits is sent, as far as two seconds suffice; cancelled, too."""
    # A client's bad header is no event of ours, and it could write as many lines of these as it liked.
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
