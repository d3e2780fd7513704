"""Replays from the portal: preview, run without a terminal, stop, and take over by another process."""

import re
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import httpx
import pytest
import trio

from fe.identifiers import ReplayPlanId, SubmissionId, TenantId
from fe.operations.replay import _said
from fe.portal.operator_words import halt_words
from fe.portal.pages.operators import dead_letters as dead_letters_page
from fe.store.postgres.db import Conn, Database
from fe.store.postgres.roles import OPERATOR
from fe.store.queue import dead_letters, replay_plans
from fe.store.queue.replay_plans import ReplayTrouble
from tests.factories import bookings
from tests.factories.operators import act
from tests.factories.tenants import make_tenant, rows, take
from tests.portal.operators import (
    WHY,
    accept,
    dead,
    make_dead,
    operating,
    runner,
    times_replayed,
    until_rows,
)
from tests.portal.running import Browser, Running
from tests.waiting import until_waited_for

REVIEW, REPLAY = "/operators/dead-letters/review", "/operators/dead-letters/replay"
DISCARD = "/operators/dead-letters/discard"


async def look_at_all(browser: Browser) -> None:
    await browser.get("/operators/dead-letters")
    page = await browser.send(REVIEW, {"which": "all"})
    assert page.status_code == 200


async def replay_all(browser: Browser, **fields: str) -> ReplayPlanId:
    await look_at_all(browser)
    page = await browser.send(REPLAY, {"per_second": "1000", **WHY, **fields})
    assert page.url.path.startswith("/operators/replays/replay-"), page.text
    return ReplayPlanId(page.url.path.rpartition("/")[2])


async def test_filter_offers_the_companies_that_the_page_names(
    portal: Running, operator_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an outage every company may have dead letters: the page stays as small as it is."""
    monkeypatch.setattr(dead_letters_page, "_SHOWN", 1)
    for _ in range(8):
        await make_dead(portal.db, await make_tenant(portal.db), portal.clock())
    async with operating(portal) as browser:
        page = (await browser.get("/operators/dead-letters")).text

    assert "… +3" in page
    assert 5 <= page.count('<option value="tenant ') <= 6


async def test_one_is_understood_and_looked_at_before_it_goes_again(
    nursery: trio.Nursery, portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    subject, other = await make_dead(portal.db, tenant, portal.clock(), 2)
    async with operating(portal) as browser:
        page = await browser.get(f"/operators/dead-letters/{subject}")
        assert "status 503" in page.text
        assert "for the first time" in page.text
        page = await browser.send(REVIEW)
        assert (page.status_code, str(other) in page.text) == (200, False)
        companies = page.text.partition('<ul id="companies">')[2].partition("</ul>")[0]
        assert re.fullmatch(r"<li><b>1</b>: <bdi>[^<]+</bdi></li>", companies), companies
        assert "<b>1</b>" in page.text.partition('<ul id="causes">')[2].partition("</ul>")[0]
        assert await dead(portal.db) == {subject, other}
        page = await browser.send(REPLAY, {"per_second": "1000", **WHY})
        assert (page.status_code, "running" in page.text) == (200, True)
        assert await dead(portal.db) == {subject, other}
        nursery.start_soon(runner(portal, operator_db).run)
        await until_rows(portal.db, "SELECT 1 AS n FROM replay_plans WHERE finished_at IS NOT NULL")
        assert "all released" in (await browser.get(page.url.path)).text

    assert await dead(portal.db) == {other}
    (done,) = await rows(portal.db, "SELECT by_whom, reason FROM operator_actions WHERE action = 'replay'")
    assert done == {"by_whom": "olga@fe.do", "reason": WHY["reason"]}


async def test_what_is_wrong_is_said_beside_the_form_with_what_was_typed(portal: Running, tenant: TenantId) -> None:
    await make_dead(portal.db, tenant, portal.clock())
    async with operating(portal) as browser:
        for fields in (
            {"per_second": "0"},
            {"per_second": "1e3"},
            {"per_second": "9" * 400},
            {"reason": ""},
        ):
            await look_at_all(browser)
            page = await browser.send(REPLAY, {"per_second": "5", "reason": "typed before", **fields})
            assert (page.status_code, 'role="alert"' in page.text) == (400, True), fields
            assert ("typed before" in page.text) == ("reason" not in fields)
        await browser.get("/operators/dead-letters")
        assert (await browser.send(REVIEW, {"which": "chosen"})).status_code == 409
        await browser.get("/operators/dead-letters")
        assert (await browser.send(REVIEW, {"which": "chosen", "id": "nothing"})).status_code == 409

    assert not await rows(portal.db, "SELECT 1 AS n FROM replay_plans")


async def test_a_selection_that_has_changed_is_not_acted_upon(portal: Running, tenant: TenantId) -> None:
    await make_dead(portal.db, tenant, portal.clock(), 2)
    async with operating(portal) as browser:
        for action in (REPLAY, DISCARD):
            await look_at_all(browser)
            await make_dead(portal.db, tenant, portal.clock())
            stale = await browser.send(action, {"per_second": "5", **WHY})
            assert (stale.status_code, "This was changed meanwhile" in stale.text) == (409, True)

    assert len(await dead(portal.db)) == 4
    assert not await rows(portal.db, "SELECT 1 AS n FROM pending_actions")


async def test_what_another_has_set_going_meanwhile_leads_to_what_became_of_it(
    portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    """Between the look at what is chosen and its carrying out: there is no plan then, and no page of one."""
    (subject,) = await make_dead(portal.db, tenant, portal.clock())
    pages: list[httpx.Response] = []

    async with operating(portal) as browser:
        await look_at_all(browser)

        async def sending() -> None:
            pages.append(await browser.send(REPLAY, {"per_second": "5", **WHY}))

        async def replaying(conn: Conn, nursery: trio.Nursery) -> None:
            # A replay holds the audit trail, which the request waits for.
            await dead_letters.replay(conn, act(portal.clock()), tenant, subject)
            nursery.start_soon(sending)
            await until_waited_for(portal.db)

        async with trio.open_nursery() as both:
            await operator_db.transact(replaying, both)

    (page,) = pages
    assert (page.status_code, page.url.path.startswith("/operators/approvals/")) == (200, True)
    assert "none of them is as it was" in page.text


async def test_a_form_that_is_sent_twice_makes_one_plan(portal: Running, tenant: TenantId) -> None:
    await make_dead(portal.db, tenant, portal.clock(), 2)
    async with operating(portal) as browser:
        await look_at_all(browser)
        shown = browser.page
        fields = {"per_second": "5", **WHY}
        assert (await browser.send(REPLAY, fields)).status_code == 200
        browser.page = shown
        assert (await browser.send(REPLAY, fields)).status_code == 409

    assert len(await rows(portal.db, "SELECT 1 AS n FROM replay_plans")) == 1


def test_reason_of_a_stopped_replay_is_said_in_spanish_and_a_persons_own_as_written() -> None:
    trouble = ReplayTrouble(
        SubmissionId(UUID(int=1)),
        "E310000000001",
        gave_up=True,
        is_canary=True,
        passed_over=False,
        error="no answer",
    )
    failing = _said([trouble, trouble], "failed again")
    silent = "the canary has no verdict after 600 s: `fe outbox why` says why"

    assert halt_words(failing).en == failing
    assert halt_words(failing).es == (
        f"un envío de prueba falló de nuevo: {trouble.subject} E310000000001: no answer, y 1 más con problemas"
    )
    assert halt_words(silent).es.startswith("el envío de prueba no tiene respuesta de la DGII tras 600 s")
    assert halt_words("olga: wrong ones").es == "olga: wrong ones"


async def test_a_plan_is_stopped_and_goes_on(
    nursery: trio.Nursery, portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    await make_dead(portal.db, tenant, portal.clock(), 3)
    async with operating(portal) as browser:
        plan_id = await replay_all(browser)
        here = f"/operators/replays/{plan_id}"
        page = await browser.send(f"{here}/stop", {"reason": "wrong ones"})
        assert "wrong ones" in page.text
        again = await browser.client.post(f"{here}/stop", data={"csrf": "x"})
        assert again.status_code == 403
        nursery.start_soon(runner(portal, operator_db).run)
        await until_rows(portal.db, "SELECT 1 AS n FROM duties")
        step = await operator_db.transact(replay_plans.release_next, act(portal.clock()), plan_id)
        assert (step.what, len(await dead(portal.db))) == ("halted", 3)
        await browser.get(here)
        stale = browser.page
        page = await browser.send(f"{here}/go-on", {"reason": "the right ones after all"})
        assert "goes on" in page.text
        await until_rows(portal.db, "SELECT 1 AS n FROM replay_plans WHERE finished_at IS NOT NULL")
        browser.page = stale
        assert (await browser.send(f"{here}/go-on", WHY)).status_code == 409

    assert not await dead(portal.db)
    acts = await rows(portal.db, "SELECT action FROM operator_actions WHERE subject IS NULL ORDER BY at, action_id")
    assert [one["action"] for one in acts] == ["plan", "plan stop", "plan go on"]


async def test_runner_that_finds_a_plan_stopped_does_not_stop_it_again(
    portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    """An operator goes on between the runner's look and its end."""
    await make_dead(portal.db, tenant, portal.clock(), 3)
    async with operating(portal) as browser:
        plan_id = await replay_all(browser)
    assert await operator_db.run(replay_plans.halt, plan_id, "ana: wrong ones", portal.clock())
    seen: list[str | None] = []

    class GoesOn(Database):
        async def run(self, work: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
            found = await super().run(work, *args, **kwargs)
            if work is replay_plans.find:  # why it is stopped; it was just found to be
                seen.append(found.halted_because)
                await operator_db.transact(replay_plans.go_on, plan_id, found.halted_at)
            return found

    plan = await operator_db.run(replay_plans.find, plan_id)
    assert plan is not None
    await runner(portal, GoesOn(operator_db._driver, OPERATOR))._carry_on(plan)

    assert seen == ["ana: wrong ones"]
    plan = await operator_db.run(replay_plans.find, plan_id)
    assert plan is not None
    assert plan.halted_at is None


async def test_a_canary_that_fails_stops_the_plan_and_everybody_sees_why(
    nursery: trio.Nursery, portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    canary, *_ = await make_dead(portal.db, tenant, portal.clock(), 3)
    async with operating(portal) as browser:
        plan_id = await replay_all(browser, canary="on")
        nursery.start_soon(runner(portal, operator_db).run)
        await until_rows(portal.db, "SELECT 1 AS n FROM outbox")
        await portal.db.run(bookings.dead_letter, await take(portal.db, canary), at=portal.clock(), error="as before")
        await until_rows(portal.db, "SELECT 1 AS n FROM replay_plans WHERE halted_at IS NOT NULL")
        page = await browser.get(f"/operators/replays/{plan_id}")

    assert "a canary failed again" in page.text
    assert len(await dead(portal.db)) == 3


async def test_a_plan_survives_who_carries_it_on_and_releases_each_row_once(
    portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    made = await make_dead(portal.db, tenant, portal.clock(), 8)
    async with operating(portal) as browser:
        await replay_all(browser)
    for holder in ("one", "two", "three"):
        seen = len(await times_replayed(portal.db))
        async with trio.open_nursery() as process:
            process.start_soon(runner(portal, operator_db, holder).run)
            await until_rows(portal.db, f"SELECT 1 AS n FROM replay_items HAVING count(released_at) > {min(seen, 7)}")
            process.cancel_scope.cancel()
        await rows(portal.db, "UPDATE duties SET held_until = 'epoch' RETURNING 1")
    async with trio.open_nursery() as process:
        for holder in ("four", "five"):
            process.start_soon(runner(portal, operator_db, holder).run)
        await until_rows(portal.db, "SELECT 1 AS n FROM replay_plans WHERE finished_at IS NOT NULL")
        process.cancel_scope.cancel()

    assert await times_replayed(portal.db) == dict.fromkeys(made, 1)


async def test_a_plan_of_the_command_line_is_left_to_it(
    portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    await make_dead(portal.db, tenant, portal.clock())
    async with operating(portal) as browser:
        await replay_all(browser)
    await rows(portal.db, "UPDATE replay_plans SET carried_on = false RETURNING 1")

    assert await operator_db.run(replay_plans.to_carry_on) == []


async def test_many_are_given_up_with_a_note_for_their_clients(portal: Running, tenant: TenantId) -> None:
    made = await make_dead(portal.db, tenant, portal.clock(), 120)
    async with operating(portal) as browser:
        await look_at_all(browser)
        page = await browser.send(DISCARD, {"note": "hand it in again", **WHY})
        assert (page.status_code, ">120<" in page.text) == (200, True)

    assert not await dead(portal.db)
    found = await rows(portal.db, "SELECT response ->> 'error' AS said FROM submissions WHERE status = 'error'")
    assert len(found) == len(made)
    assert all("hand it in again" in one["said"] and WHY["reason"] not in one["said"] for one in found)


async def test_an_accepted_row_shows_in_the_progress(
    nursery: trio.Nursery, portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    (subject,) = await make_dead(portal.db, tenant, portal.clock())
    async with operating(portal) as browser:
        plan_id = await replay_all(browser)
        nursery.start_soon(runner(portal, operator_db).run)
        await until_rows(portal.db, "SELECT 1 AS n FROM outbox")
        await accept(portal.db, subject, portal.clock())
        await browser.get(f"/operators/replays/{plan_id}")

    assert (await operator_db.run(replay_plans.progress, plan_id)).ended == 1


async def test_dead_letters_are_grouped_by_cause_and_the_review_of_a_group_counts_alike_rows_once(
    portal: Running, tenant: TenantId
) -> None:
    await make_dead(portal.db, tenant, portal.clock(), 12)
    await make_dead(portal.db, tenant, portal.clock(), 2, error="the certificate expired")
    async with operating(portal) as olga:
        page = await olga.get("/operators/dead-letters")
        assert page.text.count(">Look at all</a>") == 2
        exported = await olga.get("/operators/dead-letters.csv?error=certificate")
        await olga.get("/operators/dead-letters?error=answered+with+status+503&stage=send&environment=ecf")
        reviewed = await olga.send(REVIEW, {"which": "all"})

    assert page.text.index("authority answered with status 503") < page.text.index("the certificate expired")
    lines = exported.content.decode("utf-8-sig").splitlines()
    assert (len(lines), lines[1].endswith("the certificate expired,the certificate expired")) == (3, True)
    said = reviewed.text.partition("What a replay would do</h2>")[2].partition("</ul>")[0]
    assert (said.count("<li>"), "<b>12</b>" in said) == (1, True)
