"""A portal on a real socket, and people who use it as a browser would: cookies, forms, and where they are sent."""

import re
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from html import unescape
from typing import Any

import httpx
import pyotp
import trio
from argon2 import PasswordHasher

from fe.accounts import totp
from fe.accounts.openid import CALLBACK, OpenId
from fe.accounts.people import create_person
from fe.archiving.documents import ReceiptDocuments
from fe.config import Settings, load_settings
from fe.http.archives import archive_limit
from fe.http.paging import list_limit
from fe.http.server.listener import serve_http
from fe.identifiers import TenantId
from fe.issuing.submitting import Submitting
from fe.limits import NO_QUOTA, WEBHOOK_QUOTA, DocumentQuota
from fe.monitoring.initial_series import initialize_series
from fe.monitoring.metrics import Metrics
from fe.monitoring.submission_log import SubmissionLog
from fe.offload.pool import Apart
from fe.portal.app import create_portal
from fe.portal.deps import Portal
from fe.portal.rendering import Renderer
from fe.portal.reset_mailer import ResetMailer
from fe.store.portal import people, second_factor
from fe.store.portal.people import Person, PortalRole
from fe.store.postgres.db import Conn, Database
from fe.store.queue.wakeups import Wakeups
from fe.store.records.month_memory import MonthMemory
from tests.factories.companies import VAULT
from tests.http.front import PEPPER, WEBHOOKS, HandClock
from tests.plain_http import NO_TLS
from tests.portal.provider import CLIENT_ID, CLIENT_SECRET
from tests.waiting import PATIENCE

PASSWORD = "correct horse battery staple"
#: Seed of every second factor here.
SEED = b"twenty bytes of seed"
#: Dear to compare with is what fe makes (tests/portal/test_passwords.py); here, each test would pay for each login.
_HASH = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
#: It keeps templates that were compiled, which is dear, and nothing of whom it renders for.
_RENDERER = Renderer()


@dataclass
class Running:
    """A portal that serves."""

    #: As its owner: for preparing data, and for looking behind the curtain.
    db: Database
    clock: HandClock
    portal: Portal
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @asynccontextmanager
    async def browser(self, person: Person | None = None, language: str = "en") -> AsyncIterator["Browser"]:
        """A browser with a signed-in person."""
        async with httpx.AsyncClient(
            base_url=self.url, timeout=PATIENCE, verify=NO_TLS, trust_env=False, headers={"Accept-Language": language}
        ) as client:
            browser = Browser(client, self)
            if person is not None:
                await browser.sign_in(person.email)
            yield browser

    async def person(
        self,
        tenant_id: TenantId | None = None,
        role: PortalRole = PortalRole.OWNER,
        *,
        email: str = "ana@example.do",
        is_operator: bool = False,
        language: str = "en",
    ) -> Person:
        """Create a person with PASSWORD who works for a tenant."""
        made = await self.db.transact(
            create_person,
            email,
            email.partition("@")[0].title(),
            password_hash=_HASH,
            language=language,
            is_operator=is_operator,
            now=self.clock(),
        )
        if is_operator:
            made = await self.with_second_factor(made)
        if tenant_id is not None:
            await self.db.run(people.join, tenant_id, made.person_id, role, self.clock())
        return made

    async def with_second_factor(self, person: Person, seed: bytes = SEED) -> Person:
        """Set up a second factor for a person."""
        encrypted = totp.encrypt_seed(VAULT, person.person_id, seed)
        await self.db.run(second_factor.offer, person.person_id, encrypted)
        assert await self.db.run(second_factor.enrol, person.person_id, encrypted, 0, self.clock())
        found = await self.db.run(people.by_id, person.person_id)
        assert found is not None
        return found

    async def code(self, email: str) -> str:
        """A one-time password that is good now, however many were used in this half minute."""

        async def forget(conn: Conn) -> None:
            await conn.execute("UPDATE people SET totp_last_step = 0 WHERE lower(email) = lower(%s)", [email])

        await self.db.run(forget)
        return pyotp.TOTP(totp.shown(SEED)).at(self.clock())


@dataclass
class Browser:
    """A browser: follows where it is sent, and sends the forms that pages have."""

    client: httpx.AsyncClient
    portal: Running
    page: httpx.Response | None = None

    async def get(self, path: str) -> httpx.Response:
        self.page = await self.client.get(path, follow_redirects=True)
        return self.page

    async def send(
        self, action: str, fields: Mapping[str, Any] | None = None, files: Mapping[str, Any] | None = None
    ) -> httpx.Response:
        """Fill in the form of the page that is shown whose action this is, and send it as it would be."""
        assert self.page is not None
        filled = hidden_fields(self.page.text, action) | dict(fields or {})
        self.page = await self.client.post(action, data=filled, files=files, follow_redirects=True)
        return self.page

    async def sign_in(self, email: str, password: str = PASSWORD) -> httpx.Response:
        await self.get("/sign-in")
        page = await self.send("/sign-in", {"email": email, "password": password})
        if page.url.path == "/sign-in/code":
            page = await self.send("/sign-in/code", {"code": await self.portal.code(email)})
        return page


def hidden_fields(page: str, action: str) -> dict[str, str]:
    """The hidden fields of the form with this action."""
    for form in re.findall(r"<form\b.*?</form>", page, re.DOTALL):
        head = form.partition(">")[0]
        if f'action="{action}"' in head:
            hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
            return {name: unescape(value) for name, value in hidden}
    raise AssertionError(f"the page has no form that goes to {action}")


def _openid(issuer: str, url: str) -> OpenId:
    return OpenId(issuer, CLIENT_ID, CLIENT_SECRET, "Acme", f"{url}{CALLBACK}", bytes(32))


@cache
def _settings() -> Settings:
    return load_settings(grace_seconds=2, development=True, portal_bind="127.0.0.1:1")


async def start_portal(
    nursery: trio.Nursery,
    db: Database,
    portal_db: Database,
    operators: Database | None,
    issuer: str | None = None,
    **more: Any,
) -> Running:
    """Serve with the rights of the portal and no others: then a right that is missing shows."""
    clock, metrics = HandClock(), Metrics()
    initialize_series(metrics)
    # The address is known before the portal is built: pages and their checks name it.
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    settings = _settings().model_copy(update={"portal_bind": f"127.0.0.1:{port}"})
    wakeups = more.pop("wakeups", None) or Wakeups(portal_db)
    if relay := more.get("relay"):
        more["resets"] = ResetMailer(portal_db, relay, clock, f"http://127.0.0.1:{port}")
        nursery.start_soon(more["resets"].run)
    portal = Portal(
        **{
            "settings": settings,
            "db": portal_db,
            "documents": ReceiptDocuments(portal_db, None, metrics),
            "lists": list_limit(metrics),
            "months": MonthMemory(clock),
            "operators": operators,
            "wakeups": wakeups,
            "vault": VAULT,
            "peppers": {"": PEPPER},
            "webhooks": WEBHOOKS,
            "webhook_calls": DocumentQuota(WEBHOOK_QUOTA, metrics, name="tenant_webhooks"),
            "clock": clock,
            "metrics": metrics,
            "form_keys": (bytes(32),),
            "url": f"http://127.0.0.1:{port}",
            "renderer": _RENDERER,
            "openid": None if issuer is None else _openid(issuer, f"http://127.0.0.1:{port}"),
            "submitting": Submitting(portal_db, wakeups, metrics, SubmissionLog()),
            "quotas": DocumentQuota(NO_QUOTA, metrics),
            "printers": Apart(1, metrics, seconds=PATIENCE),
            "archives": archive_limit(metrics),
            **more,
        }
    )
    shutdown = trio.Event()

    async def serve(task_status: trio.TaskStatus[list[socket.socket]]) -> None:
        await serve_http(
            create_portal(portal), [listener], settings=settings, shutdown=shutdown, task_status=task_status
        )

    await nursery.start(serve)
    return Running(db, clock, portal, port)
