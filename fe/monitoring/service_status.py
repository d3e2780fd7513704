"""Record how the parts of the service do, for the public page of its status.

Each process judges what its own watchers measured anyway; the database keeps the worst of all views
(fe/store/records/service_states.py).
"""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

import structlog
import trio

from fe.clock import Clock, ClockFault
from fe.ecf.catalogue import Environment
from fe.lifecycle import Stage
from fe.monitoring.findings import Measurements
from fe.monitoring.metrics import Metrics
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE, DatabaseUnavailable
from fe.store.records import authority_state, receivers, service_states
from fe.store.records.service_states import MEASURED_EVERY, PartSeverity, ServicePart

_log = structlog.get_logger(__name__)

#: Seconds late from which a stage is degraded, and down: those of the alerts FeOutboxLate and FeOutboxVeryLate.
STAGE_LATE = 60.0, 300.0
#: Limits of webhooks: that of the alert FeWebhooksLate, and three times as much.
WEBHOOKS_LATE = 600.0, 1800.0
#: Smallest number and share of 5xx among the requests to submit that make accepting degraded.
_FAILED_LEAST, _FAILED_SHARE = 3, 0.1
#: Records that fail in a row before an outage of the database is one of this process's parts.
_AWAY_AFTER = 2
_PATIENCE_SECONDS = 5.0
#: How long after an outage of the authority its backlog is still worked off.
_AFTER_OUTAGE = timedelta(minutes=5)
#: The check of reception looks up this tax id, which no tenant has.
_NOBODY = "000000000"

_PART_OF: Mapping[str, ServicePart] = {
    Stage.SIGN: ServicePart.SIGNING,
    Stage.SEND: ServicePart.SENDING,
    Stage.RECONCILE: ServicePart.SENDING,
    Stage.TRACK: ServicePart.VERDICTS,
    "webhook": ServicePart.WEBHOOKS,
}
_AUTHORITYS = (ServicePart.SENDING, ServicePart.VERDICTS)


class StatusRecorder:
    """Records the parts that this process runs. One per process with a front, actors or reception."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        metrics: Metrics,
        clock_fault: ClockFault,
        *,
        front: Database | None,
        reception: Database | None,
        is_worker: bool,
    ) -> None:
        """Take the pools of what this process runs; `db` is the one that records."""
        self._db = db
        self._clock = clock
        self._metrics = metrics
        self._clock_fault = clock_fault
        self._reception = reception
        self._is_worker = is_worker
        #: Parts that are down without the database; the others only wait.
        self._needing = [
            part
            for part, pool in ((ServicePart.ACCEPTING, front), (ServicePart.RECEIVING, reception))
            if pool is not None
        ]
        self._failures = 0
        self._away_since: datetime | None = None

    async def run(self) -> None:
        """Record at intervals, until cancelled. An outage of the database is recorded once it is over."""
        while True:
            await trio.sleep(MEASURED_EVERY.total_seconds())
            await self.try_to_record()

    async def try_to_record(self) -> None:
        """Record, and note where the database was away."""
        began = self._clock()
        try:
            with trio.fail_after(_PATIENCE_SECONDS):
                await self.record()
        except (*ANY_OF_THE_DATABASE, trio.TooSlowError) as error:
            if isinstance(error, (DatabaseUnavailable, trio.TooSlowError)):
                self._failures += 1
                self._away_since = self._away_since or began
            _log.warning("the status of the service was not recorded", error=error)

    async def record(self) -> None:
        """Record what was found since the last time. Raises DatabaseUnavailable."""
        found, self._metrics.findings = self._metrics.findings, Measurements()
        late = found.late or {}
        away: set[str] = set()
        if any(seconds > STAGE_LATE[0] for seconds in late.values()):
            away = await self._db.run(self._environments_away)
        judged = judge(found, self._metrics.stages_in_trouble, away, is_worker=self._is_worker)
        if self._reception is not None:
            await self._reception.run(receivers.find, Environment.ECF, _NOBODY)
            judged[ServicePart.RECEIVING] = PartSeverity.WELL if self._clock_fault() is None else PartSeverity.DOWN
        now = self._clock()
        if self._failures >= _AWAY_AFTER:
            down = dict.fromkeys(self._needing, PartSeverity.DOWN)
            await self._db.run(service_states.record, down, now, self._away_since)
            judged = {part: severity for part, severity in judged.items() if part not in down}
        if judged:
            await self._db.run(service_states.record, judged, now)
        self._failures, self._away_since = 0, None

    async def _environments_away(self, conn: Conn) -> set[str]:
        return {one.environment.value for one in await authority_state.outages(conn, self._clock() - _AFTER_OUTAGE)}


def judge(
    found: Measurements, in_trouble: Collection[str], away: Collection[str], *, is_worker: bool
) -> dict[ServicePart, PartSeverity]:
    """Judge the parts that were measured. `away`: environments in which the authority does not answer.

    A process without actors sees what is late, and never that all is well: it does not know whether actors run.
    """
    states: dict[ServicePart, PartSeverity] = {}
    for (stage, environment), seconds in (found.late or {}).items():
        part = _PART_OF[stage]
        severity = _severity(seconds, STAGE_LATE)
        if severity and environment in away and part in _AUTHORITYS:
            severity = PartSeverity.WAITING
        states[part] = max(states.get(part, PartSeverity.WELL), severity)
    if not is_worker:
        states = {part: severity for part, severity in states.items() if severity}
    if found.webhooks_late is not None:
        states[ServicePart.WEBHOOKS] = _severity(found.webhooks_late, WEBHOOKS_LATE)
    for stage in in_trouble:
        if (troubled := _PART_OF.get(stage)) is not None:
            states[troubled] = max(states.get(troubled, PartSeverity.WELL), PartSeverity.DEGRADED)
    if found.writable is not None:
        fails = found.failed >= max(_FAILED_LEAST, found.handled * _FAILED_SHARE)
        states[ServicePart.ACCEPTING] = _accepting(writable=found.writable, fails=fails)
    return states


def _accepting(*, writable: bool, fails: bool) -> PartSeverity:
    if not writable:
        return PartSeverity.DOWN
    return PartSeverity.DEGRADED if fails else PartSeverity.WELL


def _severity(late: float, limits: tuple[float, float]) -> PartSeverity:
    degraded, down = limits
    if late <= degraded:
        return PartSeverity.WELL
    return PartSeverity.DEGRADED if late <= down else PartSeverity.DOWN
