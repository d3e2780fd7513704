"""Members of a company: invited by a link shown once, always with an owner, visible to the company only."""

import pytest
import trio
import trio.lowlevel

from fe.accounts import members as accounts
from fe.accounts import people as makers
from fe.accounts.people import PersonRefused
from fe.ecf.texts import Text
from fe.identifiers import TenantId
from fe.portal.browser_names import browser_name
from fe.store.portal import changes, members, people
from fe.store.portal.people import Person, PortalRole
from fe.store.postgres.db import Conn
from tests.http.front import make_tenant
from tests.portal.running import PASSWORD, Browser, Running, hidden_fields
from tests.waiting import until_waited_for

NEW = "cuatro perros comen yuca"


async def _invite(portal: Running, owner: Browser, tenant: TenantId, email: str, role: str = "member") -> str:
    at = f"/companies/{tenant}/people/invite"
    await owner.get(at)
    page = await owner.send(at, {"email": email, "role": role})
    assert page.status_code == 200, page.text
    return f"/invitation/{page.text.partition(f'{portal.url}/invitation/')[2].partition('<')[0]}"


async def test_somebody_new_is_invited_and_gets_in_once(portal: Running, owner: Browser, tenant: TenantId) -> None:
    link = await _invite(portal, owner, tenant, "nuevo@example.do", "accountant")
    listed = (await owner.get(f"/companies/{tenant}/people")).text
    assert "nuevo@example.do" in listed
    assert link not in listed, "shown once"

    async with portal.browser() as browser:
        assert "nuevo@example.do" in (await browser.get(link)).text
        for fields, words in (
            ({"name": "Nuevo", "new": "short", "repeated": "short"}, "at least 12"),
            ({"name": "Nuevo", "new": "nuevonuevo2026", "repeated": "nuevonuevo2026"}, "easy to guess"),
            ({"name": "Nuevo", "new": NEW, "repeated": NEW + "!"}, "not the same"),
            ({"name": "", "new": NEW, "repeated": NEW}, "The name should"),
        ):
            refused = await browser.send(link, fields)
            assert (refused.status_code, words in refused.text) == (400, True), words
        page = await browser.send(link, {"name": "<b>Nuevo</b>", "new": NEW, "repeated": NEW})
        assert (page.url.path, page.status_code) == (f"/companies/{tenant}", 200)
        assert "&lt;b&gt;Nuevo" in page.text
        assert (await browser.get(f"/companies/{tenant}/people/invite")).status_code == 403
    async with portal.browser() as browser:
        assert (await browser.get(link)).status_code == 404
        assert (await browser.sign_in("nuevo@example.do", NEW)).status_code == 200
    found = await portal.db.run(changes.latest, tenant, limit=10)
    assert [(one.action, one.by_whom) for one in found] == [
        ("person joined", "nuevo@example.do"),
        ("person invited", "ana@example.do"),
    ]


async def test_somebody_who_is_known_works_for_several_companies(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    other = await make_tenant(portal.db, "Otra SRL")
    known = await portal.person(other, email="luz@example.do")
    link = await _invite(portal, owner, tenant, "LUZ@example.do")
    async with portal.browser() as browser:
        page = await browser.get(link)
        assert "There is an account for this address" in page.text
        page = await browser.get(f"/sign-in?next={link}")
        page = await browser.send("/sign-in", {"email": known.email, "password": PASSWORD})
        assert page.url.path == link
        page = await browser.send(link)
        assert page.url.path == f"/companies/{tenant}"
        both = (await browser.get("/")).text
        assert (f"/companies/{tenant}" in both, f"/companies/{other}" in both) == (True, True)


async def test_an_invitation_is_withdrawn_expires_and_is_made_once(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    link = await _invite(portal, owner, tenant, "nuevo@example.do")
    at = f"/companies/{tenant}/people/invite"
    await owner.get(at)
    again = await owner.send(at, {"email": "nuevo@example.do", "role": "member"})
    assert (again.status_code, "invited already" in again.text) == (400, True)
    bad = await owner.send(at, {"email": "<img onerror=x>", "role": "emperor"})
    assert (bad.status_code, "Choose a role" in bad.text, "<img" in bad.text) == (400, True, False)
    bad = await owner.send(at, {"email": "a" * 10_000, "role": "member"})
    assert (bad.status_code, "not an e-mail" in bad.text) == (400, True)
    await owner.get(f"/companies/{tenant}/people")
    await owner.send(f"/companies/{tenant}/people/withdraw")
    async with portal.browser() as browser:
        assert (await browser.get(link)).status_code == 404

    link = await _invite(portal, owner, tenant, "nuevo@example.do")
    portal.clock.ahead = accounts.INVITATION_LIFE
    async with portal.browser() as browser:
        assert (await browser.get(link)).status_code == 404


async def test_a_form_sent_twice_invites_once_and_a_stale_one_changes_nothing(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    at = f"/companies/{tenant}/people/invite"
    page = await owner.get(at)
    fields = hidden_fields(page.text, at) | {"email": "nuevo@example.do", "role": "member"}
    assert (await owner.client.post(at, data=fields)).status_code == 200
    assert (await owner.client.post(at, data=fields | {"email": "b@example.do"})).status_code == 409

    other = await portal.person(tenant, PortalRole.MEMBER, email="luz@example.do")
    member = f"/companies/{tenant}/people/{other.person_id}"
    await owner.get(member)
    await portal.db.run(members.set_role, tenant, other.person_id, PortalRole.ACCOUNTANT)
    stale = await owner.send(f"{member}/role", {"role": "owner"})
    assert (stale.status_code, "This was changed meanwhile" in stale.text) == (409, True)
    await owner.get(member)
    assert (await owner.send(f"{member}/role", {"role": "owner"})).url.path == f"/companies/{tenant}/people"


async def test_who_is_removed_sees_nothing_of_the_company_any_more(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    other = await portal.person(tenant, PortalRole.MEMBER, email="luz@example.do")
    async with portal.browser(other) as browser:
        assert (await browser.get(f"/companies/{tenant}/people")).status_code == 200
        await owner.get(f"/companies/{tenant}/people/{other.person_id}")
        page = await owner.send(f"/companies/{tenant}/people/{other.person_id}/remove")
        assert "luz@example.do is removed" in page.text
        assert (await browser.get(f"/companies/{tenant}/people")).status_code == 404
        assert (await browser.get("/account")).url.path == "/account", "still logged in"


async def test_the_last_owner_stays(portal: Running, owner: Browser, tenant: TenantId) -> None:
    me = await portal.db.run(people.by_email, "ana@example.do")
    assert me is not None
    at = f"/companies/{tenant}/people/{me.person_id}"
    for action, fields in (("role", {"role": "member"}), ("remove", {})):
        await owner.get(at)
        refused = await owner.send(f"{at}/{action}", fields)
        assert (refused.status_code, "must keep an owner" in refused.text) == (409, True)
    gone = await portal.person(tenant, email="gone@example.do")
    await portal.db.run(people.set_disabled, gone.person_id, portal.clock())
    await owner.get(at)
    refused = await owner.send(f"{at}/remove")
    assert refused.status_code == 409, "an owner who cannot log in is none"


async def test_two_owners_who_leave_at_once_do_not_both(portal: Running, tenant: TenantId) -> None:
    both = [await portal.person(tenant, email=f"{name}@example.do") for name in ("ana", "luz")]
    outcomes: list[str] = []

    async def nothing(*_: object) -> None:
        await trio.lowlevel.checkpoint()

    async def leave(person: Person) -> None:
        async def work(conn: Conn) -> None:
            await accounts.remove(conn, tenant, person.person_id, note=nothing)

        try:
            await portal.db.transact(work)
            outcomes.append("left")
        except PersonRefused:
            outcomes.append("stays")

    async with trio.open_nursery() as nursery:
        for person in both:
            nursery.start_soon(leave, person)

    assert sorted(outcomes) == ["left", "stays"]
    assert len(await portal.db.run(members.of_tenant, tenant)) == 1


@pytest.mark.parametrize("role", [PortalRole.MEMBER, PortalRole.ACCOUNTANT])
async def test_only_owners_change_who_works_here(portal: Running, tenant: TenantId, role: PortalRole) -> None:
    victim = await portal.person(tenant, email="victim@example.do")
    person = await portal.person(tenant, role, email="luz@example.do")
    async with portal.browser(person) as browser:
        page = await browser.get(f"/companies/{tenant}/people")
        assert (page.status_code, "Invite a person" in page.text) == (200, False)
        csrf = hidden_fields(page.text, "/sign-out")
        for path in ("invite", "withdraw", f"{victim.person_id}/role", f"{victim.person_id}/remove"):
            sent = await browser.client.post(f"/companies/{tenant}/people/{path}", data=csrf | {"role": "owner"})
            assert sent.status_code == 403, path


async def test_people_of_another_company_are_not_there(portal: Running, owner: Browser, tenant: TenantId) -> None:
    other = await make_tenant(portal.db, "Otra SRL")
    stranger = await portal.person(other, email="stranger@example.do")
    assert (await owner.get(f"/companies/{tenant}/people/{stranger.person_id}")).status_code == 404
    assert (await owner.get(f"/companies/{other}/people")).status_code == 404

    async def nothing(*_: object) -> None:
        await trio.lowlevel.checkpoint()

    async def work(conn: Conn) -> str:
        made, _ = await accounts.invite(
            conn, other, "x@example.do", PortalRole.OWNER, by_whom="o", now=portal.clock(), note=nothing
        )
        return str(made.invitation_id)

    invitation = await portal.db.transact(work)
    page = await owner.get(f"/companies/{tenant}/people")
    fields = hidden_fields(page.text, "/sign-out") | {"form": invitation, "invitation": invitation}
    refused = await owner.client.post(f"/companies/{tenant}/people/withdraw", data=fields)
    assert refused.status_code in (404, 409)
    fields["invitation"] = "' OR 1=1"
    assert (await owner.client.post(f"/companies/{tenant}/people/withdraw", data=fields)).status_code == 404


async def test_an_operator_is_invited_by_the_command_line_and_needs_a_second_factor(portal: Running) -> None:
    async def work(conn: Conn) -> str:
        return (await accounts.invite_operator(conn, "op@example.do", by_whom="root", now=portal.clock()))[1]

    token = await portal.db.transact(work)
    async with portal.browser() as browser:
        await browser.get(f"/invitation/{token}")
        await browser.send(f"/invitation/{token}", {"name": "Opal", "new": NEW, "repeated": NEW})
    made = await portal.db.run(people.by_email, "op@example.do")
    assert made is not None
    assert made.is_operator


async def test_a_link_of_an_operator_sets_the_password_once_and_ends_all_sessions(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    person = await portal.db.run(people.by_email, "ana@example.do")
    assert person is not None
    old = await portal.db.transact(makers.issue_reset, person, "root", portal.clock())
    token = await portal.db.transact(makers.issue_reset, person, "root", portal.clock())
    async with portal.browser() as browser:
        assert (await browser.get(f"/reset/{old}")).status_code == 404, "the one before is void"
        await browser.get(f"/reset/{token}")
        weak = await browser.send(f"/reset/{token}", {"new": "password1234", "repeated": "password1234"})
        assert weak.status_code == 400
        page = await browser.send(f"/reset/{token}", {"new": NEW, "repeated": NEW})
        assert page.url.path == "/sign-in"
        assert (await browser.get(f"/reset/{token}")).status_code == 404
        assert (await owner.get("/account")).url.path == "/sign-in"
        assert (await browser.sign_in(person.email)).status_code == 403
        assert (await browser.sign_in(person.email, NEW)).status_code == 200
    late = await portal.db.transact(makers.issue_reset, person, "root", portal.clock())
    portal.clock.ahead = makers.RESET_LIFE
    async with portal.browser() as browser:
        assert (await browser.get(f"/reset/{late}")).status_code == 404


async def test_of_two_links_that_operators_make_at_once_the_second_voids_the_first(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    person = await portal.db.run(people.by_email, "ana@example.do")
    assert person is not None
    made: list[str] = []

    async def another() -> None:
        made.append(await portal.db.transact(makers.issue_reset, person, "op", portal.clock()))

    async with trio.open_nursery() as nursery:

        async def first(conn: Conn) -> str:
            token = await makers.issue_reset(conn, person, "root", portal.clock())
            nursery.start_soon(another)
            await until_waited_for(portal.db)
            return token

        token = await portal.db.transact(first)
    async with portal.browser() as browser:
        assert (await browser.get(f"/reset/{token}")).status_code == 404
        assert (await browser.get(f"/reset/{made[0]}")).status_code == 200


async def test_the_password_is_changed_and_other_browsers_are_out(
    portal: Running, owner: Browser, tenant: TenantId
) -> None:
    at = "/account/password"
    async with portal.browser() as other:
        await other.sign_in("ana@example.do")
        before = owner.client.cookies["fe"]
        await owner.get(at)
        wrong = await owner.send(at, {"present": "wrong", "new": NEW, "repeated": NEW})
        assert wrong.status_code == 403
        weak = await owner.send(at, {"present": PASSWORD, "new": "ana@example.do", "repeated": "ana@example.do"})
        assert weak.status_code == 400
        page = await owner.send(at, {"present": PASSWORD, "new": NEW, "repeated": NEW})
        assert (page.url.path, "password is changed" in page.text) == ("/account", True)
        assert owner.client.cookies["fe"] != before
        assert (await other.get("/account")).url.path == "/sign-in"
        assert (await other.sign_in("ana@example.do", NEW)).status_code == 200


async def test_sessions_are_listed_and_ended(portal: Running, owner: Browser, tenant: TenantId) -> None:
    async with portal.browser() as one, portal.browser() as two:
        for browser in (one, two):
            browser.client.headers["User-Agent"] = f"Evil <script>{id(browser)}"
            await browser.sign_in("ana@example.do")
        page = await owner.get("/account")
        assert (page.text.count("Evil &lt;script&gt;"), "<script>1" in page.text) == (2, False)
        row = page.text.partition(f"Evil &lt;script&gt;{id(one)}")[2]
        named = row.partition('name="session" value="')[2].partition('"')[0]
        fields = hidden_fields(page.text, "/account/sessions/end") | {"session": named}
        await owner.client.post("/account/sessions/end", data=fields)
        assert (await one.get("/account")).url.path == "/sign-in"
        assert (await two.get("/account")).url.path == "/account"
        await owner.client.post("/account/sessions/end", data=fields | {"session": "others"})
        assert (await two.get("/account")).url.path == "/sign-in"
        assert (await owner.get("/account")).url.path == "/account"
        await owner.client.post("/account/sessions/end", data=fields | {"session": "all"})
        assert (await owner.get("/account")).url.path == "/sign-in"


async def test_nobody_ends_the_sessions_of_another(portal: Running, owner: Browser) -> None:
    other = await portal.person(email="luz@example.do")
    async with portal.browser(other) as browser:
        page = await browser.get("/account")
        named = hidden_fields(page.text, "/account/sessions/end")["session"]
        mine = await owner.get("/account")
        fields = hidden_fields(mine.text, "/account/sessions/end") | {"session": named}
        await owner.client.post("/account/sessions/end", data=fields)
        assert (await browser.get("/account")).url.path == "/account"


@pytest.mark.parametrize(
    ("header", "said"),
    [
        (
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile"
            " Safari/537.36",
            "Chrome en Android",
        ),
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0"
            " Safari/537.36 Edg/141.0.0.0",
            "Edge en Windows",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)"
            " Version/18.6 Mobile/15E148 Safari/604.1",
            "Safari en iPhone",
        ),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0", "Firefox en Linux"),
        ("curl/8.14.1", "curl/8.14.1"),
        ("", "desconocido"),
    ],
)
def test_browser_of_a_session_is_named_with_its_system(header: str, said: str) -> None:
    name = browser_name(header)
    assert (name.es if isinstance(name, Text) else name) == said
