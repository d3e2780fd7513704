"""The whole service in one process for a test: simulator, front and actors over real sockets and a real Postgres."""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import trio

from fe.accounts.provision import add_certificate, create_key, create_tenant, put_sequence
from fe.config import Settings, load_settings
from fe.ecf.catalogue import PREFIXES, Environment
from fe.ecf.certificate import Credential
from fe.ecf.selfmade import to_p12
from fe.http.app import PREFIX
from fe.main import serve
from fe.process.workers import Listeners
from fe.secrets.vault import Vault
from fe.simulator import Addresses, SimulatorSettings, simulate
from fe.store.postgres.db import Database, open_database
from fe.store.records import receivers
from fe.store.records.receivers import Receiver
from fe.store.records.tenants import Tenant
from tests.factories.companies import credential_of_today
from tests.ports import free_port
from tests.waiting import PATIENCE, PAUSING

ISSUER = {
    "RNCEmisor": "131880738",
    "RazonSocialEmisor": "Ferretería La Esquina SRL",
    "DireccionEmisor": "Calle El Conde 12",
}
_PASSPHRASE = "correct horse"


@dataclass
class Stack:
    """A running service and what a test needs of it."""

    base_url: str
    simulator: Addresses
    db: Database
    tenant: Tenant
    credential: Credential
    client: httpx.AsyncClient
    settings: Settings
    vault: Vault
    #: Where suppliers are received, if FE_RECEPTION_BIND says so.
    reception: str | None = None
    #: The API key's id and its secret.
    key: tuple[str, str] = ("", "")

    async def submit(self, payload: dict[str, Any] | None = None, *, xml: str | None = None, **more: Any) -> Any:
        """POST a receipt; return the body of the 202."""
        form = {"format": "xml", "xml": xml} if xml is not None else {"format": "structured", "payload": payload}
        answer = await self.client.post("/invoices", json={**form, **more})
        assert answer.status_code == 202, answer.text
        return answer.json()

    async def until_final(self, tax_log_id: str, *, seconds: float = PATIENCE) -> Any:
        """Poll until the submission has come to its end."""
        with trio.fail_after(seconds):
            while True:
                record = (await self.client.get(f"/invoices/{tax_log_id}")).json()
                if record["status"] not in ("queued", "En Proceso"):
                    return record
                await trio.sleep(0.05)


async def provision(
    db: Database,
    vault: Vault,
    pepper: bytes,
    *,
    environment: Environment,
    issuer: Mapping[str, str] = ISSUER,
    credential: Credential | None = None,
) -> tuple[Tenant, Any, Any]:
    """Make a tenant with a certificate, every sequence and a key."""
    now = datetime.now(UTC)
    tenant = await db.transact(create_tenant, f"t-{secrets.token_hex(4)}", issuer, today=now.date())
    credential = credential or credential_of_today()
    await db.transact(
        add_certificate,
        vault,
        tenant,
        None,
        p12=to_p12(credential, _PASSPHRASE),
        passphrase=_PASSPHRASE,
        opened=credential,
        now=now,
    )
    for prefix in PREFIXES:
        await db.transact(put_sequence, tenant, environment, prefix, expires=datetime(2028, 12, 31).date(), now=now)
    key = await db.transact(create_key, tenant, environment, pepper=pepper)
    return tenant, credential, key


async def _playing(addresses: Addresses, data_dir: Path) -> dict[str, Any]:
    """Return the settings with which the simulator plays other taxpayers; the reception trusts its certificate."""
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
        supplier = (await client.get(f"{addresses.management}/supplier")).json()
    roots = data_dir / "roots.pem"
    roots.write_text(supplier["pem"])
    return {
        "authority_simulated": True,
        "simulator_url": addresses.management,
        "reception_bind": f"127.0.0.1:{free_port()}",
        "reception_roots": roots,
    }


async def open_reception(db: Database, tenant: Tenant, environment: Environment) -> None:
    """Begin to receive what suppliers send to a tenant."""
    receiver = Receiver(tenant.tenant_id, environment, tenant.issuer["RNCEmisor"], False)
    assert await db.run(receivers.open_reception, receiver)


@asynccontextmanager
async def running_stack(
    dsn: str,
    data_dir: Path,
    *,
    simulator: SimulatorSettings | None = None,
    environment: Environment = Environment.TESTECF,
    credential: Credential | None = None,
    role: str = "all",
    sandbox: bool = False,
    **overrides: Any,
) -> AsyncIterator[Stack]:
    """Run everything for as long as the block lasts; with the role `http` all but the actors.

    With `sandbox`, the simulator plays other taxpayers, and the tenant receives.
    """
    async with trio.open_nursery() as nursery:
        addresses: Addresses = await nursery.start(simulate, simulator or SimulatorSettings())
        if sandbox:
            overrides = {**await _playing(addresses, data_dir), **overrides}
        settings = load_settings(
            database_url=dsn,
            data_dir=data_dir,
            development=True,
            http_bind="127.0.0.1:0",
            authority_ecf_url=addresses.ecf,
            authority_fc_url=addresses.fc,
            authority_status_url=addresses.status,
            **{"poll_seconds": 0.5, "metrics_bind": "127.0.0.1:0", **overrides},
        )
        vault = Vault(settings.keks())
        listeners = Listeners.open(settings, role)
        port = listeners.http[0].getsockname()[1]
        reception = f"http://127.0.0.1:{listeners.reception[0].getsockname()[1]}" if listeners.reception else None
        assert settings.api_key_pepper is not None
        pepper = bytes.fromhex(settings.api_key_pepper.get_secret_value())
        nursery.start_soon(serve, settings, dsn, role, None if role == "http" else vault, listeners)
        async with open_database(dsn) as db:
            tenant, credential, key = await provision(db, vault, pepper, environment=environment, credential=credential)
            if sandbox:
                await open_reception(db, tenant, environment)
            base_url = f"http://127.0.0.1:{port}{PREFIX}"
            async with httpx.AsyncClient(
                base_url=base_url, timeout=PATIENCE, trust_env=False, limits=PAUSING
            ) as client:
                login = await client.post("/login", json={"apiKeyId": key.record.api_key_id, "apiSecret": key.secret})
                assert login.status_code == 200, login.text
                client.headers["Authorization"] = f"Bearer {login.json()['accessToken']}"
                named = (str(key.record.api_key_id), key.secret)
                yield Stack(base_url, addresses, db, tenant, credential, client, settings, vault, reception, named)
        nursery.cancel_scope.cancel()
