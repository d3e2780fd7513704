"""Webhooks in a run: the tenants' own systems, which are called and answer badly, and a supplier who sends receipts.

The receivers live with the run itself, so what they write down outlives everything that is killed.
"""

import hashlib
import hmac
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from uuid import UUID

import httpx
import trio
from cryptography.hazmat.primitives.serialization import Encoding
from lxml import etree

from fe.ecf.catalogue import Environment
from fe.ecf.ids import new_id
from fe.identifiers import TenantId
from fe.lifecycle import WebhookEvent
from fe.secrets.vault import Vault
from fe.store.postgres.db import Database
from fe.store.records import receivers
from fe.store.records.receivers import Receiver
from fe.store.webhooks import endpoints
from fe.webhooks.secrets import WebhookVault
from fe.webhooks.signature import new_secret
from tests.factories.certificates import default_root
from tests.faults.parts import Part
from tests.receiving.supplier import OURS, document

#: The key of the run's webhooks: id and hexadecimal characters.
KEYS = "hooks:4b" + "44" * 31
_VAULT = WebhookVault(Vault({"hooks": bytes.fromhex(KEYS.partition(":")[2])}))

#: In which environment the supplier finds the tenant that receives.
WHERE = Environment.ECF

_EVENTS = (
    WebhookEvent.RECEIVED_ECF,
    WebhookEvent.ACCEPTED,
    WebhookEvent.CONDITIONAL,
    WebhookEvent.REJECTED,
    WebhookEvent.ERROR,
)


@dataclass(frozen=True)
class HookCall:
    """A call that arrived, as its receiver saw it; `answered` is the status it sent, None where it sent none."""

    tenant_id: TenantId
    delivery_id: str
    event: str
    signature: str
    body: bytes
    answered: int | None = None


@dataclass(frozen=True)
class Handed:
    """A receipt that a supplier handed in; `acknowledged` when it was told that it was received."""

    e_ncf: str
    acknowledged: bool


class Listener:
    """The tenants' own systems, all on one port: the path says whose it is. They are moody until `calm`."""

    def __init__(self, port: int, seed: int) -> None:
        self.port = port
        self.calls: list[HookCall] = []
        self.secrets: dict[TenantId, str] = {}
        self.calm = False
        self._random = random.Random(f"{seed}/hooks")

    async def serve(self, stream: trio.SocketStream) -> None:
        """Read a call, write it down, and answer, or not."""
        try:
            with trio.move_on_after(30):
                await self._serve(stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the caller has closed the connection
        finally:
            await trio.aclose_forcefully(stream)

    async def _serve(self, stream: trio.SocketStream) -> None:
        received = b""
        while b"\r\n\r\n" not in received:
            data = await stream.receive_some(65536)
            if not data:
                return
            received += data
        head, _, body = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("ascii").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        while len(body) < int(headers["content-length"]):
            data = await stream.receive_some(65536)
            if not data:
                return
            body += data
        tenant_id = TenantId(int(first.split(" ")[1].strip("/")))
        call = HookCall(
            tenant_id, headers["x-service-delivery"], headers["x-service-event"], headers["x-service-signature"], body
        )
        mood = 1.0 if self.calm else self._random.random()
        if mood < 0.08:
            self.calls.append(call)
            return
        if mood < 0.12:
            await trio.sleep(self._random.uniform(0.1, 3.0))
        status = 500 if mood < 0.2 else 200
        self.calls.append(replace(call, answered=status))
        await stream.send_all(f"HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n".encode())

    async def run(self, listeners: list[trio.SocketListener]) -> None:
        """Serve until cancelled."""
        async with trio.open_nursery() as nursery:
            await trio.serve_listeners(self.serve, listeners, handler_nursery=nursery)


async def provision(db: Database, listener: Listener, tenants: Sequence[TenantId]) -> None:
    """Give each tenant an endpoint that wants to hear of everything, and open reception for one of them."""
    now = datetime.now(UTC)
    for tenant in tenants:
        secret, endpoint_id, secret_id = new_secret(), new_id(now), new_id(now)
        listener.secrets[tenant] = secret
        await db.run(
            endpoints.add,
            tenant,
            endpoint_id=endpoint_id,
            environment=None,
            url=f"http://127.0.0.1:{listener.port}/{tenant}",
            enabled=True,
            events=_EVENTS,
            headers=None,
            secret_id=secret_id,
            secret=_VAULT.encrypt_secret(tenant, secret_id, secret),
            at=now,
        )


async def open_reception(db: Database, tenant: TenantId) -> None:
    """Let the tenant with the RNC that the supplier knows receive."""
    await db.run(receivers.open_reception, Receiver(tenant, WHERE, OURS, False))


def write_roots(folder: Path) -> Path:
    """The certifier whose certificates suppliers sign with."""
    path = folder / "roots.pem"
    path.write_bytes(default_root().certificate.public_bytes(Encoding.PEM))
    return path


class Supplier:
    """Sends receipts, each again until it is acknowledged, whatever happens to the calls."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/{WHERE}/{OURS}/fe/recepcion/api/ecf"
        self.handed: list[Handed] = []
        self._stopped = False

    def stop(self) -> None:
        """Begin no more; what was begun is brought to its end."""
        self._stopped = True

    async def run(self, client: httpx.AsyncClient) -> None:
        """Send one receipt after the other."""
        number = 0
        while not self._stopped:
            number += 1
            e_ncf = f"E31{number:010d}"
            make = partial(document, Encabezado__IdDoc__eNCF=e_ncf)
            raw = await trio.to_thread.run_sync(make)
            self.handed.append(Handed(e_ncf, await self._acknowledged(client, raw)))
            await trio.sleep(0.15)

    async def _acknowledged(self, client: httpx.AsyncClient, raw: bytes) -> bool:
        tries = 0
        while tries < 200:
            tries += 1
            try:
                answer = await client.post(self._url, files={"xml": ("e.xml", raw, "text/xml")})
            except httpx.TransportError:
                answer = None
            if answer is not None and answer.status_code == 200:
                return etree.fromstring(answer.content).findtext("DetalleAcusedeRecibo/Estado") == "0"
            if self._stopped and tries > 100:
                return False
            await trio.sleep(0.2)
        return False


async def harass(part: Part, seed: int, over: trio.Event) -> None:
    """Kill what receives, now and then; every other time its successor dies between the commit and the answer."""
    chance = random.Random(f"{seed}/reception")
    while not over.is_set():
        with trio.move_on_after(chance.uniform(1.0, 4.0)):
            await over.wait()
            return
        if chance.random() < 0.5:
            part.next["FE_FAILPOINT"] = f"acknowledged:{chance.randint(1, 4)}"
        part.kill()


def signature_holds(call: HookCall, secret: str) -> bool:
    """Whether the bytes that arrived are those that were signed, as a consumer verifies it."""
    return hmac.compare_digest(
        call.signature, "sha256=" + hmac.new(secret.encode(), call.body, hashlib.sha256).hexdigest()
    )


@dataclass(frozen=True)
class Told:
    """An event and its delivery, as the database has them."""

    tenant_id: TenantId
    event_id: UUID
    kind: str
    about: str
    body: bytes
    delivery_id: UUID | None
    state: str | None


@dataclass(frozen=True)
class ReceivedRow:
    """A received document."""

    tenant_id: TenantId
    received_id: UUID
    e_ncf: str
