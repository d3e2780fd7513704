"""From a number or a line of the log to the trace it came from; and what a connection leaves to its next request."""

import json
import logging
from collections.abc import Iterator

import pytest
import trio
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import ALWAYS_ON
from prometheus_client.openmetrics.exposition import generate_latest

from fe.limits import TokenBucket
from fe.monitoring.log import LINES
from fe.monitoring.spans import RecordedTracing
from fe.store.postgres.db import Database
from tests.http.front import Running, make_key, make_tenant, start_front, structured
from tests.tracing.collector import traceparent
from tests.waiting import until

SECONDS = "fe_http_request_seconds_bucket"
TRACE = "0af7651916cd43dd8448eb211c80319c"


def shown(front: Running) -> list[str]:
    text: bytes = generate_latest(front.metrics.registry)  # type: ignore[no-untyped-call]  # the library leaves it so
    return text.decode().splitlines()


@pytest.fixture
def told() -> Iterator[list[dict[str, str]]]:
    """The lines of the submission log."""
    lines: list[dict[str, str]] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(json.loads(record.getMessage()))

    logger, handler = logging.getLogger(LINES), Kept()
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield lines
    logger.removeHandler(handler)
    logger.setLevel(before)


@pytest.mark.parametrize("fast_path", [True, False])
async def test_histograms_and_log_lead_to_the_trace_and_to_none_from_the_next_request(
    db: Database, front_db: Database, told: list[dict[str, str]], fast_path: bool
) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(ALWAYS_ON, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracing = RecordedTracing(provider.get_tracer("test"), 0.0, TokenBucket.per_second(1.0))
    async with trio.open_nursery() as nursery:
        front = await start_front(nursery, front_db, tracing=tracing, submission_log=1.0, fast_path=fast_path)
        key = await make_key(db, await make_tenant(db))
        async with front.client(await front.token(key)) as client:
            traced = await client.post("/invoices", json=structured(), headers={"traceparent": traceparent(TRACE)})
            example = f'# {{request_id="{traced.headers["X-Request-Id"]}",trace_id="{TRACE}"}}'
            # It is measured when it has been answered.
            await until(lambda: any(example in line for line in shown(front) if line.startswith(SECONDS)))
            plain = await client.post("/invoices", json=structured())
        nursery.cancel_scope.cancel()
    assert (traced.status_code, plain.status_code) == (202, 202)

    assert [line.get("trace_id") for line in told] == [TRACE, None]
    (span,) = exporter.get_finished_spans()
    assert span.attributes is not None
    assert span.attributes["fe.submission"] == told[0]["submission"]
