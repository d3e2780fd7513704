"""The deliverer: calls webhooks and classifies the answers (interface.md#events); and recovers failed deliveries.

A call may arrive and its answer be lost: then it is repeated with the same id.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import structlog

from fe.clock import Clock
from fe.egress.client import SECONDS, Egress
from fe.monitoring.metrics import Metrics
from fe.monitoring.tracing import OFF, Tracing
from fe.process import failpoints
from fe.queue.backoff import Gap
from fe.queue.outcome import AT_ONCE, Advance, End, Outcome, Park, Retry, Writer, one_by_one
from fe.queue.stage import WorkKind
from fe.secrets.vault import VaultError
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import LeaseLost
from fe.store.queue import webhooks
from fe.store.queue.host_lanes import HostLanes
from fe.store.queue.wakeups import Wakeups
from fe.store.queue.webhooks import Booked, WebhookWork
from fe.store.webhooks.deliveries import DeliveryState
from fe.webhooks.exchange import Tried, WebhookCall, try_once
from fe.webhooks.schedule import ATTEMPTS, PATIENCE
from fe.webhooks.secrets import WebhookVault

_log = structlog.get_logger(__name__)

Written = Sequence[Outcome | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered(End):
    """The endpoint confirmed it."""

    tried: Tried
    name: str = "delivered"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotConfirmed(Retry):
    """The call failed and will be retried."""

    tried: Tried
    name: str = "not confirmed"


@dataclass(frozen=True, slots=True, kw_only=True)
class GaveUp(End):
    """The last try failed. It can be redelivered on request."""

    tried: Tried
    name: str = "gave up"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone(End):
    """The endpoint answered "gone": it is switched off and its deliveries are held."""

    tried: Tried
    name: str = "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held(End):
    """The endpoint is switched off."""

    name: str = "held"


class Deliverer:
    """Makes one try of a delivery."""

    def __init__(
        self,
        db: Database,
        egress: Egress,
        vault: WebhookVault,
        clock: Clock,
        gap: Gap,
        spread: random.Random,
        *,
        seconds: float = SECONDS,
        tracing: Tracing = OFF,
    ) -> None:
        self._db = db
        self._egress = egress
        self._vault = vault
        self._clock = clock
        self.gap = gap
        self._spread = spread
        self._seconds = seconds
        self._tracing = tracing

    async def deliver(self, work: WebhookWork) -> Outcome:
        """Make one try. Cancelled, it may have arrived and is repeated."""
        needed = await self._db.run(webhooks.input_of, work.tenant_id, work.subject, self._clock())
        if needed is None:
            raise LeaseLost(work.subject, work.epoch)
        if not needed.is_called:
            return Held()
        try:
            opened = [
                self._vault.decrypt_secret(work.tenant_id, secret_id, secret)
                for secret_id, secret in zip(needed.secret_ids, needed.secrets, strict=True)
            ]
            headers = self._vault.decrypt_headers(work.tenant_id, needed.endpoint_id, needed.headers)
        except VaultError as error:
            _log.error("the secrets of a webhook cannot be opened", error=error)
            return Retry("its secrets cannot be opened", self.gap(work.attempt, self._spread), counts=False)
        with self._tracing.step("webhook", needed.trace, work, of="delivery") as span:
            call = WebhookCall(needed.url, needed.kind, str(work.subject), needed.body, headers, opened, span.headers())
            tried = await try_once(self._egress, call, self._clock, seconds=self._seconds)
            failpoints.reached("called")
            outcome = self._outcome(work, tried)
            span.annotate(event=needed.kind, answer=tried.status or 0, outcome=outcome.name)
        return outcome

    def _outcome(self, work: WebhookWork, tried: Tried) -> Outcome:
        if tried.error is None:
            return Delivered(tried=tried)
        if tried.is_gone:
            return Gone(tried=tried)
        if work.attempt >= ATTEMPTS:
            return GaveUp(tried=tried)
        after = max(self.gap(work.attempt, self._spread), tried.wait or AT_ONCE)
        return NotConfirmed(tried.error, after, tried=tried)


def _booked(outcome: Any) -> Booked:
    """Convert an outcome for the store."""
    match outcome:
        case Delivered(tried=tried):
            return _of(tried, DeliveryState.DELIVERED)
        case NotConfirmed(tried=tried, after=after):
            return _of(tried, DeliveryState.PENDING, after)
        case GaveUp(tried=tried):
            return _of(tried, DeliveryState.FAILED)
        case Gone(tried=tried):
            return _of(tried, DeliveryState.HELD)
        case Held():
            return Booked(DeliveryState.HELD, AT_ONCE, counts=False, error=None)
        case Retry(reason=reason, after=after, counts=counts):
            return Booked(DeliveryState.PENDING, after, counts=counts, error=reason)
        case Park(reason=reason):
            return Booked(DeliveryState.FAILED, AT_ONCE, counts=True, error=reason)
        case _:  # pragma: no cover  (WRITERS has no others)
            raise TypeError(type(outcome))


def _of(tried: Tried, state: DeliveryState, after: timedelta = AT_ONCE) -> Booked:
    return Booked(
        state,
        after,
        counts=True,
        error=tried.reason,
        begun=tried.begun,
        duration=tried.duration,
        status=tried.status,
        error_kind=tried.error,
        redirected=tried.is_redirect,
        answer=tried.answer,
        gone=tried.is_gone,
    )


async def _write(patience: timedelta, conn: Conn, items: Sequence[tuple[WebhookWork, Any]], at: datetime) -> Written:
    works = [work for work, _ in items]
    booked = [_booked(outcome) for _, outcome in items]
    ours = await webhooks.book(conn, works, booked, at=at, patience=patience)
    return [outcome if is_ours else None for (_, outcome), is_ours in zip(items, ours, strict=True)]


def delivery_kind(
    table: HostLanes[WebhookWork], metrics: Metrics, *, patience: timedelta = PATIENCE
) -> WorkKind[WebhookWork]:
    """Deliveries as a kind of work."""

    def written(work: WebhookWork, outcome: Outcome) -> None:
        if isinstance(outcome, Gone):
            _log.warning("an endpoint is gone and is called no more", endpoint=work.host)
        tried: Tried | None = getattr(outcome, "tried", None)
        if tried is not None:
            metrics.observe_webhook(outcome.name, tried.error or "confirmed", tried.duration.total_seconds())

    writer: Writer[WebhookWork] = partial(_write, patience)
    writers: Mapping[type[Outcome], Writer[WebhookWork]] = dict.fromkeys(
        (Delivered, NotConfirmed, GaveUp, Gone, Held, Retry, Park), writer
    )
    return WorkKind(table, writers, together=table.together, written=written, subject="delivery")


# --- recoveries -------------------------------------------------------------------------------------------------------

#: Events per transaction.
_STRETCH = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretched(Advance):
    """One stretch is redelivered, in the transaction that advanced the job."""

    name: str = "recovered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovered(End):
    """The last stretch is redelivered."""

    name: str = "recovered all"


class Recoverer:
    """Redelivers unconfirmed events, a stretch at a time."""

    def __init__(self, db: Database, clock: Clock, wakeups: Wakeups) -> None:
        self._db = db
        self._clock = clock
        self._wakeups = wakeups

    async def recover(self, work: WebhookWork) -> Outcome:
        """Redeliver a stretch, fenced and committed here, so that no delivery is queued twice."""
        found = await self._db.run(webhooks.recover, work, self._clock(), _STRETCH)
        if found is None:
            raise LeaseLost(work.subject, work.epoch)
        put, is_done = found
        if put:
            self._wakeups.notify(webhooks.DELIVER)
        return Recovered() if is_done else Stretched(to=webhooks.RECOVER)


async def _moved(_: Conn, items: Sequence[tuple[WebhookWork, Any]], __: datetime) -> Written:
    """Nothing is left to write."""
    return [outcome for _, outcome in items]


async def _retry(conn: Conn, work: WebhookWork, outcome: Retry, _: datetime) -> bool:
    return await webhooks.recovery_later(
        conn, work, after=outcome.after, error=outcome.reason, counts=outcome.counts, gives_up=False
    )


async def _park(conn: Conn, work: WebhookWork, outcome: Park, _: datetime) -> bool:
    return await webhooks.recovery_later(conn, work, after=AT_ONCE, error=outcome.reason, counts=True, gives_up=True)


def recovery_kind() -> WorkKind[WebhookWork]:
    """Recoveries as a kind of work."""
    writers: dict[type[Outcome], Writer[WebhookWork]] = {
        Stretched: _moved,
        Recovered: _moved,
        Retry: one_by_one(_retry),
        Park: one_by_one(_park),
    }
    return WorkKind(webhooks.RECOVERIES, writers, subject="recovery")
