"""A whole installation for a browser to look at, as a process of its own: the demonstration's stack, with its portal.

    python -m tests.portal.browser.installation

It says where everything is in one line of JSON, and ends when its standard input does. The browser's driver has a loop
of its own, which does not go together with Trio's: so this runs apart from the tests.
"""

import json
import re
import secrets
import subprocess
import sys
import tempfile
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import trio
from cryptography.hazmat.primitives.serialization import Encoding

from fe.accounts import people
from fe.accounts.provision import add_certificate, create_key, create_tenant, put_sequence
from fe.archive.keys import MemoryKey
from fe.archiving.certificates import Chains
from fe.archiving.packing import Archive, ArchiveDay
from fe.catalogue.csv_file import customers_in, products_in
from fe.catalogue.entries import EntrySource
from fe.clock import system_clock
from fe.config import named_keys
from fe.ecf.catalogue import PREFIXES, Environment
from fe.ecf.certificate import Credential
from fe.ecf.dates import local, show_day
from fe.ecf.selfmade import to_p12
from fe.ecf.signature import Signer
from fe.identifiers import TenantId
from fe.integrator.demo.client import Client
from fe.integrator.demo.documents import (
    BEYOND,
    BUYER_RNC,
    COUNTER_SALE,
    FURNITURE,
    GRANTED,
    ISSUER,
    ISSUER_RNC,
    SAMPLES,
    body_of,
)
from fe.integrator.demo.people import OPERATOR, OWNER, make_people
from fe.integrator.demo.tenant import ENVIRONMENT, make_credential, make_tenant, world_of
from fe.integrator.stack import Stack, open_stack
from fe.month.period import YearMonth
from fe.objects.storage import FolderStore
from fe.secrets.vault import Vault
from fe.store.portal import members
from fe.store.portal import people as memberships
from fe.store.portal.people import PortalRole
from fe.store.postgres.db import Database, open_database
from fe.store.records.archive import PackageChain
from fe.store.records.catalogue import CUSTOMERS, PRODUCTS
from tests.mail.relay import running_relay
from tests.portal.operators import make_dead
from tests.portal.provider import CLIENT_ID, CLIENT_SECRET, running_provider
from tests.portal.receipts import make_received
from tests.ports import free_port
from tests.waiting import PATIENCE

PASSPHRASE = "de las pruebas"
#: Receipts of suppliers that wait for an answer.
RECEIVED = 20
APPLICANT = "eva@nueva.example"
_FRESH = {"own": "131881017", "provider": "131881025"}
ACCOUNTANT = "clara@cuentas.example"
#: Companies of the accountant: RNC, and how many receipts of last month a supplier sent each.
BOOKS = {
    "Almacenes Cibao": ("131881033", 4),
    "Botica Duarte": ("131881041", 2),
    "Colmado Higuamo": ("131881051", 4),
    "Depósito Enriquillo": ("131881068", 2),
}


@dataclass(frozen=True)
class Installation:
    """Where it is, who may log in, and what there is to be seen."""

    url: str
    provider: str
    company: int
    environment: str
    #: Receipts that were accepted and rejected.
    accepted: str
    rejected: str
    #: Page of the accepted one for its buyer.
    shared: str
    owner: str
    owner_password: str
    operator: str
    operator_password: str
    #: Of the operator's one-time passwords.
    device_key: str
    #: A newcomer's certificate in Base64, which may sign for `new_rnc`.
    p12: str
    passphrase: str
    new_rnc: str
    #: Of the certificate of all companies.
    holder_id: str
    #: Management port of the simulated authority.
    management: str
    #: By path of the certification: RNC and id of a company that has a certificate and this person, and nothing else.
    fresh: dict[str, tuple[str, int]]
    applicant: str
    applicant_password: str
    #: Works for all of `BOOKS`, whose ids `books` has by name.
    accountant: str
    accountant_password: str
    books: dict[str, int]
    #: Folder of the mail relay.
    relay: str


_CUSTOMERS = """nombre;rnc;correo
Ferretería El Sol, SRL;131880657;compras@elsol.example
Hotel Bahía Azul, SAS;101000001;cuentas@bahia.example
Núñez, Altagracia;;
"""
_PRODUCTS = """nombre;codigo;precio;precio con ITBIS;itbis;clase
Martillo de uña 16 oz;MAR-16;495.00;si;18;bien
Pintura blanca, galón;PIN-01;1,350.00;si;18;bien
Instalación de cerradura;INS-03;1500;no;18;servicio
"""


async def _archive(stack: Stack, company: TenantId, key: MemoryKey, folder: Path) -> None:
    """Archive what was issued, as if two days had passed."""
    later = system_clock() + timedelta(days=2)
    async with open_database(stack.dsn, max_size=2, patience=PATIENCE) as db:
        work = Archive(db, FolderStore(folder), key, lambda: later, Chains(()), most=12)
        while await work.advance(PackageChain(company, ENVIRONMENT), ArchiveDay.at(later)):
            pass


async def _fill(
    stack: Stack, credential: Credential, provider: str, key: MemoryKey, folder: Path, relay: Path
) -> Installation:
    now = system_clock()
    async with open_database(stack.dsn, max_size=2, patience=PATIENCE) as db:
        tenant = await make_tenant(db, stack.environment, credential, now)
        company = tenant.tenant.tenant_id
        visitors = await make_people(db, stack.environment, (company,), now)
        await make_dead(db, company, now, 2)
        for prefix in PREFIXES:
            ends = now.date().replace(year=now.year + 1)
            await db.transact(
                put_sequence, tenant.tenant, Environment.CERTECF, prefix, maximum=GRANTED, expires=ends, now=now
            )
        for number in range(RECEIVED):
            e_ncf, at = f"E31{number + 501:010}", now - timedelta(hours=number)
            await make_received(
                db, company, e_ncf=e_ncf, environment=ENVIRONMENT, at=at, issuer="101000001", buyer=ISSUER_RNC
            )
        written: Any = {"source": EntrySource.IMPORT, "at": now, "by": OWNER}
        customers, products = customers_in(_CUSTOMERS.encode()), products_in(_PRODUCTS.encode())
        await db.transact_for(company, CUSTOMERS.write_all, company, customers.entries, **written)
        await db.transact_for(company, PRODUCTS.write_all, company, products.entries, **written)
        password = secrets.token_urlsafe(9)
        password_hash = await people.hash_password(password)
        fresh = await _make_fresh(db, stack, credential, password_hash)
    async with httpx.AsyncClient(base_url=stack.base_url, trust_env=False, timeout=PATIENCE) as http:
        client = Client(http, system_clock)
        await client.login(tenant.key.record.api_key_id, tenant.key.secret)
        ids = {}
        for sample in (*SAMPLES[:1], *SAMPLES[2:6:2], COUNTER_SALE, FURNITURE, BEYOND):
            body = await trio.to_thread.run_sync(partial(body_of, sample, system_clock(), Signer(credential)))
            outcome = await client.issue(body, patience=PATIENCE)
            ids[sample] = outcome.accepted["taxLogId"]
        await _archive(stack, company, key, folder)
        shared = await http.post(f"/invoices/{ids[FURNITURE]}/share")
        await http.post("/invoices", json={"format": "structured", "payload": {}, "strict": True, "apiSecret": "x"})
        purchase = await client.xml(ids[FURNITURE])
    books = await _make_books(stack, credential, password_hash, purchase)
    assert stack.portal_url is not None
    return Installation(
        url=stack.portal_url,
        provider=provider,
        company=company,
        environment=ENVIRONMENT.value,
        accepted=ids[FURNITURE],
        rejected=ids[BEYOND],
        shared=shared.raise_for_status().json()["url"],
        owner=OWNER,
        owner_password=visitors.owner_password,
        operator=OPERATOR,
        operator_password=visitors.operator_password,
        device_key=visitors.device_key,
        p12=b64encode(to_p12(credential, PASSPHRASE)).decode(),
        passphrase=PASSPHRASE,
        new_rnc=BUYER_RNC,
        holder_id=str(credential.holder_id),
        management=stack.authority["management"],
        fresh=fresh,
        applicant=APPLICANT,
        applicant_password=password,
        accountant=ACCOUNTANT,
        accountant_password=password,
        books=books,
        relay=str(relay),
    )


async def _make_fresh(
    db: Database, stack: Stack, credential: Credential, password_hash: str
) -> dict[str, tuple[str, int]]:
    """Make companies that have a certificate and one owner, and nothing else."""
    now, vault = system_clock(), Vault(named_keys(stack.environment["FE_KEK"]))
    p12 = to_p12(credential, PASSPHRASE)
    kept: Any = {"p12": p12, "passphrase": PASSPHRASE, "opened": credential, "now": now}
    owner = await db.transact(people.create_person, APPLICANT, "Eva Nueva", password_hash=password_hash, now=now)
    made = {}
    for path, rnc in _FRESH.items():
        issuer = {**ISSUER, "RNCEmisor": rnc}
        tenant = await db.transact(create_tenant, f"Nueva {path}", issuer, today=now.date())
        await db.transact(add_certificate, vault, tenant, None, **kept)
        await db.transact(memberships.join, tenant.tenant_id, owner.person_id, PortalRole.OWNER, now)
        made[path] = (rnc, int(tenant.tenant_id))
    return made


async def _make_books(stack: Stack, credential: Credential, password_hash: str, purchase: str) -> dict[str, int]:
    """Make the companies of an accountant, in production: each sold once last month, and a supplier sent receipts."""
    now, vault = system_clock(), Vault(named_keys(stack.environment["FE_KEK"]))
    month = YearMonth.of(local(now).date()).before
    pepper = bytes.fromhex(stack.environment["FE_API_KEY_PEPPER"])
    kept: Any = {"p12": to_p12(credential, PASSPHRASE), "passphrase": PASSPHRASE, "opened": credential, "now": now}
    ends = now.date().replace(year=now.year + 1)
    total = re.search(r"<MontoTotal>([0-9.]+)</MontoTotal>", purchase)
    assert total is not None
    made = {}
    async with open_database(stack.dsn, max_size=2, patience=PATIENCE) as db:
        person = await db.transact(
            people.create_person, ACCOUNTANT, "Clara Cuentas", password_hash=password_hash, now=now
        )
        for name, (rnc, many) in BOOKS.items():
            tenant = await db.transact(create_tenant, name, {**ISSUER, "RNCEmisor": rnc}, today=now.date())
            company = tenant.tenant_id
            await db.transact(add_certificate, vault, tenant, None, **kept)
            await db.transact(put_sequence, tenant, Environment.ECF, "E31", maximum=GRANTED, expires=ends, now=now)
            await db.transact(memberships.join, company, person.person_id, PortalRole.ACCOUNTANT, now)
            await db.transact(members.set_role, company, person.person_id, PortalRole.ACCOUNTANT, answers=True)
            key = await db.transact(create_key, tenant, Environment.ECF, pepper=pepper, name="caja")
            async with httpx.AsyncClient(base_url=stack.base_url, trust_env=False, timeout=PATIENCE) as http:
                client = Client(http, system_clock)
                await client.login(key.record.api_key_id, key.secret)
                body = await trio.to_thread.run_sync(partial(body_of, FURNITURE, now, Signer(credential)))
                body["payload"]["Encabezado"]["Emisor"] = {"FechaEmision": show_day(month.last)}
                sold = await client.issue(body, patience=PATIENCE)
                assert sold.record["status"].startswith("Aceptado"), sold.words
            for number in range(many):
                await make_received(
                    db,
                    company,
                    e_ncf=f"E31{number + 701:010}",
                    at=now - timedelta(hours=number),
                    issuer=ISSUER_RNC,
                    name=str(ISSUER["RazonSocialEmisor"]),
                    buyer=rnc,
                    document=purchase.encode(),
                    issued_on=month.last,
                    total=Decimal(total[1]),
                )
            made[name] = int(company)
    return made


async def serve() -> None:
    credential = await make_credential(system_clock())
    world = world_of(credential)
    world["ranges"] += [
        {"issuer": ISSUER_RNC, "type": prefix, "from": 1, "to": GRANTED, "environment": environment.value}
        for prefix in PREFIXES
        for environment in (Environment.CERTECF, Environment.ECF)
    ]
    granted = {"issuer": BUYER_RNC, "from": 1, "to": GRANTED, "environment": ENVIRONMENT.value}
    world["ranges"] += [{**granted, "type": prefix} for prefix in PREFIXES]
    books = [rnc for rnc, _ in BOOKS.values()]
    sold = {"type": "E31", "from": 1, "to": GRANTED, "environment": Environment.ECF.value}
    world["ranges"] += [{**sold, "issuer": rnc} for rnc in books]
    companies = [*_FRESH.values(), *books]
    world["taxpayers"] += [{"rnc": rnc, "name": "Nueva"} for rnc in companies]
    world["delegations"] += [{"holder": credential.holder_id, "issuer": rnc} for rnc in companies]
    key = MemoryKey.generate()
    with (
        running_provider() as provider,
        tempfile.TemporaryDirectory(prefix="fe-archive-") as folder,
        tempfile.TemporaryDirectory(prefix="fe-relay-") as mails,
        running_relay(Path(mails)) as relay,
    ):
        settings = {
            "FE_ARCHIVE": folder,
            "FE_ARCHIVE_KEY": b64encode(key.to_der()).decode(),
            "FE_AUTHORITY_SIMULATED": "1",
            "FE_MAIL_FROM": "Facturas <facturas@example.do>",
            "FE_MAIL_RELAY": f"smtp://localhost:{relay.port}",
            "FE_MAIL_ROOTS": str(relay.roots),
            "FE_PORTAL_OIDC_ISSUER": provider.issuer,
            "FE_PORTAL_OIDC_CLIENT_ID": CLIENT_ID,
            "FE_PORTAL_OIDC_CLIENT_SECRET": CLIENT_SECRET,
            "FE_PORTAL_OIDC_NAME": "Acme",
            "FE_SHARE_BIND": f"127.0.0.1:{free_port()}",
        }
        roots = credential.certificate.public_bytes(Encoding.PEM)
        at_once = ["--certification-lag", "0"]
        async with open_stack(
            world=world, simulator=at_once, reception_roots=roots, settings=settings, portal=True
        ) as stack:
            made = await _fill(stack, credential, provider.issuer, key, Path(folder), relay.folder)
            sys.stdout.write(f"{json.dumps(asdict(made))}\n")
            sys.stdout.flush()
            await trio.to_thread.run_sync(sys.stdin.read, abandon_on_cancel=True)


@contextmanager
def running_installation() -> Iterator[Installation]:
    """Run it in a process of its own."""
    command = [sys.executable, "-m", "tests.portal.browser.installation"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            assert said, "the installation did not start"
            yield Installation(**json.loads(said))
        finally:
            process.stdin.close()


if __name__ == "__main__":
    trio.run(serve)
