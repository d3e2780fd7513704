"""Login: the questions, the throttle's counts, and what an outsider can learn."""

import re
from datetime import timedelta
from typing import Any

import pytest

from fe.accounts import people as accounts
from fe.identifiers import TenantId
from fe.portal.session import FRESH, IDLE, LIFE
from fe.store.portal import credentials, people, sessions
from fe.store.portal.people import Person
from fe.store.postgres.db import Conn
from fe.store.records import throttle
from tests.factories.tenants import rows
from tests.portal.running import PASSWORD, Browser, Running, hidden_fields

FRESH_AND_MORE = FRESH + timedelta(minutes=1)


async def _sign_in(browser: Browser, email: str, password: str) -> tuple[int, str]:
    await browser.get("/sign-in")
    page = await browser.send("/sign-in", {"email": email, "password": password})
    return page.status_code, re.sub(r'(value|content)="[^"]*"|<code>.*?</code>', "", page.text)


async def test_whether_there_is_a_person_is_not_told(portal: Running) -> None:
    person = await portal.person()
    gone = await portal.person(email="gone@example.do")
    await portal.db.run(people.set_disabled, gone.person_id, portal.clock())
    async with portal.browser() as browser:
        answers = [
            await _sign_in(browser, email, password)
            for email, password in (
                (person.email, "wrong"),
                ("nobody@example.do", "wrong"),
                (gone.email, PASSWORD),
                ("a\x00b@example.do", "wrong"),
                ("x" * 10_000, "wrong"),
            )
        ]

    assert answers[0][0] == 403
    assert all(answer == answers[0] for answer in answers), "the same words and the same status"


async def test_too_many_attempts_lock_the_address_typed_out_whether_it_is_somebodys_or_not(portal: Running) -> None:
    person = await portal.person()
    for email in (person.email, "nobody@example.do"):
        async with portal.browser() as browser:
            for _ in range(throttle.PERSON_LIMIT):
                assert (await _sign_in(browser, email, "wrong"))[0] == 403
            locked = await browser.sign_in(email.upper(), PASSWORD)
            assert locked.status_code == 429
            assert "15 minutes" in locked.text
            assert int(locked.headers["retry-after"]) > 0
            assert (await browser.get("/account")).url.path == "/sign-in"

    began = portal.portal.metrics.lockouts.labels("person")
    assert began._value.get() == 2

    assert await portal.db.run(throttle.lift, throttle.bucket_of_person(person.email))
    async with portal.browser(person) as browser:
        assert (await browser.get("/account")).status_code == 200


async def test_however_somebody_is_typed_it_is_the_same_who_is_locked_out(portal: Running) -> None:
    """With the C library's rules İ is an i to Postgres, which finds who is meant; to Python it is another letter."""
    await portal.person(email="iris@example.do")
    async with portal.browser() as browser:
        for typed in ("iris", "İris", "irİs", "İrİs", "IRIS"):
            assert (await _sign_in(browser, f"{typed}@example.do", "wrong"))[0] == 403

        assert (await _sign_in(browser, "iRİs@example.do", "wrong"))[0] == 429


async def test_whom_postgres_takes_for_one_has_one_bucket(portal: Running) -> None:
    letters = await rows(
        portal.db,
        "SELECT chr(n) AS typed, lower(chr(n)) AS found FROM generate_series(65, 125257) AS n"
        " WHERE n NOT BETWEEN 55296 AND 57343 AND lower(chr(n)) <> chr(n)",
    )

    assert len(letters) >= 26
    named = throttle.bucket_of_person
    assert [one for one in letters if named(one["typed"]) != named(one["found"])] == []


async def test_an_address_that_tries_many_people_is_locked_out(portal: Running) -> None:
    async with portal.browser() as browser:
        statuses = [
            (await _sign_in(browser, f"p{number}@example.do", "wrong"))[0]
            for number in range(throttle.ATTEMPT_LIMITS.address + 1)
        ]

    assert set(statuses[:-1]) == {403}
    assert statuses[-1] == 429


async def test_what_was_right_is_forgiven(portal: Running) -> None:
    person = await portal.person()
    for _ in range(2 * throttle.PERSON_LIMIT):
        async with portal.browser(person) as browser:
            assert (await browser.get("/account")).status_code == 200


async def test_a_password_is_taken_as_it_is_typed(portal: Running) -> None:
    person = await portal.person()
    async with portal.browser() as browser:
        assert (await browser.sign_in(person.email, f" {PASSWORD}")).status_code == 403
        assert (await browser.sign_in(person.email, PASSWORD.upper())).status_code == 403
        assert (await browser.sign_in(f" {person.email.upper()} ", PASSWORD)).status_code == 200


async def test_where_to_go_afterwards_is_a_page_of_ours(portal: Running) -> None:
    person = await portal.person()
    for wanted, arrived in (
        ("/account", "/account"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
        ("/\\evil.example", "/"),
        ("/account\r\nSet-Cookie: x=y", "/"),
    ):
        async with portal.browser() as browser:
            await browser.get("/sign-in")
            fields = {"email": person.email, "password": PASSWORD, "next": wanted}
            page = await browser.send("/sign-in", fields)
            assert (page.url.path, page.url.host) == (arrived, "127.0.0.1"), wanted


async def test_the_token_is_another_after_every_login_and_the_old_one_nobodys(
    portal: Running, tenant: TenantId
) -> None:
    person = await portal.person(tenant)
    async with portal.browser() as browser:
        await browser.get("/sign-in")
        tokens = [browser.client.cookies["fe"]]
        await browser.sign_in(person.email)
        tokens.append(browser.client.cookies["fe"])
        await browser.get("/again?next=/account")
        await browser.send("/again", {"password": PASSWORD})
        assert browser.page is not None
        assert browser.page.url.path == "/account"
        tokens.append(browser.client.cookies["fe"])
        assert len(set(tokens)) == 3

        for old in tokens[:2]:
            async with portal.browser() as thief:
                thief.client.cookies.set("fe", old)
                assert (await thief.get("/account")).url.path == "/sign-in"


async def test_a_session_ends_by_age_and_by_idleness(portal: Running, owner: Browser) -> None:
    portal.clock.ahead = IDLE - (IDLE / 10)
    assert (await owner.get("/account")).url.path == "/account"
    for _ in range(40):
        portal.clock.ahead += IDLE - (IDLE / 10)
        if (await owner.get("/account")).url.path == "/sign-in":
            break
    assert portal.clock.ahead >= LIFE
    async with portal.browser(await portal.person(email="b@example.do")) as browser:
        portal.clock.ahead += IDLE
        assert (await browser.get("/account")).url.path == "/sign-in"


async def test_sending_forms_keeps_a_session_and_leaves_what_the_next_page_says(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    there = f"/companies/{tenant}/testecf/new/31"
    form = hidden_fields((await owner.get(there)).text, there) | {"do": "check"}
    (session,) = await rows(portal.db, "SELECT token_hash FROM portal_sessions")
    await portal.db.run(sessions.leave_notice, session["token_hash"], {"en": "Kept for the page.", "es": ""})
    for _ in range(4):
        portal.clock.ahead += IDLE / 2
        assert (await owner.client.post(there, data=form)).status_code == 303

    assert "Kept for the page." in (await owner.get("/account")).text
    assert "Kept for the page." not in (await owner.get("/account")).text
    portal.clock.ahead += IDLE
    assert (await owner.client.post(there, data=form)).status_code == 403


async def test_logging_in_again_in_the_same_browser_ends_the_session_before(portal: Running, owner: Browser) -> None:
    other = await portal.person(email="b@example.do")
    before = owner.client.cookies["fe"]
    page = await owner.get("/account")
    proof = hidden_fields(page.text, "/sign-out")["csrf"]
    fields = {"csrf": proof, "email": other.email, "password": PASSWORD}
    await owner.client.post("/sign-in", data=fields)
    assert "b@example.do" in (await owner.get("/account")).text
    owner.client.cookies.set("fe", before)
    owner.client.cookies.clear()
    owner.client.cookies.set("fe", before)
    assert (await owner.get("/account")).url.path == "/sign-in"


async def test_what_opens_doors_asks_again_after_ten_minutes(portal: Running, owner: Browser, tenant: TenantId) -> None:
    assert (await owner.get("/account/password")).url.path == "/account/password"
    portal.clock.ahead = FRESH_AND_MORE
    page = await owner.get("/account/password")
    assert (page.url.path, page.url.params["next"]) == ("/again", "/account/password")
    wrong = await owner.send("/again", {"password": "wrong"})
    assert (wrong.status_code, "not right" in wrong.text) == (403, True)
    assert (await owner.get(f"/companies/{tenant}/people/invite")).url.path == "/again"

    page = await owner.send("/again", {"password": PASSWORD})

    assert page.url.path == f"/companies/{tenant}/people/invite"


async def test_a_form_that_asks_again_who_it_is_says_that_it_was_not_done_and_leads_back_to_it(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    there = f"/companies/{tenant}/keys/new"
    page = await owner.get(there)
    form = hidden_fields(page.text, there) | {"environment": "testecf", "scope": "invoices:read"}
    portal.clock.ahead = FRESH_AND_MORE

    for said, following in ((f"{portal.url}{there}", there), ("https://evil.example/a", None), ("", None)):
        asked = await owner.client.post(there, data=form, headers={"Referer": said}, follow_redirects=True)
        assert (asked.url.path, asked.url.params.get("next")) == ("/again", following)
        assert "Nothing was changed: confirm your identity, and repeat it." in asked.text


async def test_a_form_of_a_session_that_has_ended_says_that_it_was_not_done(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    there = f"/companies/{tenant}/people/withdraw"
    page = await owner.get(f"/companies/{tenant}")
    proof = hidden_fields(page.text, "/sign-out")
    portal.clock.ahead = IDLE

    ended = await owner.client.post(there, data=proof)
    account = await owner.client.post("/sign-out", data=proof, headers={"Referer": f"{portal.url}/account"})

    assert (ended.status_code, "Nothing was changed." in ended.text) == (403, True)
    assert 'href="/sign-in"' in ended.text
    assert (account.status_code, account.headers["location"]) == (303, "/sign-in?next=/account")


# --- a password that is set during a sign-in with the previous one ----------------------------------------------------


def set_meanwhile(portal: Running, person: Person, monkeypatch: pytest.MonkeyPatch, just_before: str) -> None:
    """Set a person's password from another session just before one of the functions of `credentials` looks."""
    real = getattr(credentials, just_before)

    async def too_late(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(credentials, just_before, real)
        hashed = await accounts.hash_password("what the owner chose")
        await portal.db.transact(accounts.set_password, person.person_id, hashed)
        return await real(*given, **more)

    monkeypatch.setattr(credentials, just_before, too_late)


async def of_person(portal: Running, table: str) -> int:
    async def count(conn: Conn) -> int:
        cursor = await conn.execute(f"SELECT count(*) FROM {table}".encode())
        return int((await cursor.fetchall())[0][0])

    return await portal.db.run(count)


@pytest.mark.parametrize("second_factor", [False, True])
async def test_a_password_that_is_set_anew_while_it_is_looked_at_begins_nothing(
    portal: Running, monkeypatch: pytest.MonkeyPatch, second_factor: bool
) -> None:
    person = await portal.person()
    if second_factor:
        await portal.with_second_factor(person)
    set_meanwhile(portal, person, monkeypatch, just_before="hold")

    async with portal.browser() as thief:
        await thief.get("/sign-in?next=/account")
        page = await thief.send("/sign-in", {"email": person.email, "password": PASSWORD, "next": "/account"})
        assert (page.url.path, page.url.query) == ("/sign-in", b"next=/account")
        assert (await thief.get("/account")).url.path == "/sign-in"
    assert [await of_person(portal, table) for table in ("portal_sessions", "portal_logins")] == [0, 0]


async def test_a_password_that_is_set_anew_while_the_second_factor_is_looked_at_begins_nothing(
    portal: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = await portal.person()
    await portal.with_second_factor(person)
    async with portal.browser() as thief:
        await thief.get("/sign-in")
        await thief.send("/sign-in", {"email": person.email, "password": PASSWORD})
        set_meanwhile(portal, person, monkeypatch, just_before="hold")
        page = await thief.send("/sign-in/code", {"code": await portal.code(person.email)})
        assert page.url.path == "/sign-in"
    assert [await of_person(portal, table) for table in ("portal_sessions", "portal_logins")] == [0, 0]


async def test_of_two_who_change_a_password_at_once_the_later_does_not_undo_what_the_first_set(
    portal: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise an intruder with the old password keeps the account. The first change ended the session."""
    person = await portal.person()
    async with portal.browser() as thief:
        await thief.sign_in(person.email)
        await thief.get("/account/password")
        set_meanwhile(portal, person, monkeypatch, just_before="replace_password")
        given = {"present": PASSWORD, "new": "what the thief chose", "repeated": "what the thief chose"}
        page = await thief.send("/account/password", given)
        assert page.url.path == "/sign-in"
        assert (await thief.sign_in(person.email, "what the thief chose")).status_code == 403
        assert (await thief.sign_in(person.email, "what the owner chose")).url.path != "/sign-in"
