"""How each outcome of a submission is written: one table. Each writer calls one function of sql/0005_steps.sql."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from fe.actors.outcomes import Adopted, Decided, Failed, NotKnownThere, Processing, Received, Signed
from fe.clock import Clock
from fe.ecf.ids import moment_of
from fe.identifiers import SubmissionId
from fe.lifecycle import Status
from fe.monitoring.metrics import Metrics
from fe.queue.outcome import InDoubt, Outcome, Park, Retry, Writer
from fe.queue.stage import WorkKind
from fe.store import submissions
from fe.store.postgres.db import Conn
from fe.store.queue import outbox
from fe.store.queue.outbox import Work


async def _signed(conn: Conn, work: Work, outcome: Signed, at: datetime) -> None:
    await submissions.signed(conn, work, outcome.document, at=at)


async def _received(conn: Conn, work: Work, outcome: Received, at: datetime) -> None:
    await outbox.received(conn, work, at=at, track_id=outcome.track_id, after=outcome.after, reply=outcome.reply)


async def _adopted(conn: Conn, work: Work, outcome: Adopted, at: datetime) -> None:
    reply: dict[str, Any] = {"adopted": True}
    await outbox.received(conn, work, at=at, track_id=outcome.track_id, after=outcome.after, reply=reply)


async def _processing(conn: Conn, work: Work, outcome: Processing, at: datetime) -> None:
    await outbox.processing(conn, work, at=at, after=outcome.after, response=outcome.response)


async def _not_known_there(conn: Conn, work: Work, outcome: NotKnownThere, at: datetime) -> None:
    await outbox.resend(conn, work, at=at, after=outcome.after, reason=outcome.reason)


async def _decided(conn: Conn, work: Work, outcome: Decided, at: datetime) -> None:
    await outbox.verdict(
        conn,
        work,
        at=at,
        status=outcome.status,
        track_id=outcome.track_id,
        response=outcome.response,
        fate=outcome.fate,
    )


async def _failed(conn: Conn, work: Work, outcome: Failed, at: datetime) -> None:
    await outbox.failure(conn, work, at=at, response=outcome.response, fate=outcome.fate)


async def _in_doubt(conn: Conn, work: Work, outcome: InDoubt, at: datetime) -> None:
    await outbox.doubt(conn, work, at=at, after=outcome.after, error=outcome.reason)


async def _retry(conn: Conn, work: Work, outcome: Retry, at: datetime) -> None:
    if outcome.counts:
        # The try has failed for certain, so the intent of this claim, if there is one, came to nothing.
        await outbox.not_sent(conn, work, at=at, after=outcome.after, error=outcome.reason)
    else:
        await outbox.retry(conn, work, at=at, after=outcome.after, error=outcome.reason, counts=False)


async def _park(conn: Conn, work: Work, outcome: Park, at: datetime) -> None:
    await outbox.dead_letter(conn, work, at=at, error=outcome.reason)


WRITERS: Mapping[type[Outcome], Writer[Work]] = {
    Signed: _signed,
    Received: _received,
    Adopted: _adopted,
    Processing: _processing,
    NotKnownThere: _not_known_there,
    Decided: _decided,
    Failed: _failed,
    InDoubt: _in_doubt,
    Retry: _retry,
    Park: _park,
}


async def _is_open(conn: Conn, work: Work) -> bool:
    return await outbox.has_open_sends(conn, work)


def submission_kind(
    metrics: Metrics, clock: Clock, ended: Callable[[SubmissionId], None] = lambda _: None
) -> WorkKind[Work]:
    """Submissions as a kind of work. `ended` is told of each that has ended: somebody may be waiting for it."""

    def written(work: Work, outcome: Outcome) -> None:
        match outcome:
            case Decided(status=status, ecf_type=ecf_type):
                ended(work.subject)
                seconds = max((clock() - moment_of(work.subject)).total_seconds(), 0.0)
                metrics.observe_end(work.environment, status, ecf_type, seconds)
            case Failed():
                ended(work.subject)
                metrics.observe_end(work.environment, Status.ERROR, "unknown", None)

    return WorkKind(outbox, WRITERS, is_open=_is_open, written=written)
