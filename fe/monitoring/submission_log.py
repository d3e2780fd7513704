"""The log of submissions: a line for each thing that happens to one, so that `grep TAXLOGID` tells its way.

Accepted (with the `request_id` of the answer), sent, judged: three lines of about 250 bytes for a document that goes
well. Of a share below 1 the same submissions are chosen in every process, by their ids; what goes wrong is told of all.
"""

import logging
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

import msgspec
import structlog

from fe.monitoring.log import LINES

_log = structlog.get_logger("fe.submissions")

#: Whole lines, made here: the way of all others, through structlog, costs three times as much, and these are many.
_lines = logging.getLogger(LINES)

_to_json = msgspec.json.Encoder().encode

#: Of the last 16 bits of an id, which are drawn by lot.
_ALL: Final = 1 << 16


class SubmissionLog:
    """Writes lines of this process."""

    def __init__(self, share: float = 1.0) -> None:
        """Take the share of submissions that get lines while all goes well: 0 for none, 1 for all."""
        self._below = round(share * _ALL)

    def info(
        self, event: str, submission: UUID, *, trace_id: str | None = None, **about: str | int | float | None
    ) -> None:
        """Say what happened as it should. `about` holds nothing secret, and nothing that a client wrote freely."""
        if submission.int % _ALL >= self._below:
            return
        at = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        traced = {} if trace_id is None else {"trace_id": trace_id}
        line = {"event": event, "level": "info", "timestamp": at, "submission": str(submission), **about, **traced}
        _lines.info(_to_json(line).decode())

    def warn(self, event: str, submission: UUID, *, trace_id: str | None = None, **about: object) -> None:
        """Say what went wrong, of every submission."""
        traced = {} if trace_id is None else {"trace_id": trace_id}
        _log.warning(event, submission=str(submission), **about, **traced)


#: Of tests, and of whatever has no settings.
SILENT = SubmissionLog(0)
