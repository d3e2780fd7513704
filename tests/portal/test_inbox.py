"""The inbox over several companies, the switch between them, their months together, and their colors."""

import io
import re
import zipfile
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from fe.ecf.catalogue import Environment
from fe.ecf.dates import local
from fe.identifiers import TenantId
from fe.lifecycle import Status
from fe.month.period import YearMonth
from fe.portal.answer_time import time_left
from fe.portal.attention import notices
from fe.store.portal import people
from fe.store.portal.people import PortalRole
from fe.store.portal.todo import Todo
from fe.store.postgres.db import Conn, Database
from tests.factories.companies import make_certificate
from tests.http.front import make_tenant
from tests.portal.receipts import make_receipt, make_received
from tests.portal.running import Browser, Running

NOW = datetime.now(UTC)
MANY = 12
_CSS = Path(__file__).resolve().parents[2] / "fe" / "portal" / "static" / "portal.css"


@pytest.fixture
async def companies(db: Database, tenant: TenantId) -> list[TenantId]:
    """Twelve companies, the first of them `tenant`."""
    return [tenant, *[await make_tenant(db, f"Cliente {number:02d} SRL") for number in range(2, MANY + 1)]]


@pytest.fixture
async def accountant(portal: Running, db: Database, companies: list[TenantId]) -> AsyncIterator[Browser]:
    """A browser of a person who works for all of them."""
    person = await portal.person(companies[0], PortalRole.ACCOUNTANT)
    for company in companies[1:]:
        await db.run(people.join, company, person.person_id, PortalRole.ACCOUNTANT, portal.clock())
    async with portal.browser(person) as browser:
        yield browser


async def test_inbox_lists_what_is_urgent_first_with_counts_by_company(
    accountant: Browser, companies: list[TenantId], db: Database
) -> None:
    for company in companies:
        await make_certificate(db, company)
    await make_receipt(db, companies[7], e_ncf="E310000000001", status=Status.REJECTED)
    for number in (1, 2):
        await make_received(db, companies[3], e_ncf=f"E31000000000{number}", at=NOW - timedelta(days=9))
    stranger = await make_tenant(db, "Ajena SRL")
    await make_receipt(db, stranger, e_ncf="E310000000009", status=Status.REJECTED)

    page = await accountant.get("/")

    attention = page.text.partition('id="attention"')[2].partition("</section>")[0]
    found = re.findall(r'<a href="/companies/(\d+)/([^"]+)">', attention)
    assert found[0] == (str(companies[7]), "ecf/submissions?state=rejected")
    assert (str(companies[3]), "ecf/received") in found
    assert "wait for your answer: 2. The oldest: waits for 9 d" in page.text
    assert "Ajena" not in page.text
    assert f'<a href="/companies/{companies[3]}/ecf/received">2</a>' in page.text
    rows = re.findall(r'<th scope="row">.*?href="/companies/(\d+)"', page.text)
    assert (rows[0], sorted(map(int, rows))) == (str(companies[7]), sorted(companies))


async def test_inbox_names_what_an_accountant_may_do(
    accountant: Browser, companies: list[TenantId], db: Database
) -> None:
    await db.run(_answers, companies[4])
    await accountant.get("/")
    await accountant.send("/language", {"language": "es"})
    for path in ("/", "/switch"):
        page = (await accountant.get(path)).text
        assert page.count("Contador, responde recibidos") == 1
        assert page.count("Contador") == MANY
        assert "solo lectura" not in page


async def _answers(conn: Conn, company: TenantId) -> None:
    await conn.execute("UPDATE memberships SET answers = true WHERE tenant_id = %(tenant)s", {"tenant": company})


async def test_inbox_is_searched_by_words_of_the_name(accountant: Browser, companies: list[TenantId]) -> None:
    page = await accountant.get("/?q=srl+07")
    assert re.findall(r'<th scope="row">.*?href="/companies/(\d+)"', page.text) == [str(companies[6])]
    assert "No company of yours matches" in (await accountant.get("/?q=nadie")).text


async def test_switch_keeps_the_section_and_goes_on_when_one_matches(
    accountant: Browser, companies: list[TenantId]
) -> None:
    page = await accountant.get(f"/companies/{companies[0]}/testecf/submissions")
    link = re.search(r'href="(/switch\?to=[^"]+)"', page.text)
    assert link is not None
    listed = await accountant.get(link[1])
    assert f'href="/companies/{companies[5]}/testecf/submissions"' in listed.text

    page = await accountant.get(f"{link[1]}&q=cliente+06")
    assert page.url.path == f"/companies/{companies[5]}/testecf/submissions"
    assert "<title>" in page.text
    assert "Cliente 06 SRL" in page.text.partition("</title>")[0]
    assert f"tone-{companies[5] % 12}" in page.text
    foreign = await accountant.get("/switch?to=https://example.com/")
    assert "example.com" not in foreign.text.partition('id="companies"')[2]


async def test_month_of_all_companies_is_two_clicks_from_the_inbox(
    accountant: Browser, companies: list[TenantId], db: Database
) -> None:
    await make_receipt(db, companies[2], e_ncf="E310000000001")
    await db.run(_state_day, date(2026, 11, 6))

    inbox = await accountant.get("/")
    assert 'href="/months"' in inbox.text
    page = await accountant.get("/months?month=2026-11")
    assert page.text.count('<th scope="row">') == MANY
    archive = await accountant.client.get("/months/zip?month=2026-11")

    with zipfile.ZipFile(io.BytesIO(archive.content)) as files:
        assert len(files.namelist()) == MANY
        (name,) = [one for one in files.namelist() if "Cliente-03" in one]
        assert b"E310000000001" in files.read(name)


async def _state_day(conn: Conn, day: date) -> None:
    await conn.execute("UPDATE submissions SET issued_on = %(day)s, total = 118, itbis = 18", {"day": day})


@pytest.mark.parametrize(
    ("waited", "days", "colour", "said"),
    [
        (0, 0, "soft", "arrived today"),
        (5, 0, "soft", "waits for 5 d"),
        (5, 30, "soft", "25 d left"),
        (28, 30, "warn", "2 d left"),
        (30, 30, "bad", "last day"),
        (33, 30, "bad", "overdue by 3 d"),
    ],
)
def test_time_to_answer_by_days_waited(waited: int, days: int, colour: str, said: str) -> None:
    badge = time_left(NOW - timedelta(days=waited), now=NOW, days=days)
    assert (badge.colour, badge.text.en) == (colour, said)


def test_overdue_answers_come_before_what_is_still_to_come() -> None:
    month = YearMonth.of(local(NOW).date()).before
    late = Todo(Environment.ECF, 3, NOW - timedelta(days=40), month, 2)
    found = notices([], [], [], [], NOW, todo=late, answer_days=30)
    assert next(one.path for one in found if one.colour == "bad") == "ecf/received"


def _luminance(color: str) -> float:
    def linear(part: str) -> float:
        value = int(part, 16) / 255
        return float(value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4)

    red, green, blue = (linear(color[place : place + 2]) for place in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_company_colors_have_contrast_on_every_ground_of_both_palettes() -> None:
    css = _CSS.read_text(encoding="utf-8")
    tones = re.findall(r"\.tone-(\d+) \{ --tone: (#[0-9a-f]{6}); \}", css)
    assert [int(number) for number, _ in tones] == list(range(MANY))
    assert len({color for _, color in tones}) == MANY
    grounds = re.findall(r"--(?:paper|canvas|raised): (#[0-9a-f]{3,6})", css)
    assert len(grounds) == 6
    for _, color in tones:
        for ground in grounds:
            full = ground if len(ground) == 7 else "#" + "".join(letter * 2 for letter in ground[1:])
            light, dark = sorted((_luminance(color), _luminance(full)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 3, (color, ground)
