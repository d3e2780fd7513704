"""A second person: nothing is done before, what is done is what was seen, once, and never agreed to by who asked."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
import trio

from fe.accounts import approvals
from fe.accounts.approvals import DecisionRefused
from fe.accounts.execute_approval import execute_approval
from fe.ecf.ids import new_id
from fe.identifiers import ActionId, ReplayPlanId, TenantId
from fe.store.postgres.db import Conn, Database
from fe.store.queue import dead_letters
from fe.store.queue.audit import OperatorAction
from fe.store.queue.dead_letters import DeadLetterFilter
from fe.store.records import billing, pending_actions, tenants
from fe.store.records.pending_actions import Kind
from tests.factories.tenants import rows
from tests.portal.operators import WHY, dead, make_dead, operating, runner, times_replayed, until_rows
from tests.portal.running import Browser, Running, start_portal
from tests.store.race import plain
from tests.waiting import until_waited_for

_LOCK = "SELECT 1 FROM dead_letters WHERE tenant_id = %s AND subject = %s FOR UPDATE"
DISCARD, REVIEW = "/operators/dead-letters/discard", "/operators/dead-letters/review"


@pytest.fixture
async def careful(nursery: trio.Nursery, db: Database, portal_db: Database, operator_db: Database) -> Running:
    """A portal where more than two at once take two."""
    await rows(db, "UPDATE second_person SET more_than = 2")
    return await start_portal(nursery, db, portal_db, operator_db)


async def ask_to_discard(browser: Browser) -> str:
    await browser.get("/operators/dead-letters")
    await browser.send(REVIEW, {"which": "all"})
    page = await browser.send(DISCARD, WHY)
    assert page.url.path.startswith("/operators/approvals/"), page.text
    return page.url.path


async def test_many_are_given_up_when_another_operator_agrees(careful: Running, tenant: TenantId) -> None:
    made = await make_dead(careful.db, tenant, careful.clock(), 3)
    async with operating(careful) as olga, operating(careful, "oscar@fe.do") as oscar:
        here = await ask_to_discard(olga)
        assert await dead(careful.db) == set(made)
        page = await olga.get(here)
        assert ("Approve" in page.text, "another operator" in page.text) == (False, True)
        assert (await oscar.get("/operators")).text.count("second operator") == 1
        page = await oscar.get(here)
        assert (str(made[0]) in page.text, "olga@fe.do" in page.text) == (True, True)
        assert page.text.count("authority answered with status 503") == 3

        page = await oscar.send(f"{here}/approve", {"reason": "agreed"})

    assert "It is approved." in page.text
    assert not await dead(careful.db)
    done = await rows(careful.db, "SELECT action, by_whom FROM operator_actions ORDER BY at, action_id")
    said = {(one["action"], one["by_whom"]) for one in done}
    assert said == {("ask discard", "olga@fe.do"), ("approve discard", "oscar@fe.do"), ("discard", "olga@fe.do")}


async def test_few_are_given_up_by_one(careful: Running, tenant: TenantId) -> None:
    await make_dead(careful.db, tenant, careful.clock(), 2)
    async with operating(careful) as olga:
        await ask_to_discard(olga)

    assert not await dead(careful.db)


async def test_nobody_agrees_to_what_they_asked_for(careful: Running, tenant: TenantId) -> None:
    made = await make_dead(careful.db, tenant, careful.clock(), 3)
    async with operating(careful) as olga, operating(careful, "oscar@fe.do") as oscar:
        here = await ask_to_discard(olga)
        await oscar.get(here)
        oscar.client, olga.client = olga.client, oscar.client  # the form as another sees it
        assert oscar.page is not None
        digest = oscar.page.text.partition('name="digest" value="')[2].partition('"')[0]
        await oscar.get(here)
        refused = await oscar.client.post(
            f"{here}/approve",
            data={
                "csrf": oscar.page.text.partition('name="csrf" value="')[2].partition('"')[0],
                "form": str(new_id(careful.clock())),
                "digest": digest,
                **WHY,
            },
        )

    assert (refused.status_code, "You asked for it yourself" in refused.text) == (409, True)
    assert await dead(careful.db) == set(made)


async def test_what_is_refused_or_over_is_never_done(careful: Running, tenant: TenantId) -> None:
    made = await make_dead(careful.db, tenant, careful.clock(), 3)
    async with operating(careful) as olga, operating(careful, "oscar@fe.do") as oscar:
        first = await ask_to_discard(olga)
        await oscar.get(first)
        approving = oscar.page
        assert "It is refused." in (await oscar.send(f"{first}/refuse", {"reason": "no"})).text
        oscar.page = approving
        late = await oscar.send(f"{first}/approve", WHY)
        assert (late.status_code, "decided already" in late.text) == (409, True)

        second = await ask_to_discard(olga)
        await oscar.get(second)
        await rows(careful.db, "UPDATE pending_actions SET expires_at = asked_at RETURNING 1")
        over = await oscar.send(f"{second}/approve", WHY)
        assert over.status_code == 409
        assert "expired" in (await oscar.get("/operators/approvals")).text

    assert await dead(careful.db) == set(made)


async def test_two_who_agree_at_once_do_it_once(careful: Running, operator_db: Database, tenant: TenantId) -> None:
    made = await make_dead(careful.db, tenant, careful.clock(), 60)
    answers: list[int] = []
    async with (
        operating(careful) as olga,
        operating(careful, "oscar@fe.do") as oscar,
        operating(careful, "omar@fe.do") as omar,
    ):
        here = await ask_to_discard(olga)

        async def approve(browser: Browser) -> None:
            answers.append((await browser.send(f"{here}/approve", WHY)).status_code)

        for browser in (oscar, omar):
            await browser.get(here)
        async with trio.open_nursery() as both:
            both.start_soon(approve, oscar)
            both.start_soon(approve, omar)

    assert sorted(answers) == [200, 409]
    (found,) = await rows(careful.db, "SELECT outcome FROM pending_actions")
    assert found["outcome"] == {"discarded": len(made), "passedOver": 0}


async def _approved(db: Database, portal: Running, kind: Kind, tenant_id: TenantId, request: dict[str, Any]) -> UUID:
    """An approved request whose executing process has died."""
    now = portal.clock()
    by = OperatorAction(ActionId(new_id(now)), now, "olga@fe.do", "why")
    tenant = await db.run(tenants.by_id, tenant_id)
    action_id = await db.transact(
        approvals.ask,
        kind,
        request,
        by,
        "portal",
        tenant=tenant,
        alone=False,
    )
    found = await db.run(pending_actions.find, action_id)
    assert found is not None
    other = OperatorAction(ActionId(new_id(now)), now, "oscar@fe.do", "agreed")
    await db.transact(approvals.approve, action_id, found.digest, other, "portal")
    return action_id


async def test_what_was_agreed_is_carried_out_though_the_process_died(
    nursery: trio.Nursery, portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    made = await make_dead(portal.db, tenant, portal.clock(), 5)
    found = await operator_db.run(dead_letters.listed, DeadLetterFilter(), 10)
    frozen = approvals.frozen(found)
    plan = approvals.replay_request(
        frozen[:2], ReplayPlanId("p1"), canary=False, per_second=Decimal(1000), stop_on_failure=True
    )
    await _approved(operator_db, portal, "replay", tenant, plan)
    await _approved(operator_db, portal, "discard", tenant, approvals.discard_request(frozen[2:], None))
    await _approved(operator_db, portal, "tenant disable", tenant, {})
    assert await dead(portal.db) == set(made)

    for holder in ("one", "two"):
        nursery.start_soon(runner(portal, operator_db, holder).run)
    await until_rows(portal.db, "SELECT 1 AS n FROM replay_plans WHERE finished_at IS NOT NULL")
    await until_rows(portal.db, "SELECT 1 AS n FROM disabled_tenants")

    assert await times_replayed(portal.db) == dict.fromkeys(made[:2], 1)
    assert not await dead(portal.db)
    assert len(await rows(portal.db, "SELECT 1 AS n FROM operator_actions WHERE action = 'discard'")) == 3


async def test_what_cannot_be_carried_out_now_keeps_nothing_else_from_it(
    nursery: trio.Nursery, dsn: str, portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    """A console locks a row of the first request: the others neither wait nor fail with it."""
    made = await make_dead(portal.db, tenant, portal.clock(), 2)
    frozen = approvals.frozen(await operator_db.run(dead_letters.listed, DeadLetterFilter(), 10))
    await _approved(operator_db, portal, "discard", tenant, approvals.discard_request(frozen[:1], None))
    await _approved(operator_db, portal, "discard", tenant, approvals.discard_request(frozen[1:], None))

    with plain(dsn) as console:
        console.execute("BEGIN")
        console.execute(_LOCK, (tenant, made[0]))
        nursery.start_soon(runner(portal, operator_db).run)
        await until_rows(portal.db, "SELECT 1 AS n FROM pending_actions WHERE executed_at IS NOT NULL")
        assert await dead(portal.db) == {made[0]}
        console.execute("ROLLBACK")

    await until_rows(portal.db, "SELECT 1 AS n FROM pending_actions HAVING count(executed_at) = 2")
    assert not await dead(portal.db)


async def test_what_cannot_be_carried_out_now_is_not_said_to_have_changed_nothing(
    nursery: trio.Nursery, dsn: str, careful: Running, operator_db: Database, tenant: TenantId
) -> None:
    """The decision is recorded, so the answer must not say that nothing will happen."""
    (subject,) = await make_dead(careful.db, tenant, careful.clock())
    async with operating(careful) as browser:
        await browser.get("/operators/dead-letters")
        await browser.send(REVIEW, {"which": "all"})
        with plain(dsn) as console:
            console.execute("BEGIN")
            console.execute(_LOCK, (tenant, subject))
            page = await browser.send(DISCARD, WHY)
            console.execute("ROLLBACK")

    assert (page.status_code, "Nothing was changed" in page.text) == (503, False)
    assert "do not send it again" in page.text
    nursery.start_soon(runner(careful, operator_db).run)
    await until_rows(careful.db, "SELECT 1 AS n FROM pending_actions WHERE executed_at IS NOT NULL")
    assert not await dead(careful.db)


async def test_carrying_out_that_is_cut_off_anywhere_goes_on(
    portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    made = await make_dead(portal.db, tenant, portal.clock(), 120)
    found = await operator_db.run(dead_letters.listed, DeadLetterFilter(), 200)
    request = approvals.discard_request(approvals.frozen(found), None)
    action_id = await _approved(operator_db, portal, "discard", tenant, request)
    for _ in range(5):
        with trio.move_on_after(0.05):
            await execute_approval(operator_db, action_id, portal.clock)
    await execute_approval(operator_db, action_id, portal.clock)
    await execute_approval(operator_db, action_id, portal.clock)

    (ended,) = await rows(portal.db, "SELECT outcome, rows_done, executed_at FROM pending_actions")
    assert (ended["outcome"], ended["rows_done"]) == ({"discarded": len(made), "passedOver": 0}, 120)
    assert len(await rows(portal.db, "SELECT 1 AS n FROM operator_actions WHERE action = 'discard'")) == 120


async def test_what_changed_since_it_was_asked_for_is_passed_over(
    portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    made = await make_dead(portal.db, tenant, portal.clock(), 3)
    found = await operator_db.run(dead_letters.listed, DeadLetterFilter(), 10)
    request = approvals.discard_request(approvals.frozen(found), None)
    action_id = await _approved(operator_db, portal, "discard", tenant, request)
    await rows(portal.db, "UPDATE dead_letters SET died_at = now() WHERE subject = %(one)s RETURNING 1", one=made[0])

    await execute_approval(operator_db, action_id, portal.clock)

    (ended,) = await rows(portal.db, "SELECT outcome FROM pending_actions")
    assert ended["outcome"] == {"discarded": 2, "passedOver": 1}
    assert await dead(portal.db) == {made[0]}


async def test_terms_that_changed_meanwhile_are_not_set(
    portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    request = approvals.terms_request(None, price=Decimal("0.035"), currency="USD", tier="volume", subscription="sub_1")
    first = await _approved(operator_db, portal, "billing enable", tenant, request)
    second = await _approved(operator_db, portal, "billing enable", tenant, request)
    for one in (first, second, first):
        await execute_approval(operator_db, one, portal.clock)

    account = await operator_db.run(billing.account, tenant)
    assert account is not None
    assert (account.unit_price, account.pricing_tier, account.subscription_id) == (Decimal("0.0350"), "volume", "sub_1")
    ended = await rows(portal.db, "SELECT outcome FROM pending_actions ORDER BY asked_at, action_id")
    assert [one["outcome"].get("failed") for one in ended] == [None, "the terms were changed meanwhile"]


async def test_nor_where_they_change_at_the_very_moment(
    portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    """The command line sets a price while the portal carries out what was agreed to under the one before."""
    now = portal.clock()
    await operator_db.run(
        billing.enable, tenant, subscription_id="sub_1", unit_price=Decimal(1), currency="USD", pricing_tier="standard"
    )
    before = await operator_db.run(billing.account, tenant)
    request = approvals.terms_request(before, price=Decimal(2), currency=None, tier=None)
    agreed = await _approved(operator_db, portal, "billing price", tenant, request)

    async def setting(conn: Conn, nursery: trio.Nursery) -> None:
        await billing.set_price(conn, tenant, unit_price=Decimal(3), at=now)
        nursery.start_soon(execute_approval, operator_db, agreed, portal.clock)
        await until_waited_for(portal.db)

    async with trio.open_nursery() as nursery:
        await operator_db.transact(setting, nursery)

    account = await operator_db.run(billing.account, tenant)
    assert account is not None
    assert account.unit_price == 3
    (ended,) = await rows(portal.db, "SELECT outcome FROM pending_actions")
    assert ended["outcome"] == {"failed": "the terms were changed meanwhile"}


async def test_a_request_that_was_tampered_with_is_not_carried_out(
    portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    action_id = await _approved(operator_db, portal, "tenant disable", tenant, {})
    await rows(portal.db, "UPDATE pending_actions SET request = '{\"rows\": []}' RETURNING 1")

    await execute_approval(operator_db, action_id, portal.clock)

    assert not await rows(portal.db, "SELECT 1 AS n FROM disabled_tenants")


async def test_who_goes_by_a_name_elsewhere_may_be_the_same(
    portal: Running, operator_db: Database, tenant: TenantId
) -> None:
    now = portal.clock()
    by = OperatorAction(ActionId(new_id(now)), now, "root (ana)", "why")
    action_id = await operator_db.transact(approvals.ask, "tenant disable", {}, by, "cli", alone=False)
    found = await operator_db.run(pending_actions.find, action_id)
    assert found is not None
    for who, way in (("oscar@fe.do", "portal"), ("root", "cli"), ("root (eva)", "cli"), ("ROOT", "cli")):
        other = OperatorAction(ActionId(new_id(now)), now, who, "agreed")
        with pytest.raises(DecisionRefused):
            await operator_db.transact(approvals.approve, action_id, found.digest, other, way)  # type: ignore[arg-type]
    late = OperatorAction(ActionId(new_id(now)), now + timedelta(days=2), "eva", "agreed")
    with pytest.raises(DecisionRefused):
        await operator_db.transact(approvals.approve, action_id, found.digest, late, "cli")
    with pytest.raises(DecisionRefused):
        await operator_db.transact(
            approvals.approve, action_id, bytes(32), OperatorAction(by.action_id, now, "eva", "x"), "cli"
        )
