"""Plans: looked at first, released at a pace, stopped by failures, and taken up where they were interrupted."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
import trio

from fe.clock import system_clock
from fe.ecf.catalogue import Environment, Root
from fe.identifiers import CertificateId, ReplayPlanId, SubmissionId, TenantId
from fe.lifecycle import Stage, Status
from fe.operations.replay import (
    PLAN_PATIENCE,
    PlanPatience,
    Preview,
    Run,
    act_on_each,
    can_be_asked,
    preview,
    resume_plan,
    run_plan,
)
from fe.operations.why import PAGES
from fe.store.postgres.db import Database, open_database
from fe.store.queue import audit, dead_letters, replay_plans
from fe.store.queue.audit import OperatorAction
from fe.store.queue.dead_letters import DeadLetter, DeadLetterFilter
from fe.store.queue.replay_plans import Progress, ReplayPlan
from tests.factories import bookings
from tests.factories.operators import act
from tests.factories.tenants import make_submission, make_tenant, rows, take

NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)

DEAD_LETTER = DeadLetter(
    tenant_id=TenantId(7),
    tenant="Ozama",
    subject=SubmissionId(UUID(int=1)),
    stage=Stage.SEND,
    environment=Environment.ECF,
    host="ecf",
    attempt=8,
    crash_count=0,
    died_at=NOW - timedelta(hours=1),
    error="authority answered with status 503",
    cause="authority answered with status 503",
    root=Root.ECF,
    e_ncf="E310000000001",
    issuer_rnc="131880738",
    qr_code_url=None,
    track_id=None,
    sent_sha256="0123456789abcdef" * 4,
    certificate_id=CertificateId(UUID(int=2)),
    certificate_until=NOW + timedelta(days=100),
    sequence_until=NOW + timedelta(days=400),
    sends=0,
    open_sends=0,
    last_sent_at=None,
    accepted_instead=None,
    paused_by=None,
    circuit_open=False,
)


def looked_at(**changes: Any) -> Preview:
    return preview(replace(DEAD_LETTER, **changes), NOW)


# --- Looking ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "sent", "would"),
    [
        ({"stage": "sign", "sent_sha256": None}, "nothing", "sign it, and send it for the first time"),
        ({}, "nothing", "send the signed bytes 0123456789ab for the first time"),
        (
            {"sends": 2, "last_sent_at": NOW},
            "the bytes 0123456789ab may have reached the authority 2 times, last at 2026-11-20 12:00:00Z",
            "ask the authority; if it does not know the document, send the same bytes 0123456789ab again",
        ),
        (
            {"stage": "reconcile", "sends": 3, "open_sends": 1, "last_sent_at": NOW},
            "the bytes 0123456789ab may have reached the authority 3 times, last at 2026-11-20 12:00:00Z;"
            " what became of 1 of these is not known",
            "ask the authority; if it does not know the document, send the same bytes 0123456789ab again",
        ),
        (
            {"stage": "reconcile", "root": "ACECF", "sends": 1, "open_sends": 1, "last_sent_at": NOW},
            "the bytes 0123456789ab may have reached the authority once, last at 2026-11-20 12:00:00Z;"
            " what became of it is not known",
            "send the same bytes 0123456789ab again: nobody can be asked about a document of this kind",
        ),
        (
            {
                "stage": "reconcile",
                "environment": Environment.CERTECF,
                "sends": 1,
                "open_sends": 1,
                "last_sent_at": NOW,
            },
            "the bytes 0123456789ab may have reached the authority once, last at 2026-11-20 12:00:00Z;"
            " what became of it is not known",
            "send the same bytes 0123456789ab again: nobody can be asked about a document in certecf",
        ),
        (
            {
                "stage": "reconcile",
                "environment": Environment.CERTECF,
                "track_id": "d2b6",
                "sends": 1,
                "last_sent_at": NOW,
            },
            "the bytes 0123456789ab may have reached the authority once, last at 2026-11-20 12:00:00Z",
            "ask for the verdict of trackId d2b6; else send the same bytes 0123456789ab again: nobody can be asked"
            " about a document in certecf",
        ),
        (
            {"stage": "track", "track_id": "d2b6", "sends": 1, "last_sent_at": NOW},
            "the bytes 0123456789ab may have reached the authority once, last at 2026-11-20 12:00:00Z",
            "ask again for the verdict of trackId d2b6; send nothing",
        ),
    ],
)
def test_a_preview_says_what_was_sent_and_what_would_be(changes: dict[str, Any], sent: str, would: str) -> None:
    shown = looked_at(**changes)

    assert (str(shown.was_sent), str(shown.would), shown.obstacles) == (sent, would, ())


def test_previews_of_rows_that_differ_in_digest_and_track_id_are_of_one_kind() -> None:
    sent = {"stage": "reconcile", "sends": 1, "last_sent_at": NOW}
    asked = [looked_at(stage="track", sends=1, last_sent_at=NOW, track_id=one).kind for one in ("d2b6", "77aa")]

    assert len({looked_at(**sent, sent_sha256=f"{number:064}").kind for number in range(20)}) == 1
    assert [str(one) for one in asked] == ["ask again for the verdict of its trackId; send nothing"] * 2


@pytest.mark.parametrize(
    ("changes", "obstacle"),
    [
        (
            {"certificate_until": NOW},
            "the tenant's last certificate expired on 2026-11-20: the authority opens no session for it",
        ),
        (
            {"stage": "sign", "certificate_id": None, "certificate_until": NOW - timedelta(days=1)},
            "the tenant's last certificate expired on 2026-11-19: it cannot be signed",
        ),
        (
            {"stage": "sign", "certificate_id": None, "certificate_until": None},
            "the tenant has no certificate: it cannot be signed",
        ),
        ({"sequence_until": NOW - timedelta(seconds=1)}, "the sequence of E31 expired on 2026-11-20"),
        (
            {"accepted_instead": UUID(int=9)},
            "the number was accepted with another submission, 00000000-0000-0000-0000-000000000009:"
            " this one will be rejected",
        ),
        ({"crash_count": 8}, "8 processes died over it: it may end the next one too"),
        ({"paused_by": "ana"}, "its tenant or environment is paused by ana: it would wait"),
        ({"circuit_open": True}, "the authority's host ecf in ecf has an open circuit: it would wait"),
    ],
)
def test_what_stands_in_the_way_is_said(changes: dict[str, Any], obstacle: str) -> None:
    assert [str(one) for one in looked_at(**changes).obstacles] == [obstacle]


def test_a_page_says_a_preview_in_spanish_with_days_of_santo_domingo() -> None:
    ended = datetime(2026, 11, 20, 3, tzinfo=UTC)
    shown = preview(
        replace(DEAD_LETTER, sends=1, open_sends=1, last_sent_at=ended, certificate_until=ended), NOW, PAGES
    )

    assert shown.was_sent.es.endswith("una vez, la última el 19-11-2026 23:00:00; no se sabe qué pasó con él")
    assert [one.es.partition(":")[0] for one in shown.obstacles] == [
        "el último certificado de la empresa venció el 19-11-2026"
    ]


def test_all_obstacles_are_said_at_once() -> None:
    assert len(looked_at(certificate_until=NOW, sequence_until=NOW, crash_count=3, circuit_open=True).obstacles) == 4


def test_only_what_was_signed_and_has_a_service_that_tells_can_be_asked_about() -> None:
    assert can_be_asked(DEAD_LETTER)
    assert can_be_asked(replace(DEAD_LETTER, root=Root.RFCE))
    assert not can_be_asked(replace(DEAD_LETTER, root=Root.ACECF))
    assert not can_be_asked(replace(DEAD_LETTER, root=Root.ANECF))
    assert not can_be_asked(replace(DEAD_LETTER, certificate_id=None))
    assert not can_be_asked(replace(DEAD_LETTER, environment=Environment.CERTECF))
    assert can_be_asked(replace(DEAD_LETTER, environment=Environment.CERTECF, host="fc"))


# --- Plans ------------------------------------------------------------------------------------------------------------


async def make_dead(db: Database, many: int) -> list[tuple[TenantId, SubmissionId]]:
    tenant = await make_tenant(db)
    made = []
    for number in range(many):
        subject = await make_submission(db, tenant, stage=Stage.SEND, e_ncf=f"E31{number:010}")
        await db.run(bookings.dead_letter, await take(db, subject), at=NOW, error="cannot connect")
        made.append((tenant, subject))
    return made


async def make_plan(
    db: Database,
    dead: Sequence[tuple[TenantId, SubmissionId]],
    *,
    plan_id: ReplayPlanId = ReplayPlanId("p1"),
    canary: bool = False,
    per_second: float = 1000,
    stop_on_failure: bool = True,
) -> ReplayPlan:
    await db.transact(
        replay_plans.make,
        OperatorAction.of("eva", "the authority is back", NOW),
        plan_id,
        dead,
        canary=canary,
        per_second=Decimal(str(per_second)),
        stop_on_failure=stop_on_failure,
    )
    plan = await db.run(replay_plans.find, plan_id)
    assert plan is not None
    return plan


async def run(
    db: Database,
    plan: ReplayPlan,
    *,
    wait: bool = False,
    patience: PlanPatience = PLAN_PATIENCE,
) -> Run:
    return await run_plan(db, plan, "eva", clock=system_clock, wait=wait, patience=patience)


async def go_on(db: Database, plan: ReplayPlan) -> bool:
    """Go on with the plan as it is now."""
    found = await db.run(replay_plans.find, plan.plan_id)
    assert found is not None
    return await db.transact(resume_plan, found, act(NOW))


async def going(db: Database) -> list[SubmissionId]:
    return [found["subject"] for found in await rows(db, "SELECT subject FROM outbox ORDER BY entered_at")]


async def until_going(db: Database, *subjects: SubmissionId) -> None:
    while True:
        if set(subjects) <= set(await going(db)):
            return
        await trio.sleep(0.01)


async def bring_to_an_end(db: Database, subject: SubmissionId, status: Status = Status.ACCEPTED) -> None:
    await db.run(bookings.verdict, await take(db, subject), at=NOW, status=status)


async def fail_again(db: Database, subject: SubmissionId) -> None:
    await db.run(bookings.dead_letter, await take(db, subject), at=NOW, error="again")


async def times_replayed(db: Database) -> dict[SubmissionId, int]:
    found = await rows(
        db, "SELECT submission_id, count(*) AS n FROM submission_events WHERE kind = 'replayed' GROUP BY 1"
    )
    return {one["submission_id"]: one["n"] for one in found}


async def test_a_plan_releases_every_row_once_in_its_order_and_is_finished(db: Database) -> None:
    dead = await make_dead(db, 5)
    plan = await make_plan(db, dead)

    ended = await run(db, plan)

    assert ended == Run(Progress(total=5, released=5, skipped=0, ended=0, troubles=[]))
    assert await going(db) == [subject for _, subject in dead]
    finished = await db.run(replay_plans.find, ReplayPlanId("p1"))
    assert finished is not None
    assert finished.finished_at is not None


async def test_a_finished_plan_does_nothing_when_it_is_run_again(db: Database) -> None:
    dead = await make_dead(db, 2)
    plan = await make_plan(db, dead)
    await run(db, plan)
    await bring_to_an_end(db, dead[0][1])
    await fail_again(db, dead[1][1])

    assert not await go_on(db, plan)
    again = await run(db, plan)

    assert (again.progress.released, again.progress.ended, again.progress.failed) == (2, 1, [dead[1][1]])
    assert set((await times_replayed(db)).values()) == {1}


async def test_a_plan_of_the_same_name_is_not_made_twice(db: Database) -> None:
    dead = await make_dead(db, 2)
    await make_plan(db, dead[:1])

    second = await make_plan(db, dead)

    assert (await run(db, second)).progress.total == 1


async def test_a_plan_cancelled_anywhere_goes_on_where_it_stopped(db: Database) -> None:
    dead = await make_dead(db, 12)
    plan = await make_plan(db, dead)

    for _ in range(4):
        with trio.move_on_after(0.015):
            await run(db, plan)
    ended = await run(db, plan)

    assert (ended.progress.released, ended.stopped) == (12, None)
    assert await times_replayed(db) == {subject: 1 for _, subject in dead}


async def test_a_plan_run_by_several_at_once_releases_every_row_once_and_keeps_its_pace(dsn: str) -> None:
    async with open_database(dsn) as db:
        dead = await make_dead(db, 10)
        plan = await make_plan(db, dead, per_second=20)
        started = trio.current_time()

        async with trio.open_nursery() as operators_at_once:
            for _ in range(3):
                operators_at_once.start_soon(run, db, plan)

        assert await times_replayed(db) == {subject: 1 for _, subject in dead}
        assert trio.current_time() - started > 9 / 20


async def test_rows_behind_the_canary_wait_for_its_verdict(db: Database) -> None:
    dead = await make_dead(db, 4)
    plan = await make_plan(db, dead, canary=True)
    while_open: list[int] = []

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run, db, plan)
        await until_going(db, dead[0][1])
        await trio.sleep(0.1)
        while_open.append(len(await times_replayed(db)))
        await bring_to_an_end(db, dead[0][1], Status.REJECTED)

    assert while_open == [1]
    assert await times_replayed(db) == {subject: 1 for _, subject in dead}


async def test_a_canary_that_fails_again_stops_the_plan_and_the_rest_stays_where_it_is(db: Database) -> None:
    dead = await make_dead(db, 3)
    plan = await make_plan(db, dead, canary=True)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_let_fail, db, dead[0][1])
        ended = await run(db, plan)

    assert ended.stopped == f"a canary failed again: {dead[0][1]} E310000000000: again"
    assert (ended.progress.released, ended.progress.failed) == (1, [dead[0][1]])
    assert len(await db.run(dead_letters.listed, DeadLetterFilter(), 10)) == 3


@pytest.mark.parametrize("many", [1, 2])
async def test_a_plan_whose_last_row_fails_again_is_at_its_end(db: Database, many: int) -> None:
    dead = await make_dead(db, many)
    plan = await make_plan(db, dead, canary=many == 1)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_let_fail, db, dead[-1][1])
        for _, subject in dead[:-1]:
            nursery.start_soon(_let_end, db, subject)
        ended = await run(db, plan, wait=True)
    finished = await db.run(replay_plans.find, plan.plan_id)
    assert finished is not None
    again = await run(db, finished, wait=True)

    assert (ended.stopped, ended.progress.failed) == (None, [dead[-1][1]])
    assert (again.stopped, again.progress.failed) == (None, [dead[-1][1]])


async def _let_end(db: Database, subject: SubmissionId) -> None:
    await until_going(db, subject)
    await bring_to_an_end(db, subject)


async def _let_fail(db: Database, subject: SubmissionId) -> None:
    await until_going(db, subject)
    await fail_again(db, subject)


async def test_plan_that_goes_on_sends_another_canary_and_tries_the_failed_row_last(db: Database) -> None:
    dead = await make_dead(db, 3)
    plan = await make_plan(db, dead, canary=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_let_fail, db, dead[0][1])
        stopped = await run(db, plan)
    assert await go_on(db, plan)
    order: list[SubmissionId] = []

    async def let_through(subject: SubmissionId) -> None:
        await until_going(db, subject)
        order.append(subject)
        await bring_to_an_end(db, subject)

    async with trio.open_nursery() as nursery:
        for _, subject in dead:
            nursery.start_soon(let_through, subject)
        ended = await run_plan(db, plan, "eva", clock=system_clock)

    assert stopped.stopped is not None
    assert ended.stopped is None
    assert ended.progress == Progress(total=3, released=3, skipped=0, ended=3, troubles=[])
    assert (order[0], set(order)) == (dead[1][1], {subject for _, subject in dead})


async def test_plan_goes_on_once_after_each_stop(db: Database) -> None:
    plan = await make_plan(db, await make_dead(db, 2))
    assert not await go_on(db, plan)
    await db.run(replay_plans.halt, plan.plan_id, "eva stopped it", NOW)
    seen = await db.run(replay_plans.find, plan.plan_id)
    assert seen is not None

    assert await db.transact(resume_plan, seen, act(NOW))
    await db.run(replay_plans.halt, plan.plan_id, "ana stopped it", NOW + timedelta(seconds=1))

    assert not await db.transact(resume_plan, seen, act(NOW))


async def test_canary_without_verdict_stops_the_plan(db: Database) -> None:
    plan = await make_plan(db, await make_dead(db, 2), canary=True)

    ended = await run(db, plan, patience=PlanPatience(canary=0.1))

    assert ended.stopped == "the canary has no verdict after 0.1 s: `fe outbox why` says why"
    assert ended.progress.released == 1
    found = await db.run(replay_plans.find, plan.plan_id)
    assert found is not None
    assert found.halted_because == ended.stopped


async def test_canary_of_a_resumed_plan_is_not_passed_by_the_verdict_of_the_one_before(db: Database) -> None:
    dead = await make_dead(db, 4)
    plan = await make_plan(db, dead, canary=True)
    await run(db, plan, patience=PlanPatience(canary=0.1))
    await bring_to_an_end(db, dead[0][1])
    halted = await db.transact(replay_plans.release_next, act(NOW), plan.plan_id)

    assert await go_on(db, plan)

    released = await db.transact(replay_plans.release_next, act(NOW), plan.plan_id)
    await trio.sleep(0.01)  # longer than the pace asks for
    following = await db.transact(replay_plans.release_next, act(NOW), plan.plan_id)
    assert (halted.what, released.what, following.what) == ("halted", "released", "canary")


async def test_plan_of_the_release_before_waits_for_all_its_canaries(db: Database) -> None:
    dead = await make_dead(db, 4)
    plan = await make_plan(db, dead, canary=True)
    await db.transact(dead_letters.replay, act(NOW), *dead[0])
    await db.transact(dead_letters.replay, act(NOW), *dead[1])
    await rows(
        db,
        "UPDATE replay_items SET released_at = now(), released_to = 'send' WHERE turn <= 2;"
        " UPDATE replay_plans SET canary = 2, canary_of_lane = 2",
    )
    steps = []
    for _, subject in dead[:2]:
        steps.append((await db.transact(replay_plans.release_next, act(NOW), plan.plan_id)).what)
        await bring_to_an_end(db, subject)
    steps.append((await db.transact(replay_plans.release_next, act(NOW), plan.plan_id)).what)

    assert steps == ["canary", "canary", "released"]


async def fail_a_try(db: Database, subject: SubmissionId, error: str = "status 503") -> None:
    """Book a failed try, as an actor does: due again later."""
    await db.run(bookings.retry, await take(db, subject), at=NOW, after=timedelta(minutes=1), error=error)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    while True:
        if await condition():
            return
        await trio.sleep(0.01)


async def test_each_new_canary_that_fails_stops_the_plan(db: Database) -> None:
    dead = await make_dead(db, 4)
    plan = await make_plan(db, dead, canary=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_let_fail, db, dead[0][1])
        await run(db, plan)

    still = await run(db, plan)
    await go_on(db, plan)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_let_fail, db, dead[1][1])
        second = await run(db, plan)
    await go_on(db, plan)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_accept_all, db, dead[2:])
        third = await run(db, plan)

    assert still.stopped == f"a canary failed again: {dead[0][1]} E310000000000: again"
    assert second.stopped == f"a canary failed again: {dead[1][1]} E310000000001: again"
    assert second.progress.released == 1
    assert (third.stopped, third.progress.released) == (None, 4)
    assert await times_replayed(db) == {dead[0][1]: 2, dead[1][1]: 2, dead[2][1]: 1, dead[3][1]: 1}


async def test_after_going_on_a_failure_behind_the_canary_stops_the_plan_as_before(db: Database) -> None:
    patience = PlanPatience(look=0.01)
    dead = await make_dead(db, 30)
    plan = await make_plan(db, dead, canary=True, per_second=2)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(_let_fail, db, dead[0][1])
        await run(db, plan, patience=patience)

    async def let_the_third_fail() -> None:
        await _accept_all(db, dead[1:2])
        await _let_fail(db, dead[2][1])

    await go_on(db, plan)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(let_the_third_fail)
        ended = await run(db, plan, patience=patience)

    assert ended.stopped == f"a released row failed again: {dead[2][1]} E310000000002: again"
    assert ended.progress.released < 30


async def test_the_first_failed_try_holds_the_plan_and_when_it_lasts_stops_it(db: Database) -> None:
    patience = PlanPatience(look=0.01, trouble=0.3)
    dead = await make_dead(db, 60)
    plan = await make_plan(db, dead, per_second=2)

    async def let_a_try_fail() -> None:
        await until_going(db, dead[0][1])
        await fail_a_try(db, dead[0][1])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(let_a_try_fail)
        ended = await run(db, plan, patience=patience)

    assert ended.stopped == f"a released row fails: {dead[0][1]} E310000000000: status 503"
    assert ended.progress.released < 60
    assert ended.progress.failed == []  # it is being tried again: the stop did not wait for its last try


async def test_a_row_over_which_a_process_died_is_a_failure(db: Database) -> None:
    patience = PlanPatience(trouble=0.0)
    dead = await make_dead(db, 2)
    plan = await make_plan(db, dead, canary=True)

    async def die_over_it() -> None:
        await until_going(db, dead[0][1])
        await take(db, dead[0][1])
        await take(db, dead[0][1])  # a claim that finds a holder has found a death

    async with trio.open_nursery() as nursery:
        nursery.start_soon(die_over_it)
        ended = await run(db, plan, patience=patience)

    assert ended.stopped == f"a canary fails: {dead[0][1]} E310000000000: processes died over it: 1"


async def test_a_row_that_fails_and_gets_on_holds_the_plan_for_so_long_only(db: Database) -> None:
    patience = PlanPatience(look=0.01)
    dead = await make_dead(db, 12)
    plan = await make_plan(db, dead, per_second=5)
    first = dead[0][1]
    held: list[int] = []

    async def released() -> int:
        return (await db.run(replay_plans.progress, plan.plan_id)).released

    async def stands_still() -> bool:
        before = await released()
        await trio.sleep(0.6)
        return await released() == before

    async def fail_and_get_on() -> None:
        await until_going(db, first)
        await fail_a_try(db, first)
        await until(stands_still)
        held.append(await released())
        await bring_to_an_end(db, first)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(fail_and_get_on)
        ended = await run(db, plan, patience=patience)

    assert held[0] < 12
    assert (ended.stopped, ended.progress.released, ended.progress.ended) == (None, 12, 1)


async def test_a_plan_that_failures_are_not_to_stop_goes_through_to_its_end(db: Database) -> None:
    dead = await make_dead(db, 3)
    plan = await make_plan(db, dead, per_second=20, stop_on_failure=False)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_let_fail, db, dead[0][1])
        ended = await run(db, plan)

    assert (ended.stopped, ended.progress.released) == (None, 3)


async def test_a_run_ends_after_the_last_verdict_unless_it_is_not_to_wait(db: Database) -> None:
    dead = await make_dead(db, 2)
    plan = await make_plan(db, dead)
    at_once = await run(db, plan, wait=False)
    ended: list[Run] = []

    async def go_through() -> None:
        ended.append(await run(db, plan, wait=True))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(go_through)
        await bring_to_an_end(db, dead[0][1])
        await trio.sleep(2 * PLAN_PATIENCE.look)
        while_one_is_under_way = list(ended)
        await bring_to_an_end(db, dead[1][1], Status.REJECTED)

    assert (at_once.progress.open, at_once.progress.ended) == (2, 0)
    assert while_one_is_under_way == []
    assert [(run.stopped, run.progress.ended, run.progress.open) for run in ended] == [(None, 2, 0)]


async def test_what_another_operator_has_dealt_with_is_skipped_and_is_no_failure(db: Database) -> None:
    dead = await make_dead(db, 3)
    plan = await make_plan(db, dead, canary=True)
    await db.transact(dead_letters.discard, act(NOW), *dead[0])

    async with trio.open_nursery() as nursery:
        nursery.start_soon(_accept_all, db, dead[1:])
        ended = await run(db, plan)

    assert (ended.stopped, ended.progress.released, ended.progress.skipped) == (None, 3, 1)
    assert ended.progress.failed == []


async def _accept_all(db: Database, dead: Sequence[tuple[TenantId, SubmissionId]]) -> None:
    for _, subject in dead:
        await until_going(db, subject)
        await bring_to_an_end(db, subject)


async def test_every_release_is_on_record_with_the_reason_of_the_plan(db: Database) -> None:
    dead = await make_dead(db, 2)
    await run(db, await make_plan(db, dead))

    deeds = await db.run(audit.latest, 10)

    assert [deed.action for deed in deeds].count("replay") == 2
    assert {deed.reason for deed in deeds} == {"the authority is back"}
    assert [deed.detail for deed in deeds if deed.action == "plan"] == [{"plan": "p1", "rows": 2}]


async def test_acting_on_each_tells_which_were_no_dead_letters_any_more(db: Database) -> None:
    made = await make_dead(db, 2)
    dead = await db.run(dead_letters.listed, DeadLetterFilter(), 10)
    await db.transact(dead_letters.replay, act(NOW), *made[0])

    done = await act_on_each(db, dead, dead_letters.discard, "eva", "issued by hand", clock=system_clock)

    assert done == {made[0][1]: None, made[1][1]: "reusable"}


async def test_nor_is_one_touched_that_has_died_anew_since_it_was_looked_at(db: Database) -> None:
    made = await make_dead(db, 2)
    dead = await db.run(dead_letters.listed, DeadLetterFilter(), 10)
    await rows(
        db,
        "UPDATE dead_letters SET died_at = now() + interval '1 s' WHERE tenant_id = %(t)s AND subject = %(s)s",
        t=made[0][0],
        s=made[0][1],
    )

    done = await act_on_each(db, dead, dead_letters.discard, "eva", "issued by hand", clock=system_clock)

    assert done == {made[0][1]: None, made[1][1]: "reusable"}
    assert len(await rows(db, "SELECT 1 FROM dead_letters")) == 1
