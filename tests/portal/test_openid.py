"""Login by an OpenID provider, against a running one: accepted and refused answers."""

from collections.abc import Iterator

import pytest
import trio

from fe.accounts import people as accounts
from fe.identifiers import TenantId
from fe.store.portal import identities, people
from fe.store.portal.people import Person
from fe.store.postgres.db import Conn, Database
from tests.portal.provider import Provider, running_provider
from tests.portal.running import PASSWORD, Running, start_portal


@pytest.fixture(scope="module")
def one_provider() -> Iterator[Provider]:
    with running_provider() as running:
        yield running


@pytest.fixture
def provider(one_provider: Provider) -> Provider:
    one_provider.script(subject="s-1")
    return one_provider


@pytest.fixture
async def portal(
    nursery: trio.Nursery, db: Database, portal_db: Database, operator_db: Database, provider: Provider
) -> Running:
    return await start_portal(nursery, db, portal_db, operator_db, provider.issuer)


@pytest.fixture
async def ana(portal: Running, provider: Provider, tenant: TenantId) -> Person:
    """A person with a linked account."""
    person = await portal.person(tenant)
    await portal.db.run(identities.link, provider.issuer, "s-1", person.person_id, portal.clock())
    return person


async def _without_password(portal: Running, email: str) -> Person:
    return await portal.db.transact(
        accounts.create_person, email, "Sin Clave", password_hash=None, language="en", now=portal.clock()
    )


async def test_somebody_links_the_account_and_logs_in_by_it(
    portal: Running, provider: Provider, tenant: TenantId
) -> None:
    person = await portal.person(tenant)
    async with portal.browser() as browser:
        refused = await browser.get("/sign-in/openid")
        assert (refused.status_code, "not linked to any person" in refused.text) == (403, True)
    async with portal.browser(person) as browser:
        await browser.get("/account")
        page = await browser.send("/account/openid")
        assert page.status_code == 200
        link = page.text.partition(f'href="{provider.issuer}')[2].partition('"')[0].replace("&amp;", "&")
        page = await browser.get(f"{provider.issuer}{link}")
        assert (page.url.path, "The account is linked" in page.text) == ("/account", True)
    async with portal.browser() as browser:
        await browser.get("/sign-in?next=/account")
        page = await browser.get("/sign-in/openid?next=/account")
        assert (page.url.path, person.email in page.text) == ("/account", True)


@pytest.mark.parametrize(
    "fault",
    [
        *("wrong nonce", "no nonce", "wrong aud", "more aud", "other party", "expired", "no exp", "of the future"),
        *("wrong iss", "no subject", "other key", "none", "shared secret", "garbage token", "no id token"),
        *("other iss", "no iss", "refused", "tampered state"),
    ],
)
async def test_an_answer_that_is_not_right_logs_nobody_in(
    portal: Running, provider: Provider, ana: Person, fault: str
) -> None:
    provider.script(subject="s-1", fault=fault)
    async with portal.browser() as browser:
        page = await browser.get("/sign-in/openid")
        assert page.status_code in (400, 403), page.text
        assert ana.name not in page.text
        assert (await browser.get("/account")).url.path == "/sign-in"
        provider.script(subject="s-1")
        assert (await browser.get("/sign-in/openid")).status_code == 200


@pytest.mark.parametrize(
    "fault",
    ["garbage", "endless", "deep", "compressed", "redirect", "another issuer", "plain endpoints", "a list"],
)
async def test_a_provider_that_makes_no_sense_is_away_and_passwords_go_on(
    portal: Running, provider: Provider, ana: Person, fault: str
) -> None:
    provider.script(subject="s-1", fault=fault)
    async with portal.browser() as browser:
        page = await browser.get("/sign-in/openid")
        assert (page.status_code, "cannot be reached" in page.text) == (503, True)
        assert (await browser.sign_in(ana.email)).status_code == 200


async def test_a_provider_that_is_gone_is_said_to_be(
    nursery: trio.Nursery, db: Database, portal_db: Database, operator_db: Database, tenant: TenantId
) -> None:
    with running_provider() as gone:
        portal = await start_portal(nursery, db, portal_db, operator_db, gone.issuer)
        gone.stop()
        async with portal.browser() as browser:
            page = await browser.get("/sign-in/openid")
            assert (page.status_code, "cannot be reached" in page.text) == (503, True)


async def test_an_answer_is_good_once_in_the_browser_that_asked(
    portal: Running, provider: Provider, ana: Person
) -> None:
    async with portal.browser() as browser, portal.browser() as other:
        await other.get("/sign-in")
        sent = await browser.client.get("/sign-in/openid")
        assert sent.headers["location"].startswith(f"{provider.issuer}/authorize?")
        back = (await browser.client.get(sent.headers["location"])).headers["location"]

        stolen = await other.get(back)
        assert (stolen.status_code, "belongs to no login" in stolen.text) == (400, True)
        assert (await other.get("/account")).url.path == "/sign-in"
        assert (await browser.get(back)).url.path == f"/companies/{await _first(portal, ana)}"
        assert (await browser.get(back)).status_code == 400


async def _first(portal: Running, person: Person) -> TenantId:
    return (await portal.db.run(people.tenants_of, person.person_id))[0][0]


async def test_a_key_that_is_new_there_is_asked_for(portal: Running, provider: Provider, ana: Person) -> None:
    async with portal.browser() as browser:
        assert (await browser.get("/sign-in/openid")).status_code == 200
    provider.script(subject="s-1", fault="new key")
    openid = portal.portal.openid
    assert openid is not None
    openid._keys_at -= 60
    async with portal.browser() as browser:
        assert (await browser.get("/sign-in/openid")).status_code == 200
        assert provider.asked().count("/keys") >= 2


async def test_the_same_address_alone_proves_nothing(portal: Running, provider: Provider, tenant: TenantId) -> None:
    with_password = await portal.person(tenant)
    without = await _without_password(portal, "luz@example.do")
    operator = await _without_password(portal, "op@example.do")
    await portal.db.run(people.set_operator, operator.person_id, True)
    for subject, email, is_verified, gets_in in (
        ("a", with_password.email, True, False),
        ("b", "luz@example.do", False, False),
        ("b", "luz@example.do", "true", False),
        ("c", "op@example.do", True, False),
        ("d", "LUZ@example.do", True, True),
        ("e", "luz@example.do", True, False),
        ("d", "other@example.do", False, True),
    ):
        provider.script(subject=subject, email=email, email_verified=is_verified)
        async with portal.browser() as browser:
            page = await browser.get("/sign-in/openid")
            assert (page.status_code == 200) is gets_in, (subject, email)
    assert [one.subject for one in await portal.db.run(identities.of_person, without.person_id)] == ["d"]


async def test_who_is_disabled_here_is_so_by_the_provider_too(portal: Running, provider: Provider, ana: Person) -> None:
    await portal.db.run(people.set_disabled, ana.person_id, portal.clock())
    async with portal.browser() as browser:
        assert (await browser.get("/sign-in/openid")).status_code == 403


async def test_the_second_factor_is_asked_for_after_the_provider_too(
    portal: Running, provider: Provider, ana: Person
) -> None:
    await portal.with_second_factor(ana)
    async with portal.browser() as browser:
        page = await browser.get("/sign-in/openid?next=/account")
        assert page.url.path == "/sign-in/code"
        assert (await browser.get("/account")).url.path == "/sign-in"
        await browser.get("/sign-in/code?next=/account")
        page = await browser.send("/sign-in/code", {"code": await portal.code(ana.email)})
        assert page.url.path == "/account"


async def test_showing_again_by_the_provider_takes_a_new_login_of_the_same_person(
    portal: Running, provider: Provider, ana: Person
) -> None:
    async with portal.browser(ana) as browser:
        before = browser.client.cookies["fe"]
        page = await browser.get("/again/openid?next=/account/password")
        assert page.url.path == "/account/password"
        assert browser.client.cookies["fe"] != before
        for told in ({"subject": "s-1", "fault": "old login"}, {"subject": "s-2"}):
            provider.script(**told)
            page = await browser.get("/again/openid?next=/account/password")
            assert page.status_code == 403
            assert "Confirm your password" in page.text


async def test_an_account_there_is_one_persons_here(portal: Running, provider: Provider, ana: Person) -> None:
    other = await portal.person(email="b@example.do")
    async with portal.browser(other) as browser:
        await browser.get("/account")
        page = await browser.send("/account/openid")
        link = page.text.partition(f'href="{provider.issuer}')[2].partition('"')[0].replace("&amp;", "&")
        page = await browser.get(f"{provider.issuer}{link}")
        assert (page.status_code, "another person" in page.text) == (409, True)
    async with portal.browser(ana) as browser:
        await browser.get("/account")
        page = await browser.send("/account/openid/remove")
        assert "unlinked" in page.text
    async with portal.browser() as browser:
        assert (await browser.get("/sign-in/openid")).status_code == 403


async def test_who_has_no_password_keeps_the_account_linked(portal: Running, provider: Provider) -> None:
    await _without_password(portal, "luz@example.do")
    provider.script(subject="d", email="luz@example.do")
    async with portal.browser() as browser:
        await browser.get("/sign-in/openid")
        await browser.get("/account")
        assert (await browser.send("/account/openid/remove")).status_code == 409


async def test_an_invitation_is_accepted_by_the_provider(portal: Running, provider: Provider, tenant: TenantId) -> None:
    owner = await portal.person(tenant)
    async with portal.browser(owner) as browser:
        await browser.get(f"/companies/{tenant}/people/invite")
        page = await browser.send(f"/companies/{tenant}/people/invite", {"email": "nueva@example.do", "role": "member"})
        link = page.text.partition(f"{portal.url}/invitation/")[2].partition("<")[0]
    provider.script(subject="new", name="Nueva <Persona>")
    async with portal.browser() as browser:
        page = await browser.get(f"/invitation/{link}/openid")
        assert page.url.path == f"/companies/{tenant}"
        assert "Nueva &lt;Persona&gt;" in page.text
        assert (await browser.get(f"/invitation/{link}/openid")).status_code == 404
    made = await portal.db.run(people.by_email, "nueva@example.do")
    assert made is not None
    assert not made.has_password


async def test_without_a_provider_there_are_no_such_pages(
    nursery: trio.Nursery, db: Database, portal_db: Database
) -> None:
    plain = await start_portal(nursery, db, portal_db, None)
    async with plain.browser() as browser:
        for path in ("/sign-in/openid", "/sign-in/openid/answer?state=x&code=y"):
            assert (await browser.get(path)).status_code == 404
        assert "openid" not in (await browser.get("/sign-in")).text


async def test_nothing_of_a_login_is_kept_in_the_clear(portal: Running, provider: Provider) -> None:
    async with portal.browser() as browser:
        sent = await browser.client.get("/sign-in/openid?next=/invitation/secret")
        location = sent.headers["location"]
        assert "client_secret" not in location
        assert PASSWORD not in location
        state = location.partition("state=")[2].partition("&")[0]

    async def rows(conn: Conn) -> str:
        cursor = await conn.execute("SELECT openid_requests::text FROM openid_requests")
        return str(await cursor.fetchall())

    kept = await portal.db.run(rows)
    assert state not in kept
    assert "invitation/secret" not in kept
