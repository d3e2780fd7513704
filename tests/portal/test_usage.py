"""Usage: the numbers of GET /usage, as plots, tables and CSV."""

import csv
import io
import json
import zipfile
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta

import pytest
from lxml import etree

from fe.ecf.catalogue import Environment
from fe.identifiers import TenantId
from fe.metering import usage
from fe.offload.pool import Apart
from fe.portal.plots import Plot, Series
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database
from tests.factories.tenants import make_submission, rows
from tests.http.front import make_tenant
from tests.portal.receipts import make_receipt
from tests.portal.running import Browser, Running


async def make_days(portal: Running, tenant: TenantId, many: int) -> date:
    """Days of production, the last one yesterday."""
    today = portal.clock().astimezone(UTC).date()
    await rows(
        portal.db,
        """INSERT INTO usage_marks (tenant_id, closed_until) VALUES (%(tenant)s, %(today)s)
           ON CONFLICT (tenant_id) DO UPDATE SET closed_until = EXCLUDED.closed_until RETURNING 1""",
        tenant=tenant,
        today=today,
    )
    await rows(
        portal.db,
        """INSERT INTO usage_days (tenant_id, utc_day, environment, submitted, settled, accepted, conditional, rejected,
                                   answered, latency_us, p95_us)
           SELECT %(tenant)s, %(today)s::date - n, 'ecf', 1000 + n, 1000, 900 + n, 50, 7, 1000, 2500000000, 4100000
             FROM generate_series(1, %(many)s) AS n
           RETURNING 1""",
        tenant=tenant,
        today=today,
        many=many,
    )
    await rows(
        portal.db,
        """INSERT INTO request_counts (tenant_id, environment, utc_day, succeeded, failed, bytes_in, bytes_out)
           VALUES (%(tenant)s, 'ecf', %(day)s, 5000, 12, 123456789, 1) RETURNING 1""",
        tenant=tenant,
        day=today - timedelta(days=1),
    )
    return today


async def test_days_are_shown_as_plots_and_as_tables(portal: Running, owner: Browser, tenant: TenantId) -> None:
    today = await make_days(portal, tenant, 3)

    page = await owner.get(f"/companies/{tenant}/ecf/usage")

    assert page.status_code == 200
    assert page.text.count('<figure class="plot">') == 3
    assert "<dd>2,706</dd>" in page.text  # accepted
    assert "5,012" in page.text  # calls
    assert f"{today - timedelta(days=1):%d-%m-%Y}" in page.text
    assert "2.50" in page.text  # seconds on the average
    assert 'style="' not in page.text
    other = await owner.get(f"/companies/{tenant}/testecf/usage")
    assert "5,012" not in other.text


async def test_a_period_is_chosen_and_a_wrong_one_is_said(portal: Running, owner: Browser, tenant: TenantId) -> None:
    today = await make_days(portal, tenant, 40)
    there, day = f"/companies/{tenant}/ecf/usage", today - timedelta(days=35)

    one = await owner.get(f"{there}?from={day}&to={day}")

    assert "<dd>935</dd>" in one.text
    for query, words in (
        ("from=yesterday", "YYYY-MM-DD"),
        ("from=2026-02-31", "YYYY-MM-DD"),
        (f"from={today}&to={today}", "begin before it ends"),
        ("from=2020-01-01", "at most 180 days"),
        ("to=0001-01-01", "YYYY-MM-DD"),
        ("to=2020-01-01&from=2020-01-02", "begin before it ends"),
    ):
        refused = await owner.get(f"{there}?{query}")
        assert (refused.status_code, words in refused.text) == (400, True), query
    assert (await owner.get(f"/companies/{tenant}/nowhere/usage")).status_code == 404


async def test_the_days_are_a_file_for_spreadsheets(portal: Running, owner: Browser, tenant: TenantId) -> None:
    today = await make_days(portal, tenant, 2)

    sent = await owner.get(f"/companies/{tenant}/ecf/usage.csv?from={today - timedelta(days=2)}")

    assert sent.headers["content-type"] == "text/csv; charset=utf-8"
    assert "attachment" in sent.headers["content-disposition"]
    written = list(csv.reader(io.StringIO(sent.content.decode("utf-8-sig"))))
    assert written[0][:4] == ["date", "environment", "requestsSuccess", "requestsError"]
    assert written[-1] == [
        str(today - timedelta(days=1)), "ecf", "5000", "12", "1001", "901", "50", "7", "1", "123456789", "1",
        "2500", "4100",
    ]  # fmt: skip


async def test_an_accountant_reads_and_strangers_find_nothing(portal: Running, tenant: TenantId) -> None:
    stranger = await make_tenant(portal.db, "Otra SRL")
    async with portal.browser(await portal.person(tenant, PortalRole.ACCOUNTANT, language="es")) as browser:
        page = await browser.get(f"/companies/{tenant}/ecf/usage")
        assert (page.status_code, "Comprobantes enviados" in page.text) == (200, True)
        for path in ("ecf/usage", "ecf/usage.csv", "billing"):
            assert (await browser.get(f"/companies/{stranger}/{path}")).status_code == 404


@pytest.mark.parametrize("closed_days_ago", [None, 3])
async def test_what_takes_long_to_count_is_not_waited_for_and_said(
    portal: Running, owner: Browser, tenant: TenantId, monkeypatch: pytest.MonkeyPatch, closed_days_ago: int | None
) -> None:
    monkeypatch.setattr(usage, "COUNTED_AT_ONCE", 2)
    today = await make_days(portal, tenant, 10)
    closed_until = None if closed_days_ago is None else today - timedelta(days=closed_days_ago)
    await rows(
        portal.db,
        "UPDATE usage_marks SET closed_until = %(until)s WHERE tenant_id = %(tenant)s RETURNING 1",
        until=closed_until,
        tenant=tenant,
    )
    for _ in range(2):
        await make_submission(portal.db, tenant, at=portal.clock() - timedelta(days=2), environment=Environment.ECF)
    path = f"/companies/{tenant}/ecf/usage"

    few = await owner.get(path)
    await make_submission(portal.db, tenant, at=portal.clock() - timedelta(days=2), environment=Environment.ECF)
    many = await owner.get(path)
    file = await owner.get(f"{path}.csv")

    waits_from = closed_until or today - timedelta(days=usage.DAYS_DEFAULT)
    waiting = f"Still being counted and not included below: the days from {waits_from:%d-%m-%Y}"
    assert (waiting in few.text, waiting in many.text) == (False, True)
    assert f"<td>{today - timedelta(days=2):%d-%m-%Y}" not in many.text
    days = list(csv.reader(io.StringIO(file.content.decode("utf-8-sig"))))
    assert days[-2][4] == "3", "a file has all of it"


@pytest.mark.parametrize("many", [0, 1, 2, 31, 180])
def test_a_plot_is_well_formed_and_escapes_what_it_is_given(many: int) -> None:
    hostile = '<script>"&\u202e'
    values = [None if n % 7 == 3 else float(n * 37) for n in range(many)]
    plot = Plot("x", hostile, hostile, [f"{n}{hostile}" for n in range(many)], [Series(hostile, values)] * 3)

    for drawn in (plot.bars(), plot.lines()):
        tree = etree.fromstring(str(drawn).encode())
        assert "<script" not in drawn
        assert "style" not in {name for element in tree.iter() for name in element.attrib}
        coordinates = [
            float(element.attrib[name])
            for element in tree.iter()
            for name in ("x", "y", "width", "height")
            if name in element.attrib
        ]
        assert all(-1 <= value <= 700 for value in coordinates)


async def test_a_month_shows_its_sums_and_leads_to_its_receipts(
    owner: Browser, tenant: TenantId, db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def in_process(
        _: Apart, __: TenantId, work: Callable[..., bytes], *given: object, within: float = 0
    ) -> bytes:
        return work(*given)

    monkeypatch.setattr(Apart, "run", in_process)
    await make_receipt(db, tenant, at=datetime(2026, 11, 5, 15, tzinfo=UTC))
    here = f"/companies/{tenant}/ecf/months"

    page = await owner.get(f"{here}?month=2026-11")
    table = await owner.get(f"{here}/2026-11/csv")

    assert page.url.path == f"{here}/2026-11"
    for shown in ("1,063.18", "162.18", "901.00", "E310000000001", "No 607"):
        assert shown in page.text, shown
    rows = list(csv.reader(io.StringIO(table.content.decode("utf-8-sig"))))
    assert rows[1][0] == "2026-11-05"
    assert rows[1][6:] == ["901.00", "0.00", "0.00", "0.00", "162.18", "0.00", "0.00", "1063.18"]
    assert (await owner.get(f"{here}/2026-13")).status_code == 404
    assert (await owner.get(f"{here}/2026-11/xlsx")).content[:2] == b"PK"
    archive = await owner.get(f"{here}/2026-11/zip")
    assert archive.headers["content-disposition"] == 'attachment; filename="ecf-2026-11.zip"'
    with zipfile.ZipFile(io.BytesIO(archive.content)) as made:
        (line,) = json.loads(made.read("manifest.json"))["receipts"]
    assert line["eNCF"] == "E310000000001"
