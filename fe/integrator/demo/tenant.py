"""The demonstration's tenant, and the facts for the simulated authority."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import trio
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding

from fe.accounts import provision
from fe.accounts.provision import NewKey
from fe.config import named_keys
from fe.ecf.catalogue import PREFIXES, Environment
from fe.ecf.certificate import Credential
from fe.ecf.dates import local
from fe.ecf.selfmade import self_made, to_p12
from fe.integrator.demo.documents import BUYER, BUYER_RNC, GRANTED, ISSUER, ISSUER_RNC, expiry_of
from fe.secrets.vault import Vault
from fe.store.postgres.db import Conn, Database
from fe.store.records import counterparty, receivers
from fe.store.records.receivers import Receiver
from fe.store.records.tenants import Tenant

ENVIRONMENT = Environment.TESTECF
NAME = "Río Ozama (demostración)"
BUYER_NAME = "Brisas del Yaque (demostración)"

_HOLDER, _HOLDER_ID = "Altagracia Demostración", "00100000008"
_PASSPHRASE = "solo para la demostración"  # noqa: S105  (of a key that is made for this run and thrown away)


@dataclass(frozen=True, slots=True)
class DemoTenant:
    """The tenant and its data."""

    tenant: Tenant
    key: NewKey


async def make_credential(now: datetime) -> Credential:
    """Make a key and a certificate that it signed itself."""
    key = await trio.to_thread.run_sync(rsa.generate_private_key, 65537, 2048)
    start, end = now - timedelta(hours=1), now + timedelta(days=365)
    return self_made(key, holder=_HOLDER, holder_id=_HOLDER_ID, not_before=start, not_after=end)


def world_of(credential: Credential) -> dict[str, Any]:
    """Facts given to the simulated authority, which then enforces them.

    Ranges have no last day here, because a visitor's guide may set another one.
    """
    return {
        "taxpayers": [
            {"rnc": company["RNCEmisor"], "name": company["RazonSocialEmisor"]} for company in (ISSUER, BUYER)
        ],
        "delegations": [{"holder": _HOLDER_ID, "issuer": rnc} for rnc in (ISSUER_RNC, BUYER_RNC)],
        "roots": [{"pem": credential.certificate.public_bytes(Encoding.PEM).decode()}],
        "ranges": [
            {
                "issuer": ISSUER_RNC,
                "type": prefix,
                "from": 1,
                "to": GRANTED,
                "environment": ENVIRONMENT.value,
            }
            for prefix in PREFIXES
        ],
    }


async def make_tenant(
    db: Database, environment: Mapping[str, str], credential: Credential, now: datetime, name: str = NAME
) -> DemoTenant:
    """Set the tenant up in one transaction; `environment` is the stack's, with its secrets."""
    vault = Vault(named_keys(environment["FE_KEK"]))
    pepper = bytes.fromhex(environment["FE_API_KEY_PEPPER"])
    p12 = to_p12(credential, _PASSPHRASE)
    today = local(now).date()

    async def task(conn: Conn) -> DemoTenant:
        tenant = await provision.create_tenant(conn, name, ISSUER, today=today)
        await provision.add_certificate(
            conn, vault, tenant, None, p12=p12, passphrase=_PASSPHRASE, opened=credential, now=now
        )
        for prefix in PREFIXES:
            await provision.put_sequence(
                conn, tenant, ENVIRONMENT, prefix, maximum=GRANTED, expires=expiry_of(today), now=now
            )
        return DemoTenant(tenant, await provision.create_key(conn, tenant, ENVIRONMENT, pepper=pepper, name="demo"))

    return await db.transact(task)


async def make_buyer(
    db: Database, environment: Mapping[str, str], credential: Credential, seller: Tenant, now: datetime
) -> DemoTenant:
    """Set the buyer up: both companies receive, and the seller's receipts are sent on to listed receivers."""
    vault = Vault(named_keys(environment["FE_KEK"]))
    pepper = bytes.fromhex(environment["FE_API_KEY_PEPPER"])
    p12 = to_p12(credential, _PASSPHRASE)

    async def task(conn: Conn) -> DemoTenant:
        buyer = await provision.create_tenant(conn, BUYER_NAME, BUYER, today=local(now).date())
        await provision.add_certificate(
            conn, vault, buyer, None, p12=p12, passphrase=_PASSPHRASE, opened=credential, now=now
        )
        for tenant, rnc in ((seller, ISSUER_RNC), (buyer, BUYER_RNC)):
            await receivers.open_reception(conn, Receiver(tenant.tenant_id, ENVIRONMENT, rnc, False))
        await counterparty.send_to_receivers(conn, seller.tenant_id, on=True)
        return DemoTenant(buyer, await provision.create_key(conn, buyer, ENVIRONMENT, pepper=pepper, name="demo"))

    return await db.transact(task)
