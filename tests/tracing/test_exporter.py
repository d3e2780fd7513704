"""A collector that is away, refuses, or never answers costs spans, and nothing else."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import trio

from fe.config import ConfigError, Settings, load_settings
from fe.identifiers import TenantId
from fe.monitoring import spans, tracing_setup
from fe.monitoring.metrics import Metrics
from fe.monitoring.spans import record_spans
from fe.monitoring.tracing import Tracing
from tests.ports import free_port
from tests.tracing.collector import Collector, collecting
from tests.waiting import PATIENCE, until

#: A queue that is full soon.
QUEUE, BATCH = 64, 16


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spans, "_QUEUE", QUEUE)
    monkeypatch.setattr(spans, "_BATCH", BATCH)
    monkeypatch.setattr(spans, "_DELAY_MS", 10)


def settings(url: str) -> Settings:
    return load_settings(tracing_url=url, tracing_ratio=1.0)


def begin(recorded: Tracing, count: int) -> None:
    for _ in range(count):
        with recorded.request("POST /invoices", {}, TenantId(1)):
            pass


def counted(metrics: Metrics, what: str) -> float:
    value = metrics.registry.get_sample_value("fe_trace_spans_total", {"what": what})
    assert value is not None
    return value


async def test_what_was_recorded_arrives_also_what_ended_last(collector: Collector) -> None:
    metrics = Metrics()
    async with record_spans(settings(collector.url), "http", metrics) as recorded:
        begin(recorded, 3)

    assert len(collector.spans) == 3
    assert {span.role for span in collector.spans} == {"http"}
    assert [counted(metrics, what) for what in ("ended", "sent", "lost")] == [3, 3, 0]


@contextmanager
def nobody() -> Iterator[str]:
    yield f"http://127.0.0.1:{free_port()}/v1/traces"


async def test_of_a_collector_that_is_away_or_refuses_no_more_is_heard_than_what_was_lost(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spans, "EXPORT_SECONDS", 0.05)
    collector.status = 503
    with nobody() as url:
        for where in (url, collector.url):
            metrics = Metrics()
            async with record_spans(settings(where), "http", metrics) as recorded:
                begin(recorded, 3)
                await until(lambda metrics=metrics: counted(metrics, "lost") == 3)  # type: ignore[misc]
            assert [counted(metrics, what) for what in ("ended", "sent")] == [3, 0]


async def test_a_collector_that_never_answers_holds_up_neither_work_nor_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The queue is bounded: what does not fit is thrown away, and no more is kept than fits."""
    monkeypatch.setattr(spans, "EXPORT_SECONDS", 10 * PATIENCE)
    monkeypatch.setattr(spans, "LAST_SECONDS", 0.1)
    metrics = Metrics()
    with collecting(held=True) as collector:
        with trio.fail_after(PATIENCE):
            async with record_spans(settings(collector.url), "http", metrics) as recorded:
                begin(recorded, 1)
                await until(lambda: collector.requests)
                begin(recorded, 1000)
        assert counted(metrics, "ended") == 1001
        assert (counted(metrics, "sent"), collector.spans) == (0, [])
        collector.answering.set()
        await until(lambda: counted(metrics, "sent") + counted(metrics, "lost") == 1 + QUEUE)


async def test_a_cancelled_process_sends_what_it_has(collector: Collector) -> None:
    with trio.CancelScope() as scope:
        async with record_spans(settings(collector.url), "http", Metrics()) as recorded:
            begin(recorded, 2)
            scope.cancel()
            await trio.sleep_forever()

    assert len(collector.spans) == 2


async def test_no_proxy_and_no_credentials_that_lie_around_are_used(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    async with record_spans(settings(collector.url), "http", Metrics()) as recorded:
        begin(recorded, 1)

    assert len(collector.spans) == 1


async def test_a_step_whose_error_quotes_a_document_tells_its_kind_alone(collector: Collector) -> None:
    async with record_spans(settings(collector.url), "http", Metrics()) as recorded:
        with (
            pytest.raises(ValueError, match="Colmado"),
            recorded.request("POST /invoices", {}, TenantId(1)),
        ):
            raise ValueError("Colmado Dos Hermanos")

    (only,) = collector.spans
    assert only.is_error
    assert only.about["error.type"] == "ValueError"
    assert "Colmado" not in repr(only)


def test_without_the_extra_nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = settings("http://127.0.0.1:4318/v1/traces")
    tracing_setup.require_tracing(wanted)
    monkeypatch.delitem(sys.modules, "fe.monitoring.spans")
    monkeypatch.setitem(sys.modules, "opentelemetry", None)

    message = "FE_TRACING_URL is set, and opentelemetry is not installed: install the `tracing` extra"
    with pytest.raises(ConfigError, match=message):
        tracing_setup.require_tracing(wanted)
    tracing_setup.require_tracing(load_settings())


def test_off_loads_nothing() -> None:
    """The library takes 0.1 s and 20 MB, and starts threads."""
    loaded = "import sys, fe.main; sys.exit(any(name.startswith('opentelemetry') for name in sys.modules))"

    assert subprocess.run([sys.executable, "-c", loaded], timeout=300).returncode == 0
