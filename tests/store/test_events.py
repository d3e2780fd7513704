"""The story of a submission: every move leaves an event, and no event can be changed or taken out unseen."""

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fe.identifiers import SubmissionId, TrackId
from fe.lifecycle import Stage
from fe.store.postgres.db import Database
from fe.store.records import submissions
from tests.factories import bookings
from tests.factories.tenants import (
    ACCEPTED_AT,
    LEASE,
    SIGNED,
    digest_of,
    make_submission,
    make_tenant,
    rows,
    story,
    take,
)

AT = datetime(2026, 11, 6, 15, 0, 0, 123456, tzinfo=UTC)
SOON = timedelta(seconds=30)

CHAIN = """
    SELECT tenant_id, submission_id, seq, at, kind, detail::text AS detail, hash
      FROM submission_events WHERE submission_id = %(id)s ORDER BY seq
"""


def first_broken(chain: list[dict[str, Any]]) -> int | None:
    """Recompute the chain from what it says, and name the first place where it does not hold.

    The rule, in words of its own: SHA-256 over the hash before (nothing for the first) and six lines: tenant,
    submission, place in the chain (from 1, without gap), moment in UTC to the microsecond, kind, detail.
    """
    previous = b""
    for place, event in enumerate(chain, start=1):
        lines = (
            str(event["tenant_id"]),
            str(event["submission_id"]),
            str(place),
            event["at"].astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
            event["kind"],
            event["detail"],
        )
        if event["seq"] != place or event["hash"] != hashlib.sha256(previous + "\n".join(lines).encode()).digest():
            return place
        previous = event["hash"]
    return None


async def long_life(db: Database) -> SubmissionId:
    """A submission that is sent twice, followed, and accepted; its texts have letters and quotes of every kind."""
    subject = await make_submission(db, await make_tenant(db), stage=Stage.SEND)

    async def send() -> None:
        work = await take(db, subject)
        await db.run(bookings.intend_to_send, work, at=AT, lease=LEASE, digest=digest_of(SIGNED))

    await send()
    work = (await rows(db, "SELECT epoch FROM outbox"))[0]
    assert work["epoch"] == 2
    sent = await take(db, subject)
    await db.run(bookings.doubt, sent, at=AT, after=SOON, error="año \\ «corté» \"quoted\" 'single' \U0001f9fe \n\t")
    await db.run(bookings.resend, await take(db, subject), at=AT, after=SOON, reason="not known")
    await send()
    await db.run(
        bookings.received, await take(db, subject), at=AT, track_id=TrackId("t"), after=SOON, reply={"z": 1.50, "a": []}
    )
    await db.run(bookings.processing, await take(db, subject), at=AT, after=SOON, response={"ñ": None})
    await db.run(
        bookings.verdict,
        await take(db, subject),
        at=AT.astimezone(),
        track_id=TrackId("t"),
        response={"mensajes": [{"codigo": "0", "valor": ""}]},
    )
    return subject


async def test_the_whole_life_is_told_in_order(db: Database) -> None:
    subject = await long_life(db)

    assert await story(db, subject) == [
        "accepted",
        "signed",
        "sending",
        "outcome_unknown",
        "not_known_there",
        "sending",
        "received",
        "processing",
        "verdict",
    ]
    tenant = (await rows(db, "SELECT tenant_id FROM submissions"))[0]["tenant_id"]
    told = await db.run(submissions.timeline, tenant, subject)
    assert [event.seq for event in told] == list(range(1, 10))
    assert (told[0].at, told[-1].at) == (ACCEPTED_AT, AT)
    assert told[-1].detail == {
        "status": "Aceptado",
        "response": {"mensajes": [{"codigo": "0", "valor": ""}]},
        "numberFate": "used",
    }


async def test_the_chain_of_hashes_can_be_recomputed_from_what_it_says(db: Database) -> None:
    subject = await long_life(db)

    chain = await rows(db, CHAIN, id=subject)

    assert first_broken(chain) is None
    assert len({event["hash"] for event in chain}) == len(chain)


@pytest.mark.parametrize(
    ("tampering", "broken_at"),
    [
        ('UPDATE submission_events SET detail = detail || \'{"by": "me"}\' WHERE seq = 4', 4),
        ("UPDATE submission_events SET kind = 'retry' WHERE seq = 1", 1),
        ("UPDATE submission_events SET at = '2020-01-01Z' WHERE seq = 9", 9),
        ("UPDATE submission_events SET hash = sha256('x') WHERE seq = 3", 3),
        ("UPDATE submission_events SET tenant_id = 99 WHERE seq = 2", 2),
        ("DELETE FROM submission_events WHERE seq = 5", 5),
        ("DELETE FROM submission_events WHERE seq = 1", 1),
        ("UPDATE submission_events SET seq = 50 WHERE seq = 5", 5),
    ],
)
async def test_a_change_in_the_chain_shows_where_it_was_made(db: Database, tampering: str, broken_at: int) -> None:
    subject = await long_life(db)

    await rows(db, tampering)

    assert first_broken(await rows(db, CHAIN, id=subject)) == broken_at


async def test_chains_of_two_submissions_cannot_be_exchanged(db: Database) -> None:
    one, other = await long_life(db), await make_submission(db, await make_tenant(db))
    mine = await rows(db, CHAIN, id=one)
    theirs = await rows(db, CHAIN, id=other)

    assert first_broken([theirs[0], *mine[1:]]) == 2
    assert first_broken([{**theirs[0], "submission_id": one}]) == 1
