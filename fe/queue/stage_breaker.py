"""A stage in trouble: every try ends in an error that nobody foresaw, whatever the row. The fault is not the rows'.

A library that broke in this process, a bug in a release: each row would fail its eight times and be given up, one after
the other, the whole queue of them. Instead the stage holds still. Its rows are given back and lose no attempt, one at
a time is tried now and then, and the first that works out ends it.
"""

from collections.abc import Callable
from uuid import UUID

import structlog
import trio

_log = structlog.get_logger(__name__)


class StageBreaker:
    """What one process knows of one stage. `on_change` hears of its beginning (True) and its end (False).

    It begins with the failure of `rows` different rows with none in between that worked out. A single bad row is no
    trouble of the stage, however often it is tried: it becomes a dead letter. While it lasts a row is tried every
    `probe_seconds`.
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
        #: Set when it ends.
        self.over = trio.Event()

    def failed(self, subject: UUID, error: str) -> None:
        """Take note of a try that ended in an error that nobody foresaw."""
        self._failed.add(subject)
        if not self.is_open and len(self._failed) >= self._rows:
            self.is_open, self.over = True, trio.Event()
            self._next_probe = trio.current_time() + self._probe_seconds
            self._on_change(True)
            _log.error("the stage is in trouble: nothing it tries works out", stage=self._stage, last_error=error)

    def refused(self) -> None:
        """Take note of a try that could not work out now, as may happen: no sign of trouble, nor of its end."""
        if not self.is_open:
            self._failed.clear()

    def succeeded(self) -> None:
        """Take note of a try that came to something."""
        self._failed.clear()
        if self.is_open:
            self.is_open = False
            self.over.set()
            self._on_change(False)
            _log.info("the stage is out of trouble", stage=self._stage)

    def seconds_to_probe(self) -> float:
        """How long until a row may be tried; 0 when there is no trouble."""
        return max(0.0, self._next_probe - trio.current_time()) if self.is_open else 0.0

    def probing(self) -> None:
        """A row is being tried: the next one not before another while."""
        self._next_probe = trio.current_time() + self._probe_seconds
