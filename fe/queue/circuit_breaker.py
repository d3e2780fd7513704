"""A circuit breaker per host and environment of the authority, shared by all processes.

While a circuit is open no row of its lane is claimed, so an outage burns no attempts; one process at a time probes
with a read-only call; when the host is back the load grows with its answers. A tenant that fails while at least as
many other tenants are answered does not open it: its own rows back off.
"""

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Container
from datetime import timedelta
from typing import Protocol

import structlog
import trio

from fe.identifiers import TenantId
from fe.monitoring.metrics import Metrics
from fe.store.postgres.db import Database
from fe.store.postgres.errors import DatabaseUnavailable
from fe.store.queue import circuits
from fe.store.queue.circuits import Circuit

_log = structlog.get_logger(__name__)

#: Consecutive failures that open a circuit; few, because each costs its document an attempt. Just after closing one is
#: enough, because the probe may have called a service that works beside a broken one; once that service itself has
#: answered, its failures may be due to one tenant's documents.
FAILURES_TO_OPEN = 5
_TRIAL_SECONDS = 10.0

_LOOK_SECONDS = 1.0
_FIRST_PROBE = timedelta(seconds=3)
_LONGEST_PROBE_GAP = 60.0
_PROBE_SECONDS = 10.0

#: After closing a lane has one slot, and one more for each this many answers.
_ANSWERS_PER_SLOT = 4

#: How long an answer or a failure says something about a tenant now.
_RECENT_SECONDS = 30.0

#: Returns None when the host is up, else what is wrong.
Probe = Callable[[str, str], Awaitable[str | None]]


class CircuitLane(Protocol):
    """Rows of one host in one environment."""

    @property
    def environment(self) -> str:
        """The environment."""

    @property
    def host(self) -> str:
        """The host."""


class _LastExchanges:
    """How the last exchange of each tenant with one service of a host ended."""

    def __init__(self, recent_seconds: float) -> None:
        self._recent_seconds = recent_seconds
        #: When the tenant was answered, the latest last.
        self._answered: dict[TenantId, float] = {}
        #: When the tenant failed first since it was answered, and when last.
        self._failing: dict[TenantId, tuple[float, float]] = {}

    def answered(self, tenant_id: TenantId) -> None:
        self._failing.pop(tenant_id, None)
        self._answered.pop(tenant_id, None)
        self._answered[tenant_id] = trio.current_time()

    def fails_alone(self, tenant_id: TenantId) -> bool:
        """Note a failure; return whether, since it began, at least as many tenants were answered as fail now."""
        now = trio.current_time()
        recent = now - self._recent_seconds
        since, _ = self._failing.get(tenant_id, (now, now))
        self._failing[tenant_id] = since, now
        self._answered.pop(tenant_id, None)
        while self._answered and next(iter(self._answered.values())) < recent:
            del self._answered[next(iter(self._answered))]
        answered = sum(at > since for at in self._answered.values())
        return answered >= sum(last >= recent for _, last in self._failing.values())


class Circuits:
    """The circuits as this process knows them. The client calls `note`, the stages `gate`; `run` keeps them current."""

    def __init__(self, db: Database, metrics: Metrics, *, hosts: Container[str], scale: float = 1.0) -> None:
        """Only `hosts` have circuits; `scale` shortens every wait alike."""
        self._hosts = hosts
        self._db = db
        self._scale = scale
        self._metrics = metrics
        self._failures: Counter[tuple[str, str]] = Counter()
        #: Answers since the circuit was seen open, or since the process began.
        self._answers: Counter[tuple[str, str]] = Counter()
        #: Circuits with enough failures that are still to be opened.
        self._opening: set[tuple[str, str]] = set()
        #: When each service last answered, and the last exchange of each tenant with it.
        self._answered: dict[tuple[str, str, str], float] = {}
        self._exchanges: dict[tuple[str, str, str], _LastExchanges] = {}
        self._known: dict[tuple[str, str], Circuit] = {}
        self._known_at = 0.0
        self._alarm = trio.Event()

    def note(
        self,
        environment: str,
        host: str,
        outcome: str,
        *,
        service: str = "",
        seconds: float = 0.0,
        tenant_id: TenantId | None = None,
    ) -> None:
        """Note one exchange: `unavailable` and `unknown` are failures, every other outcome is an answer.

        `service` names the host's service, `tenant_id` the tenant of the documents. `seconds` is its duration: a failed
        exchange that began before the circuit closed does not count.
        """
        if host not in self._hosts:
            return
        known = self._known.get((environment, host))
        if known is not None and (known.is_open or seconds > self._age(known)):
            return
        key = environment, host, service
        exchanges = self._exchanges.get(key)
        if exchanges is None:
            exchanges = self._exchanges[key] = _LastExchanges(_RECENT_SECONDS * self._scale)
        if outcome in ("unavailable", "unknown"):
            if tenant_id is not None and exchanges.fails_alone(tenant_id):
                return
            self._failures[environment, host] += 1
            if self._failures[environment, host] >= self._enough(environment, host, service):
                self._opening.add((environment, host))
                self._alarm.set()
        elif outcome != "cancelled":
            self._failures[environment, host] = 0
            self._answers[environment, host] += 1
            self._opening.discard((environment, host))
            self._answered[key] = trio.current_time()
            if tenant_id is not None:
                exchanges.answered(tenant_id)

    def gate(self, lane: CircuitLane, slots: int) -> int:
        """Return how many rows of a lane may be in flight now."""
        circuit = self._known.get((lane.environment, lane.host))
        if circuit is None:
            return slots
        if circuit.is_open:
            return 0
        return min(slots, 1 + self._answers[lane.environment, lane.host] // _ANSWERS_PER_SLOT)

    def _enough(self, environment: str, host: str, service: str) -> int:
        known = self._known.get((environment, host))
        if known is None or self._age(known) >= _TRIAL_SECONDS * self._scale:
            return FAILURES_TO_OPEN
        closed_at = trio.current_time() - self._age(known)
        return FAILURES_TO_OPEN if self._answered.get((environment, host, service), -math.inf) > closed_at else 1

    def _age(self, circuit: Circuit) -> float:
        return circuit.age.total_seconds() + trio.current_time() - self._known_at

    async def run(self, probe: Probe) -> None:
        """Refresh the circuits, open those that fail and probe those that are open, until cancelled."""
        self._metrics.watch_silence("circuits")
        while True:
            try:
                await self._look(probe)
            except DatabaseUnavailable as error:
                _log.warning("circuits not refreshed", error=error)
            else:
                self._metrics.turned("circuits")
            with trio.move_on_after(_LOOK_SECONDS * self._scale):
                await self._alarm.wait()
            self._alarm = trio.Event()

    async def _look(self, probe: Probe) -> None:
        for environment, host in list(self._opening):
            reason = f"{self._failures[environment, host]} exchanges in a row failed"
            if await self._db.run(circuits.open_circuit, environment, host, reason, _FIRST_PROBE * self._scale):
                _log.error("a circuit opened", environment=environment, host=host, reason=reason)
            self._failures[environment, host] = 0
            self._opening.discard((environment, host))
        rows = await self._db.run(circuits.everything)
        self._known = {(row.environment, row.host): row for row in rows}
        self._known_at = trio.current_time()
        for row in rows:
            if row.is_open:  # perhaps by another process: after it closes, earlier failures and answers do not count
                self._failures[row.environment, row.host] = self._answers[row.environment, row.host] = 0
                self._opening.discard((row.environment, row.host))
            self._metrics.circuit_open.labels(row.environment, row.host).set(row.is_open)
            if row.probe_due:
                await self._probe_one(row, probe)

    async def _probe_one(self, row: Circuit, probe: Probe) -> None:
        hold = timedelta(seconds=2 * _PROBE_SECONDS)
        if not await self._db.run(circuits.claim_probe, row.environment, row.host, hold):
            return
        trouble: str | None = f"no answer within {_PROBE_SECONDS:g} s"
        with trio.move_on_after(_PROBE_SECONDS):
            trouble = await probe(row.environment, row.host)
        if trouble is None:
            _log.info("a circuit closed", environment=row.environment, host=row.host)
            await self._db.run(circuits.close_circuit, row.environment, row.host)
            self._alarm.set()
            return
        after = min(_FIRST_PROBE.total_seconds() * 2 ** min(row.failed_probes, 10), _LONGEST_PROBE_GAP)
        await self._db.run(
            circuits.probe_failed, row.environment, row.host, trouble, timedelta(seconds=after * self._scale)
        )
