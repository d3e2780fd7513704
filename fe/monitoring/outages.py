"""Outages in the log: a line when one begins, a line with the number of failures when it is over."""

import time
from collections.abc import Callable

import structlog

_log = structlog.get_logger(__name__)


class Outage:
    """Counts failures of one dependency, which may be many a second."""

    def __init__(self, what: str, now: Callable[[], float] = time.monotonic) -> None:
        """`what` is logged as `of`."""
        self._what = what
        self._now = now
        self._failures = 0
        self._began = 0.0

    def failed(self, error: BaseException) -> None:
        """Count a failure. Only the first is logged."""
        if self._failures == 0:
            self._began = self._now()
            _log.warning("the database is away: retrying", of=self._what, error=error)
        self._failures += 1

    def succeeded(self) -> None:
        """Note that it works again; log the number of failures."""
        if self._failures:
            seconds = round(self._now() - self._began, 1)
            _log.warning("the database is back", of=self._what, failures=self._failures, seconds=seconds)
            self._failures = 0
