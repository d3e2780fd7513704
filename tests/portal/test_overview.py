"""The company's first page: what needs attention, the numbers of the month, the last receipts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

from fe.ecf.catalogue import Environment
from fe.identifiers import SequenceId, TenantId
from fe.lifecycle import Status
from fe.metering.aggregator import fold_all, restart
from fe.portal.attention import matters
from fe.store import sequences
from fe.store.portal.standing import MAX_COUNTED, Unsettled
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import WORKER
from tests.factories.companies import make_certificate
from tests.factories.tenants import make_submission
from tests.http import worker
from tests.portal.receipts import make_receipt
from tests.portal.running import Browser

NOW = datetime.now(UTC)


async def test_a_new_company_is_told_what_to_do_first(owner: Browser, tenant: TenantId) -> None:
    page = await owner.get(f"/companies/{tenant}")

    assert "There is no company certificate" in page.text
    assert f'href="/companies/{tenant}/certificates"' in page.text
    assert "Make the first receipt" in page.text


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
    assert "ecf: receipts rejected in the last 7 days: 1." in page.text
    line = page.text.partition('ecf/submissions">ecf</a></th>')[2].partition("</tr>")[0]
    assert [cell.partition("<")[0] for cell in line.split('<td class="num">')[1:]] == ["1", "0", "1", "1"]
    assert page.text.index("E310000000004") < page.text.index("E310000000001")
    dead_ones = await owner.get(f"/companies/{tenant}/ecf/submissions?state=dead")
    assert "E310000000003" in dead_ones.text
    assert "E310000000004" not in dead_ones.text
    waiting = await owner.get(f"/companies/{tenant}/ecf/submissions?state=waiting")
    assert "E310000000004" in waiting.text


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

    told = [str(matter.text) for matter in matters([], found, [], [], NOW)]

    assert told[0].startswith("There is no company certificate")
    assert sorted(one.removeprefix("The sequence ecf ")[:20] for one in told[1:]) == [
        "E31 has 5 numbers le",
        "E32 is used up.",
        "E33 expires in 10 da",
        "E34 has expired.",
    ]


def test_more_than_anybody_counts_is_said_so() -> None:
    told = matters([], [], [], [Unsettled(Environment.TESTECF, 0, 0, MAX_COUNTED, 0)], NOW)

    assert f"rejected in the last 7 days: {MAX_COUNTED}+" in str(told[-1].text)
