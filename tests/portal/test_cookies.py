"""Cookies and HSTS of a portal on https, and foreign cookies."""

import httpx
import pytest
import trio

from fe.identifiers import TenantId
from fe.store.postgres.db import Database
from tests.portal.running import Running, start_portal
from tests.waiting import PATIENCE


async def test_the_cookie_is_for_this_host_over_tls_and_for_no_script(
    nursery: trio.Nursery, db: Database, portal_db: Database
) -> None:
    portal = await start_portal(nursery, db, portal_db, None, url="https://portal.example.do")
    async with httpx.AsyncClient(base_url=portal.url, timeout=PATIENCE, trust_env=False) as browser:
        page = await browser.get("/sign-in")

    (cookie,) = page.headers.get_list("set-cookie")
    name, *attributes = (part.strip() for part in cookie.split(";"))
    assert name.startswith("__Host-fe=")
    # Without a domain it is this host's alone, and without an age it ends with the browser.
    assert sorted(attributes) == ["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]
    assert len(name.partition("=")[2]) >= 43, "256 bits"
    assert page.headers["strict-transport-security"] == "max-age=63072000; includeSubDomains"
    assert page.headers["referrer-policy"] == "same-origin"
    assert page.headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]


@pytest.mark.parametrize(
    "theirs",
    ['g_state={"i_l":0}', "path=/news", "name=José", "a=b c", "flag", "=x", 'half="'],
)
async def test_cookies_of_the_whole_domain_keep_nobody_out_however_they_are_written(
    portal: Running, tenant: TenantId, theirs: str
) -> None:
    person = await portal.person(tenant)
    async with portal.browser() as browser:

        async def beside_theirs(request: httpx.Request) -> None:
            ours = request.headers.get("Cookie")
            request.headers.encoding = "utf-8"
            request.headers["Cookie"] = "; ".join(filter(None, (theirs, ours, theirs)))

        browser.client.event_hooks = {"request": [beside_theirs]}
        page = await browser.sign_in(person.email)

    assert page.status_code == 200
    assert page.url.path == f"/companies/{tenant}"
