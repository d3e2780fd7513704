"""All metrics. Labels are never a tenant, key, number, track id or free text."""

import math
import platform
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    ProcessCollector,
    disable_created_metrics,
    make_wsgi_app,
)
from prometheus_client.registry import Collector

from fe import __version__
from fe.ecf.catalogue import Environment
from fe.lifecycle import Status
from fe.monitoring.findings import Measurements
from fe.monitoring.rejections import Rejections
from fe.monitoring.stage_metrics import StageCollector

# Creation times would double every counter, and Prometheus detects resets by itself.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library leaves it untyped

#: The values of a series' labels, in the order in which its metric names them.
Labels = tuple[str, ...]

#: Finer than the others: between two bounds a quantile is drawn as a straight line, and p95 is what is looked at.
_ANSWERS = (
    *(0.001, 0.002, 0.003, 0.004, 0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.075),
    *(0.1, 0.15, 0.2, 0.3, 0.5, 1.0, 2.5, 10.0),
)

_FAST = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


def _spread(first: float, last: float) -> tuple[float, ...]:
    """Bounds that are close where a 95th percentile is looked for, from `first` to `last`, and coarse to an hour.

    Each is 5 % above the one before: see docs/decisions/one-p95.md. 60 s, which the objective names, is among them.
    """
    close = [first * 1.05**n for n in range(math.ceil(math.log(last / first, 1.05)) + 1)]
    below = [first / 1.3**n for n in range(1, math.ceil(math.log(first / 0.01, 1.3)))]
    above = [close[-1] * 1.3**n for n in range(1, math.ceil(math.log(3600 / close[-1], 1.3)))]
    return tuple(sorted({*(float(f"{bound:.4g}") for bound in (*below, *close, *above)), 60.0, 3600.0}))


#: From 202 to what the authority says: to its first answer, and to its verdict.
_FIRST_ANSWERS, _VERDICTS = _spread(0.1, 10.0), _spread(0.3, 30.0)


class _Exporter(ThreadingMixIn, WSGIServer):
    """HTTP server on an open socket, which processes share while one replaces another."""

    daemon_threads = True

    def __init__(self, listener: socket.socket, registry: CollectorRegistry) -> None:
        super().__init__(listener.getsockname()[:2], _Silent, bind_and_activate=False)
        self.socket.close()
        self.socket = listener
        listener.setblocking(False)  # the other process may be quicker to accept
        self.server_name, self.server_port = listener.getsockname()[:2]
        self.setup_environ()
        self.set_app(make_wsgi_app(registry))


class _Silent(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@contextmanager
def serve_metrics(metrics: "Metrics", listener: socket.socket) -> Iterator[None]:
    """Serve /metrics on a listening socket while the block runs, and close it."""
    server = _Exporter(listener, metrics.registry)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=2)


class _Deferred(Collector):
    """Work for the first scrape: it runs before the metrics are collected, and has none of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # scrapes run in threads
        self._waiting: list[Callable[[], None]] = []

    def add(self, work: Callable[[], None]) -> None:
        self._waiting.append(work)

    def describe(self) -> Iterable[Metric]:
        return ()

    def collect(self) -> Iterable[Metric]:
        with self._lock:
            while self._waiting:
                self._waiting.pop()()
        return ()


class Metrics:
    """The metrics of one process, made once and passed in. Series that start at 0: initial_series.py."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        own = self.registry
        self._deferred = _Deferred()
        own.register(self._deferred)  # before the metrics: a registry asks its collectors in this order
        ProcessCollector(registry=own)
        self.http_requests = Counter(
            "fe_http_requests_total", "Requests answered", ("route", "method", "status"), registry=own
        )
        self.http_seconds = Histogram(
            "fe_http_request_seconds",
            "From the request's head to the end of the answer",
            ("route",),
            buckets=_ANSWERS,
            registry=own,
        )
        self.http_in_flight = Gauge("fe_http_in_flight", "Requests in work", registry=own)
        self.http_connections = Gauge("fe_http_connections", "Open connections", registry=own)
        self.http_shed = Counter("fe_http_shed_total", "Requests turned away with 503 under overload", registry=own)
        self.share_refused = Counter(
            "fe_share_refused_total",
            "Refusals because one tenant or one address had its share or its quota",
            ("limit",),
            registry=own,
        )
        self.request_log_dropped = Counter(
            "fe_request_log_dropped_total",
            "Failed requests that the request log did not keep: floods, a full buffer, failed writes",
            registry=own,
        )
        self.apart_failures = Counter(
            "fe_large_document_failures_total",
            "Large documents whose process did not come to an end with them",
            ("reason",),
            registry=own,
        )
        self.http_faults = Counter(
            "fe_http_connection_faults_total", "Connections ended by a fault of their own", ("kind",), registry=own
        )
        self.login = Counter("fe_login_total", "Login attempts", ("outcome",), registry=own)
        self.lockouts = Counter("fe_login_lockouts_total", "Lockouts begun", ("bucket",), registry=own)
        self.decrypted = Counter(
            "fe_certificates_decrypted_total", "Private keys decrypted for signing", ("outcome",), registry=own
        )
        self.rates_assumed = Counter(
            "fe_excise_rates_assumed_total",
            "Receipts signed with a rate of an additional tax that is not known for their quarter",
            registry=own,
        )
        self.refused = Counter(
            "fe_input_refused_total", "Requests refused for what is in them", ("reason",), registry=own
        )
        self.accepted = Counter(
            "fe_submissions_accepted_total", "Submissions answered 202", ("environment", "format"), registry=own
        )
        self.received = Counter(
            "fe_received_total",
            "Documents of suppliers acknowledged; reason 0: received",
            ("environment", "reason"),
            registry=own,
        )
        self.deduped = Counter("fe_submissions_deduped_total", "Repeats of a clientRequestId", ("body",), registry=own)
        self.verdicts = Counter(
            "fe_verdicts_total", "Ends of submissions", ("environment", "status", "type"), registry=own
        )
        self.rejections = Rejections(own)
        self.numbers_held_elsewhere = Counter(
            "fe_numbers_held_elsewhere_total",
            "Numbers that a sequence gave and that another document of the issuer holds at the authority",
            ("environment",),
            registry=own,
        )
        self.first_answer_seconds = Histogram(
            "fe_submission_answer_seconds",
            "From 202 to the authority's first answer, a receipt or the verdict: the latency of GET /usage",
            ("environment",),
            buckets=_FIRST_ANSWERS,
            registry=own,
        )
        self.verdict_seconds = Histogram(
            "fe_submission_verdict_seconds",
            "From 202 to the verdict",
            ("environment",),
            buckets=_VERDICTS,
            registry=own,
        )
        self.handed_on = Counter(
            "fe_counterparty_deliveries_total",
            "Documents handed on to the other party of a receipt, by what came of it",
            ("kind", "outcome"),
            registry=own,
        )
        self.mails = Counter(
            "fe_mails_total", "Tries of mails to buyers, by what came of them", ("outcome",), registry=own
        )
        self.steps = StageCollector(own)
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
            ("environment", "operation", "host", "outcome"),
            registry=own,
        )
        self.authority_seconds = Histogram(
            "fe_authority_request_seconds",
            "One exchange with the authority",
            ("operation", "host"),
            buckets=_FAST,
            registry=own,
        )
        self._authority_series: dict[tuple[str, str, str, str], tuple[Counter, Histogram]] = {}
        self.circuit_open = Gauge(
            "fe_authority_circuit_open", "1 while the circuit of a host is open", ("environment", "host"), registry=own
        )
        self.rescued = Counter("fe_rows_rescued_total", "Rows freed from silent workers", ("stage",), registry=own)
        self.sign_seconds = Histogram(
            "fe_sign_seconds", "Making, checking and signing one document", buckets=_FAST, registry=own
        )
        self.webhook_attempts = Counter(
            "fe_webhook_attempts_total",
            "Calls of webhooks, by what became of the delivery",
            ("outcome", "result"),
            registry=own,
        )
        self.webhook_seconds = Histogram(
            "fe_webhook_attempt_seconds",
            "One call of a webhook, its answer included",
            ("result",),
            buckets=_FAST,
            registry=own,
        )
        self.loop_lag = Histogram(
            "fe_loop_lag_seconds", "How late the event loop runs a task that is due", buckets=_FAST, registry=own
        )
        self.spans = Counter(
            "fe_trace_spans_total",
            "Spans that have ended, reached the collector, or were lost on the way; what is none of the last two waits,"
            " or was too much for the queue",
            ("what",),
            registry=own,
        )
        self.up = Gauge("fe_up", "1 while the process serves", ("role", "version"), registry=own)
        self._watched(own)
        self._billing(own)
        self._alive(own)

    def before_first_scrape(self, work: Callable[[], None]) -> None:
        """Have the next scrape begin with `work`, in its thread."""
        self._deferred.add(work)

    def _watched(self, own: CollectorRegistry) -> None:
        """Create the gauges that each actor process reads from the database for all: use the maximum.

        A process that has not read yet exports nothing, so that the minimum can be used too.
        """
        self.dead_letters = Gauge("fe_dead_letters", "Rows that gave up", ("stage", "environment"), registry=own)
        self.dead_letters_age = Gauge(
            "fe_dead_letters_oldest_seconds", "How long ago the oldest gave up", ("stage", "environment"), registry=own
        )
        self.unknown = Gauge(
            "fe_outcomes_unknown", "Submissions that the authority may have or not", ("environment",), registry=own
        )
        self.unknown_age = Gauge(
            "fe_outcomes_unknown_oldest_seconds",
            "How long the oldest has been in doubt",
            ("environment",),
            registry=own,
        )
        self.awaited_age = Gauge(
            "fe_verdicts_awaited_oldest_seconds",
            "How long the submission that was received longest ago has waited for its verdict",
            ("environment",),
            registry=own,
        )
        self.webhook_rows = Gauge("fe_webhook_deliveries", "Deliveries of webhooks", ("state",), registry=own)
        self.webhook_late = _unread(
            "fe_webhook_oldest_late_seconds", "How late the oldest due delivery of a healthy endpoint is", own
        )
        self.given_up = Gauge(
            "fe_counterparty_given_up",
            "Deliveries to the other party of a receipt that gave up in the last week, and were not set going again",
            ("kind",),
            registry=own,
        )
        self.handing_age = Gauge(
            "fe_counterparty_oldest_seconds",
            "How long the oldest delivery to the other party of a receipt has been in its stage",
            ("stage",),
            registry=own,
        )
        self.mail_late = _unread("fe_mail_oldest_late_seconds", "How late the oldest due mail is", own)
        self.mails_given_up = _unread(
            "fe_mails_given_up", "Mails that gave up in the last week, and were not sent again", own
        )
        self.voidings_in_doubt = _unread(
            "fe_voidings_in_doubt", "Voidings of number ranges that an operator has to settle", own
        )
        self.archive_receipts = Counter("fe_archive_receipts_total", "Receipts in stored packages", registry=own)
        self.archive_failures = Counter(
            "fe_archive_failures_total",
            "Failures of the archive's store, of its time stamps, or of a chain (unexpected)",
            ("fault",),
            registry=own,
        )
        self.archive_unstored = _unread(
            "fe_archive_unstored_seconds", "Age of the oldest package that is planned and not stored", own
        )
        self.archive_unchecked = _unread(
            "fe_archive_unchecked_seconds",
            "Age of the oldest last check of a tenant's archive, or of one never checked",
            own,
        )
        self.archive_missing = _unread(
            "fe_archive_missing_receipts", "Receipts that should be archived and are in no stored package", own
        )
        self.archive_faults = _unread(
            "fe_archive_faults", "Objects of the archive that are absent or differ, and breaks of its chains", own
        )
        self.archive_refused = _unread("fe_archive_refused", "Evidence that the archive format has no place for", own)
        self.terms = Gauge(
            "fe_terms_running",
            "Unsent documents, declared contingencies and unreplaced paper receipts, by how far their term has run",
            ("environment", "term", "state"),
            registry=own,
        )
        self.webhook_endpoints = Gauge("fe_webhook_endpoints", "Endpoints of webhooks", ("state",), registry=own)
        self.pauses = _unread("fe_pauses", "Pauses in force", own)
        self.pauses_age = _unread("fe_pauses_oldest_seconds", "How long the oldest has been in force", own)
        self.certificates = Gauge(
            "fe_certificates",
            "Certificates in use of tenants at work, by time left",
            ("expires", "at_work_in"),
            registry=own,
        )
        self.sequences_left = Gauge(
            "fe_sequences", "Sequences of tenants at work, by numbers left", ("environment", "left"), registry=own
        )
        self.sequences_expiring = Gauge(
            "fe_sequences_expiring",
            "Sequences of tenants at work, by time left",
            ("environment", "expires"),
            registry=own,
        )
        self.table_bytes = Gauge("fe_table_bytes", "Size with indexes, on all nodes", ("table",), registry=own)
        self.table_rows = Gauge("fe_table_rows", "Rows by the server's estimate", ("table", "kind"), registry=own)
        self.node_answers = Gauge("fe_node_answers", "Whether a node of a cluster answers", ("node",), registry=own)
        self.node_bytes = Gauge("fe_node_bytes", "Size of our database on a node", ("node",), registry=own)
        self.node_shards = Gauge("fe_node_shards", "Shards of submissions on a node", ("node",), registry=own)
        self.database_connections = _unread("fe_database_connections", "Connections to the server", own)
        self.database_max_connections = _unread("fe_database_connections_most", "As many as it takes", own)
        self.oldest_transaction = _unread(
            "fe_database_oldest_transaction_seconds", "Age of the oldest transaction of any client", own
        )
        self.database_bytes = _unread("fe_database_bytes", "Size of our database", own)
        self.lock_waits = _unread("fe_database_lock_waits", "Sessions that wait for a lock", own)
        self.transaction_ids = _unread(
            "fe_database_transaction_ids_used",
            "Share of the transaction ids in use before rows must be frozen; at 1 the server takes no writes",
            own,
        )
        self.database_transactions = Gauge(
            "fe_database_transactions", "Transactions, counted by the server", ("end",), registry=own
        )
        self.database_blocks = Gauge(
            "fe_database_blocks", "Blocks read, counted by the server", ("source",), registry=own
        )
        self.deadlocks = _unread("fe_database_deadlocks", "Deadlocks, counted by the server", own)
        self.temporary_bytes = _unread(
            "fe_database_temporary_bytes", "Bytes that sorts wrote to disk, counted by the server", own
        )
        self.replica_lag = _unread(
            "fe_database_replica_lag_seconds",
            "How far the slowest standby is behind; 0 when there is none",
            own,
        )
        self.archive_fails = _unread(
            "fe_database_archive_fails", "1 while the server cannot put its log into the archive", own
        )

    def _billing(self, own: CollectorRegistry) -> None:
        """Create the gauges of billing, read from the database like the above."""
        self.billing_drift = _unread(
            "fe_billing_drift_emissions", "How many the last count of open months found to be wrong", own
        )
        self.billing_lag = _unread(
            "fe_billing_lag_seconds", "How long the oldest billed verdict waits to be added to its month", own
        )
        self.billing_reconciled = _unread(
            "fe_billing_reconciled_seconds", "Since all open months were last counted again", own
        )
        self.billing_charges = Gauge("fe_billing_charges", "Charges that are not made", ("state",), registry=own)
        self.billing_charges_age = Gauge(
            "fe_billing_charges_oldest_seconds", "How long the oldest has been so", ("state",), registry=own
        )

    def _alive(self, own: CollectorRegistry) -> None:
        """Create the metrics of the process itself."""
        self.build = Gauge("fe_build_info", "What runs here", ("version", "python"), registry=own)
        self.build.labels(__version__, platform.python_version()).set(1)
        self.database_reachable = _unread("fe_database_reachable", "1 while the database answers us", own)
        self.database_writable = _unread(
            "fe_database_writable", "1 while the database takes a front's writes; 0: disk full, or a standby", own
        )
        self.clock_ahead = _unread(
            "fe_clock_ahead_seconds", "How far our clock is ahead of the database's; negative: behind", own
        )
        self.pool_wait = Histogram(
            "fe_database_pool_wait_seconds",
            "From asking for a connection to having one, opening it included",
            buckets=_FAST,
            registry=own,
        )
        self.notifications_heard = Gauge(
            "fe_notifications_heard", "1: wake-ups arrive; 0: work is found by polling alone", registry=own
        )
        self.actor_silent = Gauge(
            "fe_actor_silent_seconds", "Since the loop of an actor last turned", ("actor",), registry=own
        )
        self.slots = Gauge("fe_slots", "Rows an actor works on at once, at most", ("stage",), registry=own)
        self.in_flight = Gauge("fe_in_hand", "Rows an actor works on", ("stage",), registry=own)
        self.in_flight_age = Gauge(
            "fe_in_hand_oldest_seconds", "How long the oldest of them has been worked on", ("stage",), registry=own
        )
        self.stage_in_trouble = Gauge(
            "fe_stage_in_trouble",
            "1 while all that a stage tries fails in ways nobody foresaw",
            ("stage",),
            registry=own,
        )
        self._turned: dict[str, float] = {}
        #: Stages of this process whose breaker is open.
        self.stages_in_trouble: set[str] = set()
        #: Measurements that the status recorder has not taken yet.
        self.findings = Measurements()
        #: Whether the database took the last trial write of this process.
        self.takes_writes = True

    def observe_authority(self, operation: str, environment: str, host: str, outcome: str, seconds: float) -> None:
        """Count one exchange with the authority."""
        key = (environment, operation, host, outcome)
        series = self._authority_series.get(key)
        if series is None:  # finding a series by its labels takes longer than counting in it
            found = self.authority_requests.labels(*key), self.authority_seconds.labels(operation, host)
            series = self._authority_series[key] = found
        series[0].inc()
        series[1].observe(seconds)

    def observe_webhook(self, outcome: str, result: str, seconds: float) -> None:
        """Count one webhook call: the outcome of the delivery, and the result of the call."""
        self.webhook_attempts.labels(outcome, result).inc()
        self.webhook_seconds.labels(result).observe(seconds)

    def observe_first_answer(self, environment: Environment, seconds: float, example: str) -> None:
        """Count the authority's first answer about a submission; `example` as in `observe_end`."""
        self.first_answer_seconds.labels(environment).observe(seconds, {"submission": example})

    def observe_end(
        self,
        environment: Environment,
        status: Status,
        ecf_type: str,
        seconds: float | None,
        example: str,
        trace_id: str | None = None,
    ) -> None:
        """Take note of a submission's end; `seconds` from its acceptance when it was the authority that ended it.

        `example` is the id of the submission, which goes with its bucket as an exemplar and is no label; so does its
        trace, if it has one.
        """
        self.verdicts.labels(environment, status, ecf_type).inc()
        if seconds is not None:
            traced = {} if trace_id is None else {"trace_id": trace_id}
            self.verdict_seconds.labels(environment).observe(seconds, {"submission": example, **traced})

    def turned(self, actor: str) -> None:
        """Note that an actor completed a cycle; from now on its silence is measured."""
        known = actor in self._turned
        self._turned[actor] = time.monotonic()
        if not known:
            self.actor_silent.labels(actor).set_function(lambda: time.monotonic() - self._turned[actor])

    def watch_silence(self, actor: str) -> None:
        """Measure the silence of an actor from now on, even before its first cycle."""
        if actor not in self._turned:
            self.turned(actor)

    def in_trouble(self, stage: str, is_so: bool) -> None:
        """Note whether the breaker of a stage is open (fe/queue/stage_breaker.py)."""
        (self.stages_in_trouble.add if is_so else self.stages_in_trouble.discard)(stage)
        self.stage_in_trouble.labels(stage).set(is_so)

    def watch_in_flight(self, stage: str, slots: int, count: Callable[[], int], oldest: Callable[[], float]) -> None:
        """Export what an actor has in flight whenever it is asked for: `oldest` in seconds, 0 when nothing is.

        Both are called from another thread and must not wait.
        """
        self.slots.labels(stage).set(slots)
        self.in_flight.labels(stage).set_function(count)
        self.in_flight_age.labels(stage).set_function(oldest)


def _unread(name: str, means: str, registry: CollectorRegistry) -> Gauge:
    """A gauge without labels that is NaN until it is set, where the library's would be 0."""
    gauge = Gauge(name, means, registry=registry)
    gauge.set(math.nan)
    return gauge


def series_of(gauge: Gauge) -> set[Labels]:
    """Return the labels of every series of a gauge with labels."""
    return {tuple(sample.labels.values()) for metric in gauge.collect() for sample in metric.samples}


def forget_others(gauge: Gauge, labels: Collection[Labels]) -> None:
    """Remove series of things that no longer exist, such as a removed node: 0 would mean that it fails."""
    for gone in series_of(gauge) - set(labels):
        gauge.remove(*gone)


def show(gauge: Gauge, values: Mapping[Labels, float]) -> None:
    """Set every series of a gauge with labels: those in `values` to their values, all earlier ones to 0.

    Series are never removed: that would reset an alert that waits for ten minutes of one.
    """
    for labels in series_of(gauge) - values.keys():
        gauge.labels(*labels).set(0)
    for labels, value in values.items():
        gauge.labels(*labels).set(value)
