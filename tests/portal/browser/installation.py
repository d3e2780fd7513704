"""A whole installation for a browser to look at, as a process of its own: the demonstration's stack, with its portal.

    python -m tests.portal.browser.installation

It says where everything is in one line of JSON, and ends when its standard input does. The browser's driver has a loop
of its own, which does not go together with Trio's: so this runs apart from the tests.
"""

import json
import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from typing import Any

import httpx
import trio
from cryptography.hazmat.primitives.serialization import Encoding

from fe.catalogue.csv_file import customers_in, products_in
from fe.catalogue.entries import EntrySource
from fe.clock import system_clock
from fe.ecf.catalogue import PREFIXES
from fe.ecf.certificate import Credential
from fe.ecf.selfmade import to_p12
from fe.ecf.signature import Signer
from fe.integrator.demo.client import Client
from fe.integrator.demo.documents import (
    BEYOND,
    BUYER_RNC,
    COUNTER_SALE,
    FURNITURE,
    GRANTED,
    ISSUER_RNC,
    SAMPLES,
    body_of,
)
from fe.integrator.demo.people import OPERATOR, OWNER, make_people
from fe.integrator.demo.tenant import ENVIRONMENT, make_credential, make_tenant, world_of
from fe.integrator.stack import Stack, open_stack
from fe.store.postgres.db import open_database
from fe.store.records.catalogue import CUSTOMERS, PRODUCTS
from tests.portal.operators import make_dead
from tests.portal.provider import CLIENT_ID, CLIENT_SECRET, running_provider
from tests.portal.receipts import make_received
from tests.ports import free_port
from tests.waiting import PATIENCE

PASSPHRASE = "de las pruebas"
#: Receipts of suppliers that wait for an answer.
RECEIVED = 20


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


async def _fill(stack: Stack, credential: Credential, provider: str) -> Installation:
    now = system_clock()
    async with open_database(stack.dsn, max_size=2, patience=PATIENCE) as db:
        tenant = await make_tenant(db, stack.environment, credential, now)
        company = tenant.tenant.tenant_id
        people = await make_people(db, stack.environment, (company,), now)
        await make_dead(db, company, now, 2)
        for number in range(RECEIVED):
            e_ncf, at = f"E31{number + 501:010}", now - timedelta(hours=number)
            await make_received(
                db, company, e_ncf=e_ncf, environment=ENVIRONMENT, at=at, issuer="101000001", buyer=ISSUER_RNC
            )
        written: Any = {"source": EntrySource.IMPORT, "at": now, "by": OWNER}
        customers, products = customers_in(_CUSTOMERS.encode()), products_in(_PRODUCTS.encode())
        await db.transact_for(company, CUSTOMERS.write_all, company, customers.entries, **written)
        await db.transact_for(company, PRODUCTS.write_all, company, products.entries, **written)
    async with httpx.AsyncClient(base_url=stack.base_url, trust_env=False, timeout=PATIENCE) as http:
        client = Client(http, system_clock)
        await client.login(tenant.key.record.api_key_id, tenant.key.secret)
        ids = {}
        for sample in (*SAMPLES[:1], *SAMPLES[2:6:2], COUNTER_SALE, FURNITURE, BEYOND):
            body = await trio.to_thread.run_sync(partial(body_of, sample, system_clock(), Signer(credential)))
            outcome = await client.issue(body, patience=PATIENCE)
            ids[sample] = outcome.accepted["taxLogId"]
        shared = await http.post(f"/invoices/{ids[FURNITURE]}/share")
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
        owner_password=people.owner_password,
        operator=OPERATOR,
        operator_password=people.operator_password,
        device_key=people.device_key,
        p12=b64encode(to_p12(credential, PASSPHRASE)).decode(),
        passphrase=PASSPHRASE,
        new_rnc=BUYER_RNC,
    )


async def serve() -> None:
    credential = await make_credential(system_clock())
    world = world_of(credential)
    granted = {"issuer": BUYER_RNC, "from": 1, "to": GRANTED, "environment": ENVIRONMENT.value}
    world["ranges"] += [{**granted, "type": prefix} for prefix in PREFIXES]
    with running_provider() as provider:
        settings = {
            "FE_AUTHORITY_SIMULATED": "1",
            "FE_PORTAL_OIDC_ISSUER": provider.issuer,
            "FE_PORTAL_OIDC_CLIENT_ID": CLIENT_ID,
            "FE_PORTAL_OIDC_CLIENT_SECRET": CLIENT_SECRET,
            "FE_PORTAL_OIDC_NAME": "Acme",
            "FE_SHARE_BIND": f"127.0.0.1:{free_port()}",
        }
        roots = credential.certificate.public_bytes(Encoding.PEM)
        async with open_stack(world=world, reception_roots=roots, settings=settings, portal=True) as stack:
            made = await _fill(stack, credential, provider.issuer)
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
