"""Notices of verdicts: hints that a submission has ended, for clients in a long poll.

They cost nothing in the transaction of the verdict: within the process a waiting task is woken at once; other processes
get one NOTIFY at most every `THROTTLE` seconds. A hint may be lost; long polls also look by themselves at intervals.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID

import structlog
import trio

from fe.identifiers import SubmissionId
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import ANY_OF_THE_DATABASE

CHANNEL = "fe_verdict"
THROTTLE = 0.1
#: Ids in one notification: its payload must stay below 8,000 bytes.
_MAX_IDS = 200

_log = structlog.get_logger(__name__)


class VerdictNotices:
    """Notifies and listens. One per process."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._waiting: dict[SubmissionId, tuple[trio.Event, int]] = {}
        self._to_send: dict[SubmissionId, None] = {}
        self._something_to_send = trio.Event()

    def notify(self, *submission_ids: SubmissionId) -> None:
        """Say that these submissions have ended. Call it after the commit."""
        for submission_id in submission_ids:
            self._wake(submission_id)
            self._to_send[submission_id] = None
        self._something_to_send.set()

    @contextmanager
    def event(self, submission_id: SubmissionId) -> Iterator[trio.Event]:
        """Give an event that is set at the notice. Take it *before* looking at the submission: then none is missed."""
        event, next_stages = self._waiting.get(submission_id, (trio.Event(), 0))
        self._waiting[submission_id] = (event, next_stages + 1)
        try:
            yield event
        finally:
            held, next_stages = self._waiting.get(submission_id, (event, 0))
            if held is event and next_stages <= 1:
                self._waiting.pop(submission_id, None)
            elif held is event:
                self._waiting[submission_id] = (event, next_stages - 1)

    async def run(self) -> None:
        """Carry notices to the other processes and theirs to us, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._db.listen, CHANNEL, self._heard)
            nursery.start_soon(self._send)

    def wake(self, submission_ids: Iterable[SubmissionId]) -> None:
        """Wake the waiting tasks of this process only."""
        for submission_id in submission_ids:
            self._wake(submission_id)

    def _wake(self, submission_id: SubmissionId) -> None:
        if waiting := self._waiting.pop(submission_id, None):
            waiting[0].set()

    def _heard(self, payload: str) -> None:
        for text in payload.split(","):
            try:
                self._wake(SubmissionId(UUID(text)))
            except ValueError:
                _log.warning("a notification of verdicts could not be read")

    async def _send(self) -> None:
        while True:
            await self._something_to_send.wait()
            self._something_to_send = trio.Event()
            ids, self._to_send = list(self._to_send), {}
            try:
                for start in range(0, len(ids), _MAX_IDS):
                    await self._db.run(_notify, ids[start : start + _MAX_IDS])
            except ANY_OF_THE_DATABASE as error:
                _log.warning("a notice of verdicts was not sent", error=error)  # long polls look again by themselves
            await trio.sleep(THROTTLE)


async def _notify(conn: Conn, submission_ids: Sequence[SubmissionId]) -> None:
    await conn.execute("SELECT pg_notify(%s, %s)", (CHANNEL, ",".join(map(str, submission_ids))))
