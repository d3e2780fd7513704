"""Stage breaker: holds a stage whose tries all end in unexpected errors, whatever the row.

With a broken library or a bug in a release each row would fail eight times and become a dead letter. Instead rows are
given back without losing an attempt, one row is tried at intervals, and the first success closes the breaker.
"""

from collections.abc import Callable
from uuid import UUID

import structlog
import trio

_log = structlog.get_logger(__name__)


class StageBreaker:
    """The breaker of one stage in one process. Calls `on_change` with True when it opens and False when it closes.

    It opens when `rows` different rows fail without a success in between. A single bad row does not open it, however
    often it is tried: it becomes a dead letter. While open, one row is tried every `probe_seconds`.
    """

    def __init__(
        self, stage: str, rows: int, probe_seconds: float, on_change: Callable[[bool], None] = lambda _: None
    ) -> None:
        self._stage = stage
        self._rows = rows
        self._probe_seconds = probe_seconds
        self._on_change = on_change
        self._failed: set[UUID] = set()
        self._next_probe = 0.0
        self.is_open = False
        #: Set when it closes.
        self.over = trio.Event()

    def failed(self, subject: UUID, error: str) -> None:
        """Note a try that ended in an unexpected error."""
        self._failed.add(subject)
        if not self.is_open and len(self._failed) >= self._rows:
            self.is_open, self.over = True, trio.Event()
            self._next_probe = trio.current_time() + self._probe_seconds
            self._on_change(True)
            _log.error("the stage is in trouble: nothing it tries works out", stage=self._stage, last_error=error)

    def refused(self) -> None:
        """Note a try that cannot succeed now, for an expected reason: neither opens nor closes the breaker."""
        if not self.is_open:
            self._failed.clear()

    def succeeded(self) -> None:
        """Note a successful try."""
        self._failed.clear()
        if self.is_open:
            self.is_open = False
            self.over.set()
            self._on_change(False)
            _log.info("the stage is out of trouble", stage=self._stage)

    def seconds_to_probe(self) -> float:
        """Return the seconds until a row may be tried; 0 while closed."""
        return max(0.0, self._next_probe - trio.current_time()) if self.is_open else 0.0

    def probing(self) -> None:
        """A row is being tried: the next one after `probe_seconds`."""
        self._next_probe = trio.current_time() + self._probe_seconds
