"""Second factors: set up, required, each code valid once, and removed."""

import math
import re
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import cast
from urllib.parse import unquote

import pyotp
import pytest
import trio

from fe.accounts import people, totp
from fe.config import load_settings
from fe.identifiers import TenantId
from fe.portal.access import let_in
from fe.portal.page_types import Needs, Page
from fe.portal.replies import Reply
from fe.portal.session import Session
from fe.portal.visit import Visit
from fe.store.portal import sessions
from fe.store.portal.people import Person
from fe.store.postgres.db import Conn, Database
from fe.store.records import throttle
from tests.portal.running import PASSWORD, SEED, Browser, Running, start_portal

_AT = "/account/second-factor"
_CODES = r"[a-z2-9]{4}(?:-[a-z2-9]{4}){5}"


def _secret(page: str) -> str:
    found = re.search(r"<code>([A-Z2-7]{32})</code>", page)
    assert found is not None
    return found[1]


async def _set_up(portal: Running, browser: Browser) -> tuple[str, list[str]]:
    """Set a second factor up as people do; its secret and the recovery codes."""
    await browser.get(_AT)
    page = await browser.send(f"{_AT}/begin")
    secret = _secret(page.text)
    code = pyotp.TOTP(secret).at(portal.clock())
    page = await browser.send(f"{_AT}/confirm", {"code": f"{code[:3]} {code[3:]}"})
    assert page.status_code == 200
    codes = re.findall(_CODES, page.text.partition("</pre>")[0])
    assert len(set(codes)) == totp.CODES
    kept = re.search('href="data:text/plain;charset=utf-8,([^"]+)"', page.text)
    assert kept is not None
    assert unquote(kept[1]).split("\r\n") == codes
    return secret, codes


async def _first_factor(browser: Browser, email: str) -> None:
    await browser.get("/sign-in")
    page = await browser.send("/sign-in", {"email": email, "password": PASSWORD})
    assert page.url.path == "/sign-in/code"


async def test_it_is_set_up_with_a_picture_and_asked_for_from_then_on(portal: Running, tenant: TenantId) -> None:
    portal.clock.stop()
    person = await portal.person(tenant)
    async with portal.browser(person) as browser:
        await browser.get(_AT)
        page = await browser.send(f"{_AT}/begin")
        assert '<svg viewBox="0 0 ' in page.text
        assert "style" not in page.text.replace('rel="stylesheet"', "")
        wrong = await browser.send(f"{_AT}/confirm", {"code": "000000"})
        assert (wrong.status_code, "not right" in wrong.text) == (400, True)
        assert _secret(wrong.text) == _secret(page.text), "the same secret: it was scanned already"
        secret, codes = await _set_up(portal, browser)
        again = (await browser.get(_AT)).text
        assert not any(code in again for code in [*codes, secret]), "shown once"

    async with portal.browser() as browser:
        await _first_factor(browser, person.email)
        assert (await browser.get("/account")).url.path == "/sign-in", "half way is no session"
        assert (await browser.get(f"/companies/{tenant}")).url.path == "/sign-in"
        await browser.get("/sign-in/code?next=/account")
        portal.clock.ahead += timedelta(seconds=totp.STEP)
        page = await browser.send("/sign-in/code", {"code": pyotp.TOTP(secret).at(portal.clock())})
        assert page.url.path == "/account"

    kept = await portal.db.run(_kept)
    assert all(secret.encode() not in one and code.encode() not in one for one in kept for code in codes)


async def _kept(conn: Conn) -> list[bytes]:
    cursor = await conn.execute("SELECT totp_secret FROM people UNION ALL SELECT code_hash FROM recovery_codes")
    return [row[0] for row in await cursor.fetchall()]


async def test_a_code_is_good_once_and_a_step_around_now(portal: Running) -> None:
    portal.clock.stop()
    person = await portal.with_second_factor(await portal.person())
    made, now = pyotp.TOTP(totp.shown(SEED)), portal.clock()
    step = timedelta(seconds=totp.STEP)

    async def tried(code: str) -> bool:
        return await portal.db.transact(totp.is_right, portal.portal.vault, person.person_id, code, portal.clock())

    assert not await tried(made.at(now - 2 * step))
    assert not await tried(made.at(now + 2 * step))
    assert not await tried("")
    assert not await tried("١٢٣٤٥٦")
    assert await tried(made.at(now - step))
    assert not await tried(made.at(now - step))
    assert await tried(made.at(now + step))
    assert not await tried(made.at(now)), "before the last that was taken"


async def test_two_browsers_with_the_same_code_get_in_once(portal: Running) -> None:
    portal.clock.stop()
    person = await portal.with_second_factor(await portal.person())
    code = await portal.code(person.email)
    arrived = []
    for _ in range(2):
        async with portal.browser() as browser:
            await _first_factor(browser, person.email)
            arrived.append((await browser.send("/sign-in/code", {"code": code})).status_code)
    assert arrived == [200, 403]


async def test_a_recovery_code_gets_in_once_in_any_spelling(portal: Running) -> None:
    person = await portal.person()
    async with portal.browser(person) as browser:
        _, codes = await _set_up(portal, browser)
    spelled = codes[0].upper().replace("-", " ")
    for expected in (200, 403):
        async with portal.browser() as browser:
            await _first_factor(browser, person.email)
            assert (await browser.send("/sign-in/code", {"code": spelled})).status_code == expected
    async with portal.browser() as browser:
        await _first_factor(browser, person.email)
        await browser.send("/sign-in/code", {"code": codes[1]})
        assert f"{totp.CODES - 2} recovery codes left" in (await browser.get("/account")).text


async def test_guessing_codes_locks_the_second_factor_out(portal: Running) -> None:
    person = await portal.with_second_factor(await portal.person())
    async with portal.browser() as browser:
        await _first_factor(browser, person.email)
        for _ in range(throttle.SECOND_FACTOR_LIMIT):
            assert (await browser.send("/sign-in/code", {"code": "wrong"})).status_code == 403
        locked = await browser.send("/sign-in/code", {"code": await portal.code(person.email)})
        assert locked.status_code == 429
    async with portal.browser() as browser:
        await _first_factor(browser, person.email)
        locked = await browser.send("/sign-in/code", {"code": await portal.code(person.email)})
        assert locked.status_code == 429, "beginning again does not help"


async def test_half_way_lasts_minutes_and_is_of_one_browser(portal: Running) -> None:
    person = await portal.with_second_factor(await portal.person())
    async with portal.browser() as browser, portal.browser() as other:
        await _first_factor(browser, person.email)
        await other.get("/sign-in")
        assert (await other.get("/sign-in/code")).url.path == "/sign-in"
        portal.clock.ahead = timedelta(minutes=11)
        page = await browser.send("/sign-in/code", {"code": await portal.code(person.email)})
        assert page.url.path == "/sign-in"


@pytest.mark.parametrize("by_recovery", [False, True])
async def test_taking_it_away_needs_it_and_who_was_here_lately(portal: Running, by_recovery: bool) -> None:
    person = await portal.person()
    async with portal.browser(person) as browser:
        secret, codes = await _set_up(portal, browser)
        portal.clock.ahead = timedelta(minutes=11)
        assert (await browser.get(_AT)).url.path == "/again"
        page = await browser.send("/again", {"password": PASSWORD})
        assert page.url.path == _AT
        refused = await browser.send(f"{_AT}/remove", {"code": "123456"})
        assert refused.status_code == 403
        code = codes[3] if by_recovery else pyotp.TOTP(secret).at(portal.clock())
        assert (await browser.send(f"{_AT}/remove", {"code": code})).url.path == "/account"
        assert "second factor is removed" in browser.page.text if browser.page else False
    async with portal.browser() as browser:
        assert (await browser.sign_in(person.email)).url.path == "/"


async def test_new_recovery_codes_replace_those_before(portal: Running) -> None:
    portal.clock.stop()
    person = await portal.person()
    async with portal.browser(person) as browser:
        secret, before = await _set_up(portal, browser)
        portal.clock.ahead = timedelta(seconds=totp.STEP)
        await browser.get(_AT)
        page = await browser.send(f"{_AT}/codes", {"code": pyotp.TOTP(secret).at(portal.clock())})
        after = re.findall(_CODES, page.text.partition("</pre>")[0])
        assert len(after) == totp.CODES
        assert not set(after) & set(before)
    async with portal.browser() as browser:
        await _first_factor(browser, person.email)
        assert (await browser.send("/sign-in/code", {"code": before[0]})).status_code == 403
        assert (await browser.send("/sign-in/code", {"code": after[0]})).status_code == 200


async def test_operators_see_no_page_of_theirs_without_one(portal: Running) -> None:
    person = await portal.person(is_operator=True)

    page = Page("GET", "/operators", Needs.OPERATE, _nothing)
    async with portal.browser(person):
        pass
    record = (await portal.db.run(sessions.of_person, person.person_id))[0]

    async def asked(who: Person) -> Reply | None:
        visit = SimpleNamespace(
            session=Session("", record, who), portal=portal.portal, now=portal.clock(), method="GET", path="/operators"
        )
        return await let_in(page, cast(Visit, visit))

    assert await asked(person) is None
    sent = await asked(replace(person, totp_since=None))
    assert sent is not None
    assert dict(sent.headers)["Location"] == "/account/second-factor"


async def test_an_installation_may_ask_everyone_for_one(
    nursery: trio.Nursery, db: Database, portal_db: Database, tenant: TenantId
) -> None:
    settings = load_settings(development=True, portal_bind="127.0.0.1:1", portal_second_factor="everyone")
    portal = await start_portal(nursery, db, portal_db, None, settings=settings)
    person = await portal.person(tenant)
    for path in ("", "/keys", "/ecf/submissions"):
        async with portal.browser(person) as browser:
            page = await browser.get(f"/companies/{tenant}{path}")
            assert (page.url.path, "This installation asks for one" in page.text) == (_AT, True), path
            assert (await browser.get("/account")).status_code == 200

    await portal.with_second_factor(person)
    async with portal.browser(person) as browser:
        assert (await browser.get(f"/companies/{tenant}/keys")).url.path == f"/companies/{tenant}/keys"


async def _nothing(visit: Visit) -> Reply:
    raise AssertionError


def test_recovery_codes_have_more_than_112_bits() -> None:
    made = [code for _ in range(200) for code in totp.new_codes()]
    letters = {letter for code in made for letter in code if letter != "-"}

    assert len(set(made)) == len(made)
    assert 24 * math.log2(len(letters)) > 112


async def test_a_new_password_by_a_link_leaves_the_second_factor(portal: Running) -> None:
    person = await portal.with_second_factor(await portal.person())
    token = await portal.db.transact(people.issue_reset, person, "root", portal.clock())
    new = "cuatro perros comen yuca"
    async with portal.browser() as browser:
        await browser.get(f"/reset/{token}")
        await browser.send(f"/reset/{token}", {"new": new, "repeated": new})
        page = await browser.send("/sign-in", {"email": person.email, "password": new})
        assert page.url.path == "/sign-in/code"
