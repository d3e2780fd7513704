"""A password that its person forgot: the same answer to everyone, and a link by mail to whom it belongs."""

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
import trio

from fe.accounts import people as accounts
from fe.ecf.mail_address import MailAddress
from fe.mail.relay import Relay
from fe.store.portal import people, sessions
from fe.store.postgres.db import Database
from fe.store.records import throttle
from tests.factories.tenants import make_tenant, rows
from tests.mail.relay import RunningRelay, running_relay
from tests.portal.running import Browser, Running, start_portal
from tests.waiting import until

NEW = "una frase nueva y larga"
HERE = "/forgotten"


@pytest.fixture
def relay(tmp_path: Path) -> Iterator[RunningRelay]:
    with running_relay(tmp_path / "relay") as one:
        yield one


@pytest.fixture
async def mailing(
    nursery: trio.Nursery, db: Database, portal_db: Database, operator_db: Database, relay: RunningRelay
) -> Running:
    """A portal with a relay and the task that mails."""
    sender = Relay("localhost", relay.port, False, False, MailAddress("portal@fe.do"), roots=relay.roots)
    return await start_portal(nursery, db, portal_db, operator_db, relay=sender)


async def ask(browser: Browser, email: str) -> str:
    await browser.get(HERE)
    answer = await browser.send(HERE, {"email": email})
    assert answer.status_code == 200
    return re.sub(r'value="[^"]+"', "", answer.text)


def links(relay: RunningRelay, portal: Running) -> list[tuple[str, str]]:
    """Recipient and path of the link of each mail."""
    found = [(about["to"], str(message.get_content()).strip().splitlines()[-1]) for about, message in relay.taken]
    return [(to, link.removeprefix(portal.url)) for to, link in found]


async def test_link_sets_the_password_once_and_ends_all_sessions(mailing: Running, relay: RunningRelay) -> None:
    person = await mailing.person(await make_tenant(mailing.db))
    async with mailing.browser(person) as elsewhere, mailing.browser(language="es") as browser:
        assert 'href="/forgotten"' in (await browser.get("/sign-in")).text
        said = await ask(browser, " Ana@Example.do ")
        await until(lambda: relay.taken)
        ((to, path),) = links(relay, mailing)
        await browser.get(path)
        done = await browser.send(path, {"new": NEW, "repeated": NEW})

        assert "Revise su correo" in said
        assert "Si ese correo tiene una cuenta" in said
        assert "La contraseña se guardó: inicie sesión con ella." in done.text
        assert to == person.email
        assert done.url.path == "/sign-in"
        assert (await browser.get(path)).status_code == 404
        assert (await elsewhere.get("/account")).url.path == "/sign-in"
        assert (await browser.sign_in(person.email)).status_code == 403
        assert (await browser.sign_in(person.email, NEW)).status_code == 200


async def test_link_that_is_over_is_deleted(mailing: Running, portal_db: Database, relay: RunningRelay) -> None:
    person = await mailing.person()
    async with mailing.browser() as browser:
        await ask(browser, person.email)
        await until(lambda: relay.taken)
    (link,) = await rows(mailing.db, "SELECT expires_at FROM password_resets")

    await portal_db.run(sessions.forget, link["expires_at"])
    assert len(await rows(mailing.db, "SELECT 1 AS n FROM password_resets")) == 1
    await portal_db.run(sessions.forget, link["expires_at"] + timedelta(seconds=1))
    assert await rows(mailing.db, "SELECT 1 AS n FROM password_resets") == []


async def test_answer_is_the_same_for_everyone_and_mail_goes_only_to_people_with_a_password(
    mailing: Running, relay: RunningRelay
) -> None:
    person = await mailing.person()
    away = await mailing.person(email="luis@example.do")
    await mailing.db.run(people.set_disabled, away.person_id, mailing.clock())
    await mailing.db.transact(
        accounts.create_person, "oidc@example.do", "O", password_hash=None, language="es", now=mailing.clock()
    )
    async with mailing.browser() as browser:
        asked = (
            "nobody@example.do",
            away.email,
            "oidc@example.do",
            "no address",
            "x" * 5000,
            "a\x00b@c.do",
            person.email,
        )
        answers = {await ask(browser, email) for email in asked}
        await until(lambda: relay.taken)

    assert len(answers) == 1
    assert [to for to, _ in links(relay, mailing)] == [person.email]


async def test_link_is_over_after_an_hour_and_only_its_hash_is_kept(mailing: Running, relay: RunningRelay) -> None:
    person = await mailing.person()
    async with mailing.browser() as browser:
        await ask(browser, person.email)
        await until(lambda: relay.taken)
        ((_, path),) = links(relay, mailing)
        token = path.rpartition("/")[2]
        (kept,) = await rows(
            mailing.db, "SELECT token_hash, created_by, expires_at - created_at AS life FROM password_resets"
        )
        trail = await rows(mailing.db, "SELECT row_to_json(a)::text AS line FROM audit_trail AS a")
        assert (await browser.get(path)).status_code == 200
        mailing.clock.ahead = timedelta(hours=1)
        over = await browser.get(path)
        assert (over.status_code, "This link is no longer valid" in over.text) == (404, True)
        await browser.send(HERE, {"email": person.email})  # another is asked for on the same page
        await until(lambda: len(relay.taken) == 2)

    assert bytes(kept["token_hash"]) == accounts.hash_token(token)
    assert (kept["created_by"], kept["life"]) == (person.email, timedelta(hours=1))
    assert any("password_resets" in one["line"] for one in trail)
    assert not any(token in one["line"] for one in trail)


async def test_stranger_who_asks_does_not_end_the_operators_link_and_one_use_ends_all(
    mailing: Running, relay: RunningRelay
) -> None:
    person = await mailing.person()
    by_operator = f"/reset/{await mailing.db.transact(accounts.issue_reset, person, 'root', mailing.clock())}"
    async with mailing.browser() as browser:
        for _ in range(2):
            await ask(browser, person.email)
        await until(lambda: len(relay.taken) == 2)
        (_, first), (_, second) = links(relay, mailing)
        good = [(await browser.get(path)).status_code for path in (by_operator, first, second)]
        await browser.get(second)
        await browser.send(second, {"new": NEW, "repeated": NEW})
        after = [(await browser.get(path)).status_code for path in (by_operator, first, second)]

    assert good == [200, 404, 200]
    assert after == [404] * 3


async def test_mails_to_one_person_are_few_in_any_spelling_and_the_answer_stays(
    mailing: Running, relay: RunningRelay
) -> None:
    person, other = await mailing.person(), await mailing.person(email="luz@example.do")
    async with mailing.browser() as browser:
        answers = {await ask(browser, spelt) for spelt in (person.email, person.email.upper(), *[person.email] * 6)}
        answers.add(await ask(browser, other.email))
        await until(lambda: any(to == other.email for to, _ in links(relay, mailing)))

    assert len(answers) == 1
    assert [to for to, _ in links(relay, mailing)] == [person.email] * 3 + [other.email]


async def test_address_that_asks_too_often_is_refused(mailing: Running, relay: RunningRelay) -> None:
    async with mailing.browser() as browser:
        await browser.get(HERE)
        for nth in range(throttle.ATTEMPT_LIMITS.address):
            assert (await browser.send(HERE, {"email": f"nobody{nth}@example.do"})).status_code == 200
            await browser.get(HERE)
        assert (await browser.send(HERE, {"email": "nobody@example.do"})).status_code == 429
    assert relay.taken == []


async def test_second_factor_is_still_asked_for_after_the_link(mailing: Running, relay: RunningRelay) -> None:
    person = await mailing.with_second_factor(await mailing.person(await make_tenant(mailing.db)))
    async with mailing.browser() as browser:
        await ask(browser, person.email)
        await until(lambda: relay.taken)
        ((_, path),) = links(relay, mailing)
        await browser.get(path)
        await browser.send(path, {"new": NEW, "repeated": NEW})
        await browser.get("/sign-in")
        page = await browser.send("/sign-in", {"email": person.email, "password": NEW})
        assert page.url.path == "/sign-in/code"
        assert (await browser.get("/account")).url.path == "/sign-in"


async def test_portal_without_a_relay_says_whom_to_ask(portal: Running) -> None:
    async with portal.browser(language="es") as browser:
        sign_in = await browser.get("/sign-in")
        page = await browser.get(HERE)

    assert "/forgotten" not in sign_in.text
    assert "El operador de este servicio" in sign_in.text
    assert "pida a su operador un enlace" in page.text
    assert "<form" not in page.text.partition("<main")[2].partition("</main>")[0]
