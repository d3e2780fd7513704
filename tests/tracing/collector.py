"""A collector of OpenTelemetry's protocol (OTLP over HTTP), over a real socket, that reads what it is sent."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Received:
    """A span as the collector knows it; ids in hexadecimal."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: int
    is_error: bool
    about: dict[str, Any]
    role: str
    state: str
    links: tuple[str, ...] = ()


@dataclass
class Collector:
    """The spans received. With `status` it refuses; while `held`, it accepts and does not answer."""

    url: str = ""
    status: int = 200
    spans: list[Received] = field(default_factory=list)
    requests: int = 0
    answering: threading.Event = field(default_factory=threading.Event)

    def named(self, name: str) -> list[Received]:
        return [span for span in list(self.spans) if span.name == name]

    def names(self) -> set[str]:
        return {span.name for span in list(self.spans)}


def read(body: bytes) -> Iterator[Received]:
    for of_process in ExportTraceServiceRequest.FromString(body).resource_spans:
        role = next(one.value.string_value for one in of_process.resource.attributes if one.key == "fe.role")
        for scope in of_process.scope_spans:
            for span in scope.spans:
                yield Received(
                    span.name,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    span.kind,
                    span.status.code == 2,
                    {one.key: _value(one.value) for one in span.attributes},
                    role,
                    span.trace_state,
                    tuple(link.trace_id.hex() for link in span.links),
                )


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value"))


@contextmanager
def collecting(*, held: bool = False) -> Iterator[Collector]:
    """A collector on a free port of the loopback interface, until the block ends."""
    collector = Collector()
    if not held:
        collector.answering.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.requests += 1
            collector.answering.wait()
            if collector.status == 200:
                collector.spans.extend(read(body))
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass  # the sender has left

    with Server(("127.0.0.1", 0), Handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_address[1]}/v1/traces"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield collector
        finally:
            collector.answering.set()
            server.shutdown()
            thread.join()


def traceparent(
    trace_id: str = "1234567890abcdef" * 2, *, parent: str = "00f067aa0ba902b7", sampled: bool = True
) -> str:
    return f"00-{trace_id}-{parent}-{'01' if sampled else '00'}"


def children(spans: Sequence[Received], of: Received) -> dict[str, int]:
    """How many spans of each name hang on one."""
    names = [span.name for span in spans if span.parent_id == of.span_id]
    return {name: names.count(name) for name in names}
