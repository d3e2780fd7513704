"""Where the context of a trace is kept: in the row that waits, from the door to the webhook, and nowhere else."""

from datetime import timedelta

import psycopg
import pytest

from fe.actors.stages import lanes
from fe.actors.writers import submission_kind
from fe.ecf.catalogue import Environment, Host
from fe.ecf.ids import new_id
from fe.identifiers import ActionId, SubmissionId, TenantId, TrackId
from fe.lifecycle import Stage, WebhookEvent
from fe.monitoring.metrics import Metrics
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.errors import NoNumber
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction
from fe.store.queue.capacity import LaneCapacity, Terms
from fe.store.queue.tables import ALWAYS
from fe.store.records import submissions
from tests.factories import bookings
from tests.factories.tenants import ACCEPTED_AT, DOCUMENT, make_submission, make_tenant, new_submission, row, rows, take
from tests.tracing.collector import traceparent
from tests.webhooks.receiver import make_endpoint

ONE = f"{traceparent('1' * 32)} theirs=a1,other=b 2"
OTHER = traceparent("2" * 32)


async def trace_of(db: Database, subject: SubmissionId, table: str = "outbox") -> str | None:
    found: str | None = (await row(db, f"SELECT trace FROM {table} WHERE subject = %(id)s", id=subject))["trace"]
    return found


async def deliveries(db: Database, subject: SubmissionId) -> list[str | None]:
    found = await rows(
        db,
        "SELECT d.trace FROM webhook_deliveries AS d JOIN webhook_events AS v USING (tenant_id, event_id)"
        " WHERE v.about = %(id)s",
        id=str(subject),
    )
    return [one["trace"] for one in found]


@pytest.mark.parametrize("trace", [None, ONE])
async def test_the_row_of_a_submission_keeps_its_trace(front_db: Database, db: Database, trace: str | None) -> None:
    new = new_submission(await make_tenant(db), trace=trace)

    accepted = await front_db.run(submissions.accept, new, ACCEPTED_AT)

    assert accepted.outcome == "accepted"
    assert await trace_of(db, new.submission_id) == trace


async def test_of_those_taken_in_together_each_has_its_own_or_none(front_db: Database, db: Database) -> None:
    """Also where one is a repeat, and where a client writes the id of another's submission into its tracestate."""
    tenants = [await make_tenant(db) for _ in range(4)]
    news = [new_submission(tenant, e_ncf=None) for tenant in tenants]
    hostile = f"{OTHER} theirs={news[1].submission_id} {ONE}"
    traces = [ONE, None, hostile, OTHER]
    first = new_submission(tenants[0], e_ncf=None, client_request_id="r", trace=OTHER)
    await front_db.run(submissions.accept, first, ACCEPTED_AT)
    batch = [new_submission(tenants[0], e_ncf=None, client_request_id="r", trace=ONE)]
    batch += [
        new_submission(new.tenant_id, e_ncf=None, submission_id=new.submission_id, trace=trace)
        for new, trace in zip(news, traces, strict=True)
    ]

    answers = await front_db.run(submissions.accept_many, [(new, ACCEPTED_AT) for new in batch])

    assert [getattr(answer, "outcome", None) for answer in answers] == ["deduped"] + ["accepted"] * 4
    assert [await trace_of(db, new.submission_id) for new in news] == traces
    assert await trace_of(db, first.submission_id) == OTHER


async def test_what_is_taken_in_next_on_the_same_connection_has_no_trace_of_it(
    front_db: Database, db: Database
) -> None:
    tenant = await make_tenant(db)
    traced, plain = new_submission(tenant, e_ncf=None, trace=ONE), new_submission(tenant, e_ncf=None)

    async def both(conn: Conn) -> None:
        await submissions.accept(conn, traced, ACCEPTED_AT)
        await submissions.accept(conn, plain, ACCEPTED_AT)

    await front_db.run(both)

    assert (await trace_of(db, traced.submission_id), await trace_of(db, plain.submission_id)) == (ONE, None)


async def test_it_stays_from_stage_to_stage_through_retries_and_doubts(db: Database, worker_db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, trace=ONE)
    await worker_db.run(bookings.signed, await take(db, subject), DOCUMENT, at=ACCEPTED_AT)
    assert await trace_of(db, subject) == ONE

    reconciled = await make_submission(db, tenant, stage=Stage.RECONCILE, trace=OTHER)
    assert await trace_of(db, reconciled) == OTHER


async def test_a_claim_brings_it_where_it_is_asked_for(db: Database, worker_db: Database) -> None:
    tenant = await make_tenant(db)
    subjects = {
        stage: await make_submission(db, tenant, stage=stage, trace=ONE, environment=Environment.ECF) for stage in Stage
    }
    plain = await make_submission(db, tenant, stage=Stage.SIGN)

    for stage, subject in subjects.items():
        for traced in (False, True):
            await rows(db, "UPDATE outbox SET run_at = now() - interval '1 s', holder = NULL")
            claimed = await _claim(worker_db, stage, tenant, traced=traced)
            assert claimed[subject] == (ONE if traced else None)
            assert claimed.get(plain) is None


async def _claim(db: Database, stage: Stage, tenant: TenantId, *, traced: bool) -> dict[SubmissionId, str | None]:
    kind = submission_kind(Metrics(), traced=traced)
    assert kind.together is not None
    asked = [
        LaneCapacity(lane, TenantId(0), ALWAYS, free=100, left_to_others=0)
        for lane in lanes(*(("",) if stage is Stage.SIGN else (Host.ECF, Host.FC)))
    ]
    terms = Terms(
        slots=100,
        max_rows=100,
        scope=10,
        max_per_tenant=100,
        busy={},
        holder="test",
        lease=timedelta(seconds=60),
    )
    claims = await db.run(kind.together, stage, asked, terms)
    return {work.subject: work.trace for claim in claims for work in claim.works}


async def test_a_dead_letter_keeps_it_and_a_replay_goes_on_with_it(db: Database, worker_db: Database) -> None:
    tenant = await make_tenant(db)
    subject = await make_submission(db, tenant, stage=Stage.SEND, trace=ONE)
    await worker_db.run(bookings.dead_letter, await take(db, subject), at=ACCEPTED_AT, error="no")
    assert await trace_of(db, subject, "dead_letters") == ONE

    action = OperatorAction(ActionId(new_id(ACCEPTED_AT)), ACCEPTED_AT, "eva", "it is back")
    await db.transact(dead_letters.replay, action, tenant, subject)

    assert await trace_of(db, subject) == ONE


async def test_the_deliveries_of_a_verdict_get_it_and_others_do_not(db: Database, worker_db: Database) -> None:
    tenant = await make_tenant(db)
    for path in ("a", "b"):
        environment = Environment.ECF if path == "a" else None
        await make_endpoint(
            db, tenant, f"https://x.example.do/{path}", events=[WebhookEvent.ACCEPTED], environment=environment
        )
    traced = await make_submission(db, tenant, stage=Stage.TRACK, trace=ONE)
    plain = await make_submission(db, tenant, stage=Stage.TRACK, track_id=TrackId("other"))

    for subject in (traced, plain):
        await worker_db.run(bookings.verdict, await take(db, subject), at=ACCEPTED_AT, track_id=TrackId("t"))

    assert await deliveries(db, traced) == [ONE, ONE]
    assert await deliveries(db, plain) == [None, None]


async def test_a_form_that_is_none_is_refused_by_the_database(front_db: Database, db: Database) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        await front_db.run(submissions.accept, new_submission(await make_tenant(db), trace="garbage"), ACCEPTED_AT)


async def test_who_is_refused_a_number_is_told_so_traced_or_not(front_db: Database, db: Database) -> None:
    new = new_submission(await make_tenant(db), e_ncf=None, draw_prefix="E31", trace=ONE)

    with pytest.raises(NoNumber):
        await front_db.run(submissions.accept, new, ACCEPTED_AT)
    (refused,) = await front_db.run(submissions.accept_many, [(new, ACCEPTED_AT)])

    assert isinstance(refused, NoNumber)
    assert await rows(db, "SELECT subject FROM outbox") == []
