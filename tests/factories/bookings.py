"""One claim booked by itself, as a batch of one, by the functions that the actors use."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from fe.identifiers import TrackId
from fe.lifecycle import NumberFate, Status
from fe.store.postgres.db import Conn
from fe.store.postgres.errors import LeaseLost, StoreError
from fe.store.queue import outbox, steps
from fe.store.queue.outbox import Work
from fe.store.queue.steps import SignedDocument


class SendInDoubt(StoreError):
    """An earlier send was never resolved."""


def _ours(work: Work, mine: Sequence[bool]) -> None:
    if mine != [True]:
        raise LeaseLost(work.stage, work.subject, work.epoch)


async def retry(conn: Conn, work: Work, *, at: datetime, after: timedelta, error: str, counts: bool = True) -> None:
    _ours(work, await outbox.retry(conn, [work], at=at, afters=[after], counts=[counts], errors=[error]))


async def dead_letter(conn: Conn, work: Work, *, at: datetime, error: str) -> None:
    _ours(work, await outbox.dead_letter(conn, [work], at=at, errors=[error]))


async def failure(conn: Conn, work: Work, *, at: datetime, response: dict[str, Any], fate: NumberFate) -> None:
    _ours(work, await outbox.failure(conn, [work], at=at, responses=[response], fates=[fate]))


async def received(
    conn: Conn,
    work: Work,
    *,
    at: datetime,
    track_id: TrackId,
    after: timedelta,
    reply: dict[str, Any],
    lease: timedelta | None = None,
) -> str:
    (answer,) = await outbox.received(
        conn, [work], at=at, track_ids=[track_id], afters=[after], replies=[reply], leases=[lease]
    )
    _ours(work, [answer != "lost"])
    return answer


async def doubt(conn: Conn, work: Work, *, at: datetime, after: timedelta, error: str) -> None:
    _ours(work, await outbox.doubt(conn, [work], at=at, afters=[after], errors=[error]))


async def resend(conn: Conn, work: Work, *, at: datetime, after: timedelta, reason: str) -> None:
    _ours(work, await outbox.resend(conn, [work], at=at, afters=[after], reasons=[reason]))


async def processing(conn: Conn, work: Work, *, at: datetime, after: timedelta, response: dict[str, Any]) -> None:
    _ours(work, await outbox.processing(conn, [work], at=at, afters=[after], responses=[response]))


async def verdict(
    conn: Conn,
    work: Work,
    *,
    at: datetime,
    status: Status = Status.ACCEPTED,
    track_id: TrackId | None = None,
    response: dict[str, Any] | None = None,
    fate: NumberFate = NumberFate.USED,
) -> None:
    mine = await outbox.verdict(
        conn, [work], at=at, statuses=[status], track_ids=[track_id], responses=[response or {}], fates=[fate]
    )
    _ours(work, mine)


async def has_open_sends(conn: Conn, work: Work) -> bool:
    (is_open,) = await outbox.have_open_sends(conn, [work])
    return is_open


async def signed(
    conn: Conn, work: Work, document: SignedDocument, *, at: datetime, lease: timedelta | None = None
) -> str:
    (answer,) = await steps.signed(conn, [work], [document], at=at, leases=[lease])
    if answer == "lost":
        raise LeaseLost(work.stage, work.subject, work.epoch)
    return answer


async def intend_to_send(conn: Conn, work: Work, *, at: datetime, lease: timedelta, digest: bytes) -> None:
    (answer,) = await steps.intend_to_send(conn, [work], at=at, leases=[lease], digests=[digest])
    if answer == "lost":
        raise LeaseLost(work.stage, work.subject, work.epoch)
    if answer == "in doubt":
        raise SendInDoubt(work.subject)
