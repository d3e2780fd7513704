"""People of the demonstration for the portal, and a check of a page as one of them."""

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from html import unescape

import httpx

from fe.accounts import people, totp
from fe.cli.failures import Failure
from fe.config import named_keys
from fe.identifiers import TenantId
from fe.secrets.vault import Vault
from fe.store.portal import people as memberships
from fe.store.portal import second_factor
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Conn, Database

OWNER, OPERATOR = "ana@demo.do", "luis@demo.do"
_PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class DemoPeople:
    """People who may sign in: an owner of both companies, and an operator, who needs a one-time password."""

    owner_password: str
    operator_password: str
    #: Seed of the operator's one-time passwords.
    seed: bytes

    @property
    def device_key(self) -> str:
        """The seed as it is typed into a device."""
        return totp.shown(self.seed)


async def make_people(
    db: Database, environment: Mapping[str, str], tenants: tuple[TenantId, ...], now: datetime
) -> DemoPeople:
    """Set both up in one transaction; `environment` is the stack's, with its secrets."""
    vault = Vault(named_keys(environment["FE_KEK"]))
    made = DemoPeople(secrets.token_urlsafe(9), secrets.token_urlsafe(9), totp.new_seed())
    owners, operators = [await people.hash_password(one) for one in (made.owner_password, made.operator_password)]

    async def task(conn: Conn) -> None:
        owner = await people.create_person(conn, OWNER, "Ana Demostración", password_hash=owners, now=now)
        for tenant_id in tenants:
            await memberships.join(conn, tenant_id, owner.person_id, PortalRole.OWNER, now)
        operator = await people.create_person(
            conn, OPERATOR, "Luis Demostración", password_hash=operators, is_operator=True, now=now
        )
        encrypted = totp.encrypt_seed(vault, operator.person_id, made.seed)
        await second_factor.offer(conn, operator.person_id, encrypted)
        await second_factor.enrol(conn, operator.person_id, encrypted, 0, now)

    await db.transact(task)
    return made


async def look(portal_url: str, made: DemoPeople, path: str, expected: str) -> list[str]:
    """Log in as the owner, as a browser does, and return what is wrong with the page at `path`."""
    async with httpx.AsyncClient(
        base_url=portal_url, trust_env=False, timeout=_PATIENCE, follow_redirects=True
    ) as browser:
        form = await browser.get("/sign-in")
        fields = {
            name: unescape(value)
            for name, value in re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form.text)
        }
        entered = await browser.post(
            "/sign-in", data={**fields, "next": path, "email": OWNER, "password": made.owner_password}
        )
        if entered.status_code != httpx.codes.OK:
            raise Failure(f"the portal does not let {OWNER} in: {entered.status_code}")
        return [] if expected in entered.text else [f"the portal does not show {expected} at {path}"]
