"""The log of submissions: a line for each event of a submission, so that `grep TAXLOGID` shows its history.

Accepted (with the `request_id` of the answer), sent, judged: three lines of about 250 bytes for a document without
problems. With a share below 1 every process chooses the same submissions, by id; errors are logged for all.
"""

import logging
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import msgspec
import structlog

from fe.monitoring.log import LINES

_log = structlog.get_logger("fe.submissions")

#: Lines are formatted here: structlog costs three times as much, and these lines are many.
_lines = logging.getLogger(LINES)

_to_json = msgspec.json.Encoder().encode

#: The last 16 bits of an id are random.
_ALL: Final = 1 << 16


class SubmissionLog:
    """Writes the lines of this process."""

    def __init__(self, share: float = 1.0) -> None:
        """`share` of the submissions without errors get lines: 0 for none, 1 for all."""
        self._below = round(share * _ALL)

    def info(
        self, event: str, submission: UUID, *, trace_id: str | None = None, **about: str | int | float | None
    ) -> None:
        """Log an expected event. `about` must hold no secret and no free text of a client."""
        if submission.int % _ALL >= self._below:
            return
        at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        traced = {} if trace_id is None else {"trace_id": trace_id}
        line = {"event": event, "level": "info", "timestamp": at, "submission": str(submission), **about, **traced}
        _lines.info(_to_json(line).decode())

    def warn(self, event: str, submission: UUID, *, trace_id: str | None = None, **about: object) -> None:
        """Log a problem, for every submission."""
        traced = {} if trace_id is None else {"trace_id": trace_id}
        _log.warning(event, submission=str(submission), **about, **traced)


#: For tests, and for callers without settings.
SILENT = SubmissionLog(0)
