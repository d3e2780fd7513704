"""The company's first page: what needs attention, the numbers of the month, the last receipts."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from fe.accounts import sequences as flow
from fe.ecf.catalogue import EcfType, Environment
from fe.ecf.dates import local
from fe.ecf.ids import new_id
from fe.identifiers import SequenceId, TenantId, UserId
from fe.lifecycle import Status
from fe.metering.aggregator import fold_all, restart
from fe.portal.attention import notices
from fe.store.portal.standing import MAX_COUNTED, Unsettled
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import WORKER
from fe.store.queue import circuits
from fe.store.records import sequences, tenants
from fe.store.records.sequences import Sequence
from tests.factories.companies import make_certificate
from tests.factories.tenants import make_submission, rows
from tests.http import worker
from tests.portal.receipts import make_receipt
from tests.portal.running import Browser, Running

NOW = datetime.now(UTC)


async def test_a_new_company_is_told_what_to_do_first(owner: Browser, tenant: TenantId) -> None:
    page = await owner.get(f"/companies/{tenant}")

    assert "There is no certificate: nothing can be signed." in page.text
    assert f'href="/companies/{tenant}/certificates"' in page.text
    assert "Make the first receipt" in page.text
    assert 'id="sales"' not in page.text


async def test_what_went_wrong_is_shown_with_the_way_there(
    owner: Browser, tenant: TenantId, db: Database, dsn: str
) -> None:
    await make_certificate(db, tenant)
    await make_receipt(db, tenant, e_ncf="E310000000001")
    await make_receipt(db, tenant, e_ncf="E310000000002", status=Status.REJECTED)
    dead = await make_submission(db, tenant, at=NOW, e_ncf="E310000000003")
    await worker.give_up(db, str(dead), "no luck")
    await make_receipt(db, tenant, e_ncf="E310000000004", status=None)
    async with open_database(dsn, role=WORKER) as workers:
        await restart(workers, tenant)
        await fold_all(workers, tenant)

    page = await owner.get(f"/companies/{tenant}")

    assert f'href="/companies/{tenant}/ecf/submissions?state=rejected"' in page.text
    assert f'href="/companies/{tenant}/ecf/submissions?state=dead"' in page.text
    assert "Receipts rejected in the last 7 days: 1." in page.text
    line = page.text.partition('ecf/submissions">Production</a></th>')[2].partition("</tr>")[0]
    assert [cell.partition("<")[0] for cell in line.split('<td class="num">')[1:]] == ["1", "0", "1", "1"]
    assert page.text.index("E310000000004") < page.text.index("E310000000001")
    dead_ones = await owner.get(f"/companies/{tenant}/ecf/submissions?state=dead")
    assert "E310000000003" in dead_ones.text
    assert "E310000000004" not in dead_ones.text
    waiting = await owner.get(f"/companies/{tenant}/ecf/submissions?state=waiting")
    assert "E310000000004" in waiting.text


async def test_sales_of_the_day_and_the_month_are_shown_by_environment(
    owner: Browser, tenant: TenantId, db: Database, dsn: str
) -> None:
    today = local(NOW).date()
    before = today.replace(day=1) if today.day > 1 else None
    for number, (of, total, status, day) in enumerate(
        (
            (EcfType.CONSUMER, "1500.50", Status.ACCEPTED, today),
            (EcfType.CONSUMER, "100.00", Status.CONDITIONAL, today),
            (EcfType.CREDIT_NOTE, "50.25", Status.ACCEPTED, today),
            (EcfType.CONSUMER, "9000.00", Status.REJECTED, today),
            (EcfType.MINOR_EXPENSES, "700.00", Status.ACCEPTED, today),
            (EcfType.CONSUMER, "400.00", Status.ACCEPTED, before or today.replace(year=2025)),
        ),
        start=1,
    ):
        made = await make_receipt(db, tenant, e_ncf=f"E{of}{number:010d}", ecf_type=of, status=status)
        said = {"id": made, "day": day, "total": total}
        statement = (
            "UPDATE submissions SET issued_on = %(day)s, total = %(total)s, itbis = 0 WHERE submission_id = %(id)s"
        )
        await rows(db, statement, **said)
    async with open_database(dsn, role=WORKER) as workers:
        await restart(workers, tenant)
        await fold_all(workers, tenant)

    page = await owner.get(f"/companies/{tenant}")
    other = await owner.get(f"/companies/{tenant}?environment=testecf")

    assert re.findall(r"RD\$ ([0-9,.]+)</", page.text.partition('id="sales"')[2].partition("</dl>")[0]) == [
        "1,550.25",
        "1,950.25" if before else "1,550.25",
    ]
    assert f'href="/companies/{tenant}/ecf/days/{today}"' in page.text
    assert f'href="/companies/{tenant}/ecf/months/{today:%Y-%m}"' in page.text
    assert other.text.partition('id="sales"')[2].count("RD$ 0.00") == 2


async def test_a_sequence_that_runs_out_or_ends_is_told(tenant: TenantId, db: Database) -> None:
    found = []
    for prefix, minimum, maximum, used, days in (
        ("E31", 1, 100, 95, None),
        ("E32", 1, 100, 100, None),
        ("E33", 1, 100, 0, 10),
        ("E34", 1, 100, 0, -2),
        ("E41", 1, 100, 0, 300),
    ):
        made = await db.run_for(
            tenant,
            sequences.put,
            Environment.ECF,
            prefix,
            new_id=SequenceId(uuid4()),
            minimum=minimum,
            maximum=maximum,
            expire_at=None if days is None else NOW + timedelta(days=days),
            is_active=True,
            at=NOW,
        )
        found.append(replace(made, current_number=minimum + used))

    told = [str(notice.text) for notice in notices([], found, [], [], NOW)]

    assert told[0].startswith("There is no certificate")
    assert sorted(one.removeprefix("The sequence of ") for one in told[1:]) == [
        "consumer invoices (E32) is used up.",
        "credit notes (E34) has expired.",
        "debit notes (E33) expires in 10 days.",
        "fiscal credit invoices (E31) has 5 numbers left.",
    ]


@pytest.mark.parametrize(
    ("left", "hours", "said"),
    [
        (1, None, "A la secuencia de facturas de crédito fiscal (E31) le queda 1 número."),
        (5, None, "A la secuencia de facturas de crédito fiscal (E31) le quedan 5 números."),
        (100, 1, "La secuencia de facturas de crédito fiscal (E31) vence hoy, al terminar el día."),
        (100, 25, "La secuencia de facturas de crédito fiscal (E31) vence mañana, al terminar el día."),
        (100, 49, "La secuencia de facturas de crédito fiscal (E31) vence en 2 días."),
    ],
)
def test_one_is_not_said_as_many(left: int, hours: int | None, said: str) -> None:
    now = datetime(2026, 12, 1, 4, tzinfo=UTC) - timedelta(hours=hours or 0)
    ends = None if hours is None else datetime(2026, 12, 1, 4, tzinfo=UTC) - timedelta(milliseconds=1)
    sequence = Sequence(TenantId(1), Environment.ECF, "E31", SequenceId(uuid4()), 1, 100, 101 - left, True, ends)

    (told,) = [one.text.es for one in notices([], [sequence], [], [], now) if "secuencia" in one.text.es]

    assert told == said


async def test_what_users_alone_sign_with_is_said_as_it_is(
    owner: Browser, portal: Running, tenant: TenantId, db: Database
) -> None:
    async def certificate_of(email: str) -> None:
        user_id = UserId(new_id(portal.clock()))
        await db.run(tenants.create_user, tenant, user_id, email, None)
        await make_certificate(db, tenant, user_id=user_id)

    await certificate_of("a@example.do")
    signs = await owner.get(f"/companies/{tenant}/certificates")
    assert "that of its only user signs" in signs.text
    alone = await owner.get(f"/companies/{tenant}")
    await certificate_of("b@example.do")
    several = await owner.get(f"/companies/{tenant}")

    assert "nothing can be signed" not in alone.text
    assert "All is well" in alone.text
    assert "only receipts that name one of them are signed" in several.text


async def test_overview_in_the_last_evening_of_a_month_counts_that_month(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    evening = datetime(2026, 12, 1, 1, tzinfo=UTC)  # 21:00 of the 30th in Santo Domingo
    portal.clock.ahead = evening - datetime.now(UTC)
    async with portal.browser() as browser:
        await browser.sign_in("ana@example.do")
        page = await browser.get(f"/companies/{tenant}")

    assert "<small>November 2026</small>" in page.text


def test_more_than_anybody_counts_is_said_so() -> None:
    told = notices([], [], [], [Unsettled(Environment.TESTECF, 0, 0, MAX_COUNTED, 0)], NOW)

    assert f"rejected in the last 7 days: {MAX_COUNTED}+" in str(told[-1].text)


async def test_first_steps_are_ticked_one_by_one_and_gone_after_the_first_real_receipt(
    owner: Browser, tenant: TenantId, db: Database
) -> None:
    page = await owner.get(f"/companies/{tenant}")
    assert "First steps <small>1/7</small>" in page.text
    await make_certificate(db, tenant)
    page = await owner.get(f"/companies/{tenant}")
    assert "First steps <small>2/7</small>" in page.text

    accepted = """
        INSERT INTO usage_days (tenant_id, utc_day, environment, submitted, settled, accepted, conditional, rejected,
                                answered, latency_us)
        VALUES (%(tenant)s, now(), 'ecf', 1, 1, 1, 0, 0, 1, 0)
    """
    await rows(db, accepted, tenant=tenant)
    assert "First steps" not in (await owner.get(f"/companies/{tenant}")).text


async def test_every_page_says_that_the_authority_is_away_or_sending_is_paused(
    owner: Browser, tenant: TenantId, db: Database
) -> None:
    here = f"/companies/{tenant}/ecf/sequences"
    assert "has not answered since" not in (await owner.get(here)).text
    assert await db.run(circuits.open_circuit, "ecf", "ecf", "no answer", timedelta(minutes=1))
    assert "has not answered since" in (await owner.get(here)).text
    assert "has not answered since" not in (await owner.get(f"/companies/{tenant}/testecf/sequences")).text

    await rows(
        db,
        "INSERT INTO pauses (tenant_id, environment, paused_at, paused_by, reason) VALUES (0, '', now(), 'luis', 'x')",
    )
    assert "has paused sending" in (await owner.get(f"/companies/{tenant}/settings")).text


async def test_portal_opens_where_receipts_are_until_production_is_set_up(
    owner: Browser, tenant: TenantId, db: Database, dsn: str
) -> None:
    async def opened() -> str:
        return (await owner.get("/")).url.query.decode()

    empty = await opened()
    await make_receipt(db, tenant, e_ncf="E310000000001", environment=Environment.TESTECF)
    async with open_database(dsn, role=WORKER) as workers:
        await restart(workers, tenant)
        await fold_all(workers, tenant)
    trial = await opened()
    page = await owner.get("/")
    await db.run(flow.put, tenant, Environment.ECF, "E31", now=NOW)

    assert (empty, trial, await opened()) == ("", "environment=testecf", "")
    assert f'href="/companies/{tenant}/testecf/submissions"' in page.text
