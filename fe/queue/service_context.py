"""The context shared by the HTTP front, the actors and the portal of one process."""

from dataclasses import dataclass
from typing import Any

from fe.clock import Clock, ClockFault, no_fault
from fe.config import Settings
from fe.monitoring.metrics import Metrics
from fe.monitoring.tracing import OFF, Tracing
from fe.queue.direct_intake import DirectIntake
from fe.queue.supervisor import Supervisor
from fe.store.queue.wakeups import Wakeups
from fe.store.records.verdict_notices import VerdictNotices


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceContext:
    """Settings, clock, supervision, wake-ups and tracing of a process."""

    settings: Settings
    clock: Clock
    supervisor: Supervisor
    wakeups: Wakeups
    verdicts: VerdictNotices
    tracing: Tracing = OFF
    #: The reason why this process must not sign now, if there is one.
    clock_fault: ClockFault = no_fault
    #: Hands accepted rows straight to the signers of this process, if it has any.
    intake: DirectIntake[Any] | None = None

    @property
    def metrics(self) -> Metrics:
        """The metrics of the process."""
        return self.supervisor.metrics
