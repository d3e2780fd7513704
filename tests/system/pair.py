"""Two tenants of one installation, A and B: what one issues the other receives."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx
import trio
from cryptography.hazmat.primitives.serialization import Encoding

from fe.ecf.catalogue import Environment
from fe.store.records import receivers
from fe.store.records.receivers import Receiver
from fe.store.records.tenants import Tenant
from tests.factories.companies import credential_of_today
from tests.system.stack import ISSUER, Stack, provision, running_stack
from tests.waiting import PATIENCE, PAUSING

T = TypeVar("T")

BUYER = {
    "RNCEmisor": "131880681",
    "RazonSocialEmisor": "Colmado Dos Hermanos SRL",
    "DireccionEmisor": "Calle Duarte 3",
}


@dataclass
class Party:
    """One of the two, with a key."""

    tenant: Tenant
    client: httpx.AsyncClient
    rnc: str
    #: Of its key, for B.
    key_id: str = ""
    secret: str = ""

    async def received(self) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = (await self.client.get("/received")).json()["items"]
        return items

    async def get(self, path: str) -> dict[str, Any]:
        answer = await self.client.get(path)
        assert answer.status_code == 200, answer.text
        shown: dict[str, Any] = answer.json()
        return shown


@dataclass
class Pair:
    """The installation, A who issues, and B who buys."""

    stack: Stack
    a: Party
    b: Party

    async def list_in_directory(self, rnc: str, reception: str, approval: str | None = None) -> None:
        """Have the simulated authority's directory give these addresses for a tax id."""
        entry = {"rnc": rnc, "name": "x", "receptionUrl": reception, "approvalUrl": approval or reception}
        await self.tell_the_authority("taxpayers", entry)

    async def tell_the_authority(self, what: str, record: dict[str, Any]) -> None:
        async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE) as operator:
            answer = await operator.post(f"{self.stack.simulator.management}/{what}", json=record)
            assert answer.is_success, answer.text

    def address_of(self, rnc: str) -> str:
        """Where this installation receives for a tax id."""
        return f"{self.stack.reception}/testecf/{rnc}"


@asynccontextmanager
async def running_pair(dsn: str, tmp_path: Path, **overrides: Any) -> AsyncIterator[Pair]:
    """Run everything, reception included, for as long as the block lasts."""
    roots, credential = tmp_path / "roots.pem", credential_of_today()
    roots.write_bytes(credential.certificate.public_bytes(Encoding.PEM))
    settings = {"reception_bind": "127.0.0.1:0", "reception_roots": roots, **overrides}
    async with running_stack(dsn, tmp_path, credential=credential, **settings) as stack:
        assert stack.settings.api_key_pepper is not None
        pepper = bytes.fromhex(stack.settings.api_key_pepper.get_secret_value())
        buyer, _, key = await provision(
            stack.db, stack.vault, pepper, environment=Environment.TESTECF, issuer=BUYER, credential=credential
        )
        for tenant in (stack.tenant, buyer):
            receiver = Receiver(tenant.tenant_id, Environment.TESTECF, tenant.issuer["RNCEmisor"], False)
            assert await stack.db.run(receivers.open_reception, receiver)
        async with httpx.AsyncClient(
            base_url=stack.base_url, timeout=PATIENCE, trust_env=False, limits=PAUSING
        ) as client:
            login = await client.post("/login", json={"apiKeyId": key.record.api_key_id, "apiSecret": key.secret})
            client.headers["Authorization"] = f"Bearer {login.json()['accessToken']}"
            yield Pair(
                stack,
                Party(stack.tenant, stack.client, ISSUER["RNCEmisor"]),
                Party(buyer, client, BUYER["RNCEmisor"], key.record.api_key_id, key.secret),
            )


async def until(found: Callable[[], Awaitable[T | None]], *, seconds: float = PATIENCE) -> T:
    """Ask again and again until `found()` gives something that is true; return it."""
    with trio.fail_after(seconds):
        while True:
            answer = await found()
            if answer:
                return answer
            await trio.sleep(0.05)
