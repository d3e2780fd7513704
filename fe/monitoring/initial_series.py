"""Create each series at 0, so that rate() sees the first event and panels show 0 instead of "No data".

They are created by the first scrape: a process starts sooner, and no scrape misses them.
"""

from collections.abc import Iterable
from functools import partial
from itertools import product

from fe.ecf.catalogue import EcfType, Environment, Host
from fe.lifecycle import FINAL, Stage, Status
from fe.monitoring.metrics import Metrics

#: Values of `limit` of fe_share_refused_total.
SHARES = (
    "address_connections",
    "body_bytes",
    "document_bytes",
    "tenant_archives",
    "tenant_lists",
    "tenant_long_polls",
    "tenant_quota",
    "tenant_requests",
    "tenant_webhooks",
    "too_soon",
)

#: Results of unconfirmed webhook calls (fe/egress/errors.py, and the status).
WEBHOOK_RESULTS = ("url", "address", "dns", "connect", "tls", "proxy", "timeout", "closed", "answer", "status")

#: Every stage of every kind of work.
STAGES = (*Stage, "webhook", "webhook_recovery", "address", "pass_on", "mail", "void")

#: Results of a try of a mail.
MAIL_OUTCOMES = ("sent", "refused", "suppressed", "no_recipient", "put_off", "failed_try", "gave_up")

#: Kinds of documents delivered from taxpayer to taxpayer, and the results of a try.
HANDED_ON = (("receipt", "approval"), ("delivered", "refused", "unlisted", "gave_up", "failed_try"))

#: Why the archive's store failed (fe/objects/storage.py), or its time stamp authority, or a chain by itself.
ARCHIVE_FAULTS = ("unavailable", "denied", "missing", "differs", "time-stamp", "unexpected")

#: Statuses of requests that fail through the service.
FAILURES = ("500", "503")
#: Statuses of refused logins, and of requests refused before routing.
LOGIN_REFUSALS = ("401", "429")
REFUSALS = ("400", "404", "408", "413", "415", "431", "503")


def initialize_series(metrics: Metrics) -> None:
    """Create the series of every process, whatever its role."""
    metrics.before_first_scrape(partial(_create_series, metrics))


def _create_series(metrics: Metrics) -> None:
    for outcome in ("granted", "refused", "malformed", "throttled"):
        metrics.login.labels(outcome)
    for reason in ("json", "xml", "document", "number", "issuer", "request", "size", "media type", "scope"):
        metrics.refused.labels(reason)
    for kind in ("same", "different"):
        metrics.deduped.labels(kind)
    for outcome in ("opened", "failed"):
        metrics.decrypted.labels(outcome)
    for bucket in ("address", "key", "person", "second factor"):
        metrics.lockouts.labels(bucket)
    for limit in SHARES:
        metrics.share_refused.labels(limit)
    for reason in ("died", "memory", "no process", "too slow"):
        metrics.apart_failures.labels(reason)
    for what in ("ended", "sent", "lost"):
        metrics.spans.labels(what)
    for fault in ARCHIVE_FAULTS:
        metrics.archive_failures.labels(fault)
    for kind, outcome in product(*HANDED_ON):
        metrics.handed_on.labels(kind, outcome)
    for outcome in MAIL_OUTCOMES:
        metrics.mails.labels(outcome)
    for stage in STAGES:
        metrics.leases_lost.labels(stage)
        metrics.rescued.labels(stage)


def initialize_front_series(metrics: Metrics, routes: Iterable[tuple[str, str]]) -> None:
    """Create the series of a front's routes, each a name and a method: failures and durations."""
    metrics.before_first_scrape(partial(_create_front_series, metrics, tuple(routes)))


def _create_front_series(metrics: Metrics, routes: Iterable[tuple[str, str]]) -> None:
    for name, method in routes:
        metrics.http_seconds.labels(name)
        for status in FAILURES + (LOGIN_REFUSALS if name.endswith("/login") else ()):
            metrics.http_requests.labels(name, method, status)
    for status in REFUSALS:
        metrics.http_requests.labels("none", "GET", status)


def initialize_actor_series(metrics: Metrics, calls: Iterable[tuple[str, str]], outcomes: Iterable[str]) -> None:
    """Create the series of actors: verdicts, and the `outcomes` of `calls`, each an operation and its host."""
    metrics.before_first_scrape(partial(_create_actor_series, metrics, tuple(calls), tuple(outcomes)))


def _create_actor_series(metrics: Metrics, calls: Iterable[tuple[str, str]], outcomes: Iterable[str]) -> None:
    for environment in Environment:
        metrics.numbers_held_elsewhere.labels(environment)
        metrics.first_answer_seconds.labels(environment)
        metrics.verdict_seconds.labels(environment)
        for status, ecf_type in product(sorted(FINAL - {Status.ERROR}), EcfType):
            metrics.verdicts.labels(environment, status, ecf_type)
        metrics.verdicts.labels(environment, Status.ERROR, "unknown")
        for host in (Host.ECF, Host.FC):
            metrics.circuit_open.labels(environment, host)
    metrics.webhook_attempts.labels("delivered", "confirmed")
    for result in WEBHOOK_RESULTS:
        metrics.webhook_attempts.labels("not confirmed", result)
    for (operation, at), outcome in product(calls, outcomes):
        metrics.authority_seconds.labels(operation, at)
        for whose in ("",) if at == Host.STATUS else tuple(map(str, Environment)):
            metrics.authority_requests.labels(whose, operation, at, outcome)
