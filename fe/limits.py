"""The three kinds of limits: a token bucket, a fair concurrency limit and a document quota. All count in this process.

They raise `LimitReached` when one key has its share, and `Overloaded` when all keys together have everything. The HTTP
front answers these with 429 and 503.
"""

import math
import sys
from collections import deque
from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

import trio

from fe.cache import ExpiringCache
from fe.config import Settings
from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics

Key = TypeVar("Key", bound=Hashable)

#: Seconds after which a refused client may try again.
RETRY_SECONDS = 1

_MAX_KEYS = 10_000
_MINUTE, _DAY = 60.0, 86_400.0


class Limited(Exception):
    """A limit refuses; try again after `retry_after` whole seconds."""

    def __init__(self, retry_after: int = RETRY_SECONDS) -> None:
        super().__init__(f"try again in {retry_after} s")
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Allowance:
    """State of a key's rate limit in this process: `limit` at once or in a window, and `remaining` now.

    The whole limit is there again after `reset` whole seconds.
    """

    limit: int
    remaining: int
    reset: int


class LimitReached(Limited):
    """One key has its share. `ends_connection`: the client should also give up its connection, which is shared too."""

    ends_connection = False
    #: Where the limit is one of a rate.
    allowance: Allowance | None = None


class ShareTaken(LimitReached):
    """One key has its share of a concurrency limit."""

    ends_connection = True


class TurnTimeout(ShareTaken):
    """The key's turn did not come in time."""


class Overloaded(Limited):
    """All keys together have everything there is."""


class TokenBucket(Generic[Key]):
    """Token bucket per key: a burst of `at_once`, then `a_second` per second, in any unit.

    A key may take more than is left and then has to wait; its debt never exceeds `at_once`. The clock is the caller's:
    `now` is in seconds and only moves forward.
    """

    def __init__(self, *, at_once: float, a_second: float) -> None:
        self._at_once = at_once
        self._a_second = a_second
        self._left: ExpiringCache[Key, tuple[float, float]] = ExpiringCache(_MAX_KEYS)

    @classmethod
    def per_second(cls, rate: float) -> "TokenBucket[Key] | None":
        """Allow `rate` calls a second with bursts of two seconds' worth; None for a rate of 0."""
        return cls(at_once=max(2 * rate, 1.0), a_second=rate) if rate else None

    def has_some(self, key: Key, now: float) -> bool:
        """Tell whether anything is left."""
        return self._level(key, now) > 0

    def wait(self, key: Key, now: float, amount: float = 0) -> float:
        """Seconds until `amount` is left; 0 if it is."""
        return max((amount - self._level(key, now)) / self._a_second, 0.0)

    def take(self, key: Key, amount: float, now: float) -> None:
        """Take `amount`, left or not."""
        self._left.put(key, (max(self._level(key, now) - amount, -self._at_once), now))

    def try_take(self, key: Key, now: float) -> bool:
        """Take 1 if that is left."""
        if self._level(key, now) < 1:
            return False
        self.take(key, 1, now)
        return True

    def require(self, key: Key, now: float) -> None:
        """Take 1. Raises LimitReached if that is not left."""
        if wait := self.wait(key, now, 1):
            reached = LimitReached(max(math.ceil(wait), 1))
            reached.allowance = self.allowance(key, now)
            raise reached
        self.take(key, 1, now)

    def allowance(self, key: Key, now: float) -> Allowance:
        """Return what is left of the burst, and when all of it is there again."""
        level = self._level(key, now)
        reset = math.ceil((self._at_once - level) / self._a_second)
        return Allowance(math.floor(self._at_once), max(math.floor(level), 0), reset)

    def _level(self, key: Key, now: float) -> float:
        level, at = self._left.get(key) or (self._at_once, now)
        return min(level + (now - at) * self._a_second, self._at_once)


class ConcurrencyLimit(Generic[Key]):
    """Concurrency limit per key and for all keys together: of requests, bytes, connections, turns.

    `held` and `take` refuse what does not fit. `turn` waits, and turns rotate among keys. The key None counts only
    towards the limit of all keys together.
    """

    def __init__(
        self,
        name: str = "",
        metrics: Metrics | None = None,
        *,
        each: int = sys.maxsize,
        together: int = sys.maxsize,
        crowded: int | None = None,
        patience: float = math.inf,
    ) -> None:
        """Take the limits: of each key, of all `together`, and of each key (`crowded`) once half of all is held.

        `patience` is how long a turn is waited for, in seconds. `name` is the label of refusals in the metrics; without
        one they are not counted.
        """
        self.name = name
        self.patience = patience
        self._metrics = metrics
        self._each = each
        self._together = together
        self._crowded = each if crowded is None else crowded
        self._held: dict[Key, int] = {}
        self._all = 0
        #: Tasks that wait for a turn. The key whose last turn is longest ago comes first.
        self._waiting: dict[Key, deque[trio.Event]] = {}

    @property
    def all_held(self) -> int:
        """How much all keys hold together."""
        return self._all

    def of(self, key: Key) -> int:
        """How much a key holds."""
        return self._held.get(key, 0)

    def has_share(self, key: Key) -> bool:
        """Tell whether a key holds all that one key may."""
        return self.of(key) >= self._each

    def fits(self, key: Key, amount: int = 1) -> bool:
        """Tell whether a key may hold `amount` more."""
        return self.of(key) + amount <= self._each and self._all + amount <= self._together

    def acquire(self, key: Key, amount: int = 1) -> None:
        """Hold `amount` more, whether it fits or not."""
        self._all += amount
        if key is not None:
            self._held[key] = self._held.get(key, 0) + amount

    def release(self, key: Key, amount: int = 1) -> None:
        """Undo one `acquire`, and give the next turn."""
        self._all -= amount
        if key is not None:
            left = self._held.pop(key, 0) - amount
            if left:
                self._held[key] = left
        if (tasks := self._waiting.pop(key, None)) is not None:
            self._waiting[key] = tasks  # behind all other keys
        for waiting in self._waiting:
            if self.fits(waiting):
                self._start_turn(waiting)
                break

    def require(self, key: Key, amount: int = 1) -> None:
        """Raise ShareTaken or Overloaded if `amount` more does not fit."""
        each = self._crowded if self._all + amount > self._together / 2 else self._each
        if self.of(key) + amount > each:
            self.count_refusal()
            raise ShareTaken
        self._require_together(amount)

    def take(self, key: Key, amount: int = 1) -> None:
        """Hold `amount` more until its `release`. Raises as `require` does."""
        self.require(key, amount)
        self.acquire(key, amount)

    @contextmanager
    def held(self, key: Key, amount: int = 1) -> Iterator[None]:
        """Hold `amount` for the block. Raises as `require` does."""
        self.take(key, amount)
        try:
            yield
        finally:
            self.release(key, amount)

    @contextmanager
    def paused(self, key: Key) -> Iterator[None]:
        """Release 1 for the block, and hold it again afterwards. Raises Overloaded at the end if it does not fit then;
        it is held nevertheless."""
        self.release(key)
        try:
            yield
        except BaseException:
            self.acquire(key)
            raise
        try:
            self._require_together(1)
        finally:
            self.acquire(key)

    @asynccontextmanager
    async def turn(self, key: Key, *, within: float | None = None) -> AsyncIterator[None]:
        """Wait until 1 fits, and hold it for the block.

        Raises TurnTimeout after `within` seconds, `patience` where that is not given.
        """
        await self._wait_for_turn(key, self.patience if within is None else within)
        try:
            yield
        finally:
            self.release(key)

    async def _wait_for_turn(self, key: Key, patience: float) -> None:
        if self.fits(key):
            self.acquire(key)
            return
        started = trio.Event()
        self._waiting.setdefault(key, deque()).append(started)
        try:
            with trio.move_on_after(patience):
                await started.wait()
        except BaseException:
            if started.is_set():
                self.release(key)
            else:
                self._stop_waiting(key, started)
            raise
        if not started.is_set():
            self._stop_waiting(key, started)
            self.count_refusal()
            raise TurnTimeout

    def _start_turn(self, key: Key) -> None:
        self.acquire(key)
        tasks = self._waiting.pop(key)
        tasks.popleft().set()
        if tasks:
            self._waiting[key] = tasks

    def _stop_waiting(self, key: Key, started: trio.Event) -> None:
        self._waiting[key].remove(started)
        if not self._waiting[key]:
            del self._waiting[key]

    def _require_together(self, amount: int) -> None:
        if self._all + amount > self._together:
            if self._metrics is not None:
                self._metrics.http_shed.inc()
            raise Overloaded

    def count_refusal(self) -> None:
        """Count that a key was refused for its share."""
        if self._metrics is not None and self.name:
            self._metrics.share_refused.labels(self.name).inc()


def scarcer(one: Allowance | None, other: Allowance | None) -> Allowance | None:
    """Return the allowance of which less remains."""
    if one is None or other is None:
        return one or other
    return other if other.remaining < one.remaining else one


#: Mean document size that the byte quotas assume, per minute and per day.
_MINUTE_DOCUMENT_BYTES = 22 * 1024
_DAY_DOCUMENT_BYTES = 8 * 1024
#: A day's quota, in quotas of a minute: 1,920,000 documents by default.
_MINUTES_OF_A_DAY = 160
#: Test events, retries and recoveries of webhooks that one tenant may ask one process for in a minute.
_WEBHOOK_CALLS = 30


@dataclass(frozen=True, slots=True)
class QuotaLimits:
    """Limits of the documents that one tenant submits to one process, validation included; 0: no limit.

    Where calls are limited instead of documents, each counts as a document without bytes.
    """

    documents_a_minute: int = 0
    documents_a_day: int = 0
    bytes_a_minute: int = 0
    bytes_a_day: int = 0

    @classmethod
    def from_settings(cls, settings: Settings) -> "QuotaLimits":
        """Read FE_TENANT_DOCUMENTS_A_MINUTE; the limits of a day follow from it."""
        a_minute = settings.tenant_documents_a_minute
        a_day = a_minute * _MINUTES_OF_A_DAY
        return cls(
            documents_a_minute=a_minute,
            documents_a_day=a_day,
            bytes_a_minute=a_minute * _MINUTE_DOCUMENT_BYTES,
            bytes_a_day=a_day * _DAY_DOCUMENT_BYTES,
        )


NO_QUOTA = QuotaLimits()
WEBHOOK_QUOTA = QuotaLimits(documents_a_minute=_WEBHOOK_CALLS)


@dataclass(slots=True)
class _Window:
    """The documents of a tenant since `began`, and its limits until `began` + `seconds`."""

    began: float
    seconds: float
    max_documents: int
    max_bytes: int
    documents: int = 0
    bytes: int = 0

    def wait(self, size: int, now: float) -> float:
        """Seconds until one more document of `size` bytes fits; 0 if it does."""
        if now >= self.began + self.seconds:
            self.began, self.documents, self.bytes = now, 0, 0
        # The first document of a window always fits: otherwise one larger than the whole quota would never be taken.
        full = self.documents and (
            (self.max_documents and self.documents >= self.max_documents)
            or (self.max_bytes and self.bytes + size > self.max_bytes)
        )
        return self.began + self.seconds - now if full else 0.0

    def allowance(self, now: float, *, is_full: bool = False) -> Allowance | None:
        """Return what is left of its documents; None where they have no limit."""
        if not self.max_documents:
            return None
        left = 0 if is_full else max(self.max_documents - self.documents, 0)
        return Allowance(self.max_documents, left, max(math.ceil(self.began + self.seconds - now), 0))


class DocumentQuota:
    """Limits the documents and bytes of each tenant per minute and per day, in windows that begin with its first one.

    A tenant is forgotten when its day is over and not before, however many tenants there are.
    """

    def __init__(self, limits: QuotaLimits, metrics: Metrics, *, name: str = "tenant_quota") -> None:
        """Take the limits; `name` is the label of refusals in the metrics."""
        self._limits = limits
        self._name = name
        self._metrics = metrics
        #: In the order in which their days began.
        self._windows: dict[TenantId, tuple[_Window, _Window]] = {}

    def take(self, tenant_id: TenantId, size: int, now: float) -> Allowance | None:
        """Count a document of `size` bytes at `now`, in seconds of a monotonic clock. Raises LimitReached.

        Returns what is left of the scarcer quota; None without one.
        """
        if self._limits is NO_QUOTA or self._limits == NO_QUOTA:
            return None
        self._forget_past_days(now)
        windows = self._windows.get(tenant_id)
        if windows is None:
            limits = self._limits
            windows = self._windows[tenant_id] = (
                _Window(now, _MINUTE, limits.documents_a_minute, limits.bytes_a_minute),
                _Window(now, _DAY, limits.documents_a_day, limits.bytes_a_day),
            )
        minute, day = windows
        waits = minute.wait(size, now), day.wait(size, now)
        if wait := max(waits):
            self._metrics.share_refused.labels(self._name).inc()
            reached = LimitReached(math.ceil(wait))
            reached.allowance = windows[waits.index(wait)].allowance(now, is_full=True)
            raise reached
        for window in windows:
            window.documents += 1
            window.bytes += size
        return scarcer(minute.allowance(now), day.allowance(now))

    def add(self, tenant_id: TenantId, documents: int, now: float) -> Allowance | None:
        """Count the other documents of a batch that `take` let in, also beyond the quota; returns what is left."""
        windows = self._windows.get(tenant_id)
        if windows is None:
            return None
        for window in windows:
            window.documents += documents
        return scarcer(windows[0].allowance(now), windows[1].allowance(now))

    def _forget_past_days(self, now: float) -> None:
        while self._windows and now >= next(iter(self._windows.values()))[1].began + _DAY:
            del self._windows[next(iter(self._windows))]
