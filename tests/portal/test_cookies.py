"""What a portal that people reach by https tells browsers of its cookie, and of coming back."""

import httpx
import trio

from fe.store.postgres.db import Database
from tests.portal.running import start_portal
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
