"""The service decides which traces are recorded: a client may decline or sometimes ask, never insist."""

from collections.abc import Mapping

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from fe.identifiers import TenantId
from fe.limits import TokenBucket
from fe.monitoring.spans import RecordedTracing
from fe.monitoring.tracing import Span
from tests.tracing.collector import traceparent

TRACE = "0af7651916cd43dd8448eb211c80319c"
NAME = "POST /invoices"


class Watched:
    """Tracing whose lots are drawn by hand, and whose clock stands still."""

    def __init__(self, *, ratio: float = 0.0, asked: float = 1.0, lot: float = 0.5) -> None:
        self.exporter = InMemorySpanExporter()
        self.now, self.lot = 0.0, lot
        provider = TracerProvider(ALWAYS_ON, shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        self.tracing = RecordedTracing(
            provider.get_tracer("test"),
            ratio,
            TokenBucket.per_second(asked),
            draw=lambda: self.lot,
            clock=lambda: self.now,
        )

    def ask(self, headers: Mapping[str, str] | None = None, tenant: int = 1) -> Span:
        with self.tracing.request(NAME, headers or {}, TenantId(tenant)) as span:
            return span

    @property
    def spans(self) -> list[ReadableSpan]:
        return list(self.exporter.get_finished_spans())

    @property
    def trace_ids(self) -> list[str]:
        return [f"{span.context.trace_id:032x}" for span in self.spans if span.context]


def test_requests_without_a_parent_are_recorded_by_lot() -> None:
    watched = Watched(ratio=0.01, lot=0.0099)
    watched.ask()
    watched.lot = 0.01
    watched.ask()

    assert len(watched.spans) == 1
    assert watched.spans[0].parent is None


def test_none_are_recorded_of_a_share_of_nothing_and_all_of_one() -> None:
    nothing, all_of_them = Watched(ratio=0.0, lot=0.0), Watched(ratio=1.0, lot=0.999999)
    nothing.ask()
    all_of_them.ask()

    assert (len(nothing.spans), len(all_of_them.spans)) == (0, 1)


def test_a_parent_that_is_recorded_is_gone_on_with() -> None:
    watched = Watched()
    span = watched.ask({"traceparent": traceparent(TRACE), "tracestate": "theirs=a1,other=b"})

    (recorded,) = watched.spans
    assert watched.trace_ids == [TRACE]
    assert recorded.parent is not None
    assert f"{recorded.parent.span_id:016x}" == "00f067aa0ba902b7"
    assert span.trace_id == TRACE
    assert recorded.context is not None
    assert span.context == f"00-{TRACE}-{recorded.context.span_id:016x}-01 theirs=a1,other=b"


def test_a_parent_that_is_not_recorded_is_not_gone_on_with_whatever_the_lot_says() -> None:
    watched = Watched(ratio=1.0, lot=0.0)
    span = watched.ask({"traceparent": traceparent(TRACE, sampled=False)})

    assert (watched.spans, span.context, span.headers()) == ([], None, [])


def test_who_asks_too_often_is_recorded_like_others_and_in_a_trace_of_our_own() -> None:
    """However many traces it makes up, and whatever their ids; a tenant that asks takes nothing from another."""
    watched = Watched(ratio=0.01, asked=2.0)
    low = f"{1:032x}"  # what samplers that go by the trace id take always
    for _ in range(100):
        watched.ask({"traceparent": traceparent(low)})

    assert watched.trace_ids == [low] * 4  # two seconds' worth at once
    watched.now = 1.0
    for _ in range(100):
        watched.ask({"traceparent": traceparent(low)})
    assert watched.trace_ids == [low] * 6
    watched.ask({"traceparent": traceparent(TRACE)}, tenant=2)
    assert watched.trace_ids == [low] * 6 + [TRACE]
    watched.lot = 0.0
    watched.ask({"traceparent": traceparent(low), "tracestate": "theirs=1"})
    last = watched.spans[-1]
    assert watched.trace_ids[-1] != low
    assert last.parent is None
    assert [(link.context.trace_id, len(link.context.trace_state)) for link in last.links] == [(1, 0)]


def test_nobody_can_ask_where_that_is_switched_off() -> None:
    watched = Watched(asked=0.0)
    for _ in range(10):
        watched.ask({"traceparent": traceparent(TRACE)})
        watched.now += 1000.0

    assert watched.spans == []


#: Malformed traceparents, by W3C Trace Context, 3.2.
MALFORMED = (
    "",
    "garbage",
    "00",
    f"00-{TRACE}-00f067aa0ba902b7",
    f"00-{TRACE}-00f067aa0ba902b7-1",
    f"00-{TRACE}-00f067aa0ba902b7-01-more",
    f"00-{TRACE}-00f067aa0ba902b7-zz",
    f"00-{TRACE.upper()}-00f067aa0ba902b7-01",
    f"00-{TRACE}-00F067AA0BA902B7-01",
    f"00-{'0' * 32}-00f067aa0ba902b7-01",
    f"00-{TRACE}-{'0' * 16}-01",
    f"00-{TRACE[:-1]}-00f067aa0ba902b7-01",
    f"ff-{TRACE}-00f067aa0ba902b7-01",
    f"00-{TRACE}-00f067aa0ba902b7-01, 00-{TRACE}-00f067aa0ba902b7-01",
    f"00-{TRACE}-00f067aa0ba902b7-01\n00-{TRACE}-00f067aa0ba902b7-01",
    f"00_{TRACE}_00f067aa0ba902b7_01",
    "00-" + "1" * 100_000,
)


@pytest.mark.parametrize("header", MALFORMED)
def test_what_is_no_traceparent_is_as_if_there_were_none(header: str, caplog: pytest.LogCaptureFixture) -> None:
    watched = Watched(ratio=1.0)
    watched.ask({"traceparent": header, "tracestate": "theirs=a1"})

    (recorded,) = watched.spans
    assert recorded.parent is None
    assert recorded.links == ()
    assert TRACE not in watched.trace_ids
    assert recorded.context is not None
    assert len(recorded.context.trace_state) == 0


def test_a_later_version_is_read_as_far_as_it_is_known() -> None:
    watched = Watched()
    watched.ask({"traceparent": f"01-{TRACE}-00f067aa0ba902b7-01-more"})

    assert watched.trace_ids == [TRACE]


#: With each of these the parent counts but not the state: malformed, or too long to keep.
BAD_STATES = ("no pairs", "a=" + "x" * 600, "UPPER=1", "a=1,a=2", "a=\x7f", "x" * 100_000)


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_tracestate_that_is_none_does_no_harm(state: str) -> None:
    watched = Watched()
    span = watched.ask({"traceparent": traceparent(TRACE), "tracestate": state})

    assert span.trace_id == TRACE
    assert span.context is not None
    assert len(span.context) < 600
    assert "\n" not in span.context
