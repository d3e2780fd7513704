"""Every metric there is, by the names ops/grafana uses. Never a tenant, key, number, track id or text as a label."""

from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_SLOW = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0)


@contextmanager
def serve_metrics(metrics: "Metrics", bind: tuple[str, int]) -> Iterator[int]:
    """Serve /metrics on a port of its own while the block runs; yield the port (useful when 0 was asked for)."""
    server, thread = start_http_server(bind[1], addr=bind[0], registry=metrics.registry)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=2)


class Metrics:
    """The metrics of one process. Made once and passed in; tests make their own."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        own = self.registry
        self.http_requests = Counter(
            "fe_http_requests_total", "Requests answered", ("route", "method", "status"), registry=own
        )
        self.http_seconds = Histogram(
            "fe_http_request_seconds",
            "From the request's head to the end of the answer",
            ("route",),
            buckets=_FAST,
            registry=own,
        )
        self.http_in_flight = Gauge("fe_http_in_flight", "Requests in work", registry=own)
        self.http_shed = Counter("fe_http_shed_total", "Requests turned away with 503 under overload", registry=own)
        self.http_faults = Counter(
            "fe_http_connection_faults_total", "Connections ended by a fault of their own", ("kind",), registry=own
        )
        self.login = Counter("fe_login_total", "Login attempts", ("outcome",), registry=own)
        self.lockouts = Counter("fe_login_lockouts_total", "Lockouts begun", ("bucket",), registry=own)
        self.accepted = Counter(
            "fe_submissions_accepted_total", "Submissions answered 202", ("environment", "format"), registry=own
        )
        self.deduped = Counter("fe_submissions_deduped_total", "Repeats of a clientRequestId", ("body",), registry=own)
        self.verdicts = Counter(
            "fe_verdicts_total", "Ends of submissions", ("environment", "status", "type"), registry=own
        )
        self.verdict_seconds = Histogram(
            "fe_submission_verdict_seconds", "From 202 to the verdict", ("environment",), buckets=_SLOW, registry=own
        )
        self.steps = Counter("fe_steps_total", "Steps of the outbox booked", ("stage", "outcome"), registry=own)
        self.step_seconds = Histogram(
            "fe_step_seconds", "One step, claim to booking", ("stage",), buckets=_FAST, registry=own
        )
        self.leases_lost = Counter("fe_leases_lost_total", "Bookings refused by the fence", ("stage",), registry=own)
        self.outbox_rows = Gauge("fe_outbox_rows", "Rows waiting", ("stage", "environment"), registry=own)
        self.outbox_late = Gauge(
            "fe_outbox_oldest_late_seconds", "How late the oldest due row is", ("stage", "environment"), registry=own
        )
        self.actor_restarts = Counter(
            "fe_actor_restarts_total", "Actors restarted after a crash", ("actor",), registry=own
        )
        self.authority_requests = Counter(
            "fe_authority_requests_total",
            "Exchanges with the authority",
            ("operation", "host", "outcome"),
            registry=own,
        )
        self.authority_seconds = Histogram(
            "fe_authority_request_seconds",
            "One exchange with the authority",
            ("operation",),
            buckets=_FAST,
            registry=own,
        )
        self.circuit_open = Gauge(
            "fe_authority_circuit_open", "1 while a host is left alone", ("environment", "host"), registry=own
        )
        self.rescued = Counter("fe_rows_rescued_total", "Rows freed from silent workers", ("stage",), registry=own)
        self.sign_seconds = Histogram(
            "fe_sign_seconds", "Making, checking and signing one document", buckets=_FAST, registry=own
        )
        self.loop_lag = Histogram(
            "fe_loop_lag_seconds", "How late the event loop runs a task that is due", buckets=_FAST, registry=own
        )
        self.up = Gauge("fe_up", "1 while the process serves", ("role", "version"), registry=own)

    def observe_authority(self, operation: str, host: str, outcome: str, seconds: float) -> None:
        """Take note of one exchange with the authority."""
        self.authority_requests.labels(operation, host, outcome).inc()
        self.authority_seconds.labels(operation).observe(seconds)
