"""The simulator sends to a reception: every sample gets the answer that is right for it."""

from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
import trio
from cryptography import x509

from fe.certification.reception_samples import SupplierSample
from fe.ecf.catalogue import Environment
from fe.ecf.selfmade import to_p12
from fe.receiving.assess import Trust
from fe.simulator import SimulatorSettings, simulate
from fe.store.postgres.db import Database
from fe.store.records import receivers
from fe.store.records.receivers import Receiver
from tests.factories.companies import PASSPHRASE, credential_of_today, make_certificate
from tests.factories.tenants import make_tenant
from tests.receiving.supplier import ISSUER, OURS, start_reception
from tests.waiting import PATIENCE


@pytest.fixture
async def management(nursery: trio.Nursery) -> str:
    settings = SimulatorSettings(port=0, management_port=0)
    addresses = await nursery.start(lambda task_status: simulate(settings, task_status=task_status))
    url: str = addresses.management
    return url


async def ask(management: str, order: dict[str, Any] | None = None) -> httpx.Response:
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
        url = f"{management}/supplier"
        return await client.get(url) if order is None else await client.post(url, json=order)


def said(body: str) -> str:
    state = body.partition("<Estado>")[2].partition("<")[0]
    reason = body.partition("<CodigoMotivoNoRecibido>")[2].partition("<")[0]
    return f"{state}/{reason}" if reason else state


@pytest.mark.parametrize("demands_token", [False, True])
async def test_simulated_sample_gets_its_expected_answer(
    management: str, nursery: trio.Nursery, db: Database, reception_db: Database, demands_token: bool
) -> None:
    supplier = (await ask(management)).json()
    tenant = await make_tenant(db, issuer=ISSUER)
    credential = credential_of_today()
    await make_certificate(
        db,
        tenant,
        p12=to_p12(credential, PASSPHRASE),
        not_before=credential.not_before,
        not_after=credential.not_after,
    )
    await db.run(receivers.open_reception, Receiver(tenant, Environment.TESTECF, OURS, demands_token))
    trust = Trust([x509.load_pem_x509_certificate(supplier["pem"].encode())])
    reception = await start_reception(nursery, db, reception_db, tenant=tenant, trust=trust)
    reception.clock.at = datetime.now(UTC)
    to = {"url": f"http://127.0.0.1:{reception.port}/testecf/{OURS}", "rnc": OURS}

    for sample in SupplierSample:
        sent = (await ask(management, {**to, "sample": sample})).json()
        assert [said(answer["body"]) for answer in sent["answers"]] == [supplier["samples"][sample]], sample

    twice = (await ask(management, {**to, "times": 2})).json()
    assert len({answer["body"] for answer in twice["answers"]}) == 1
    reception.clock.at = datetime.now(UTC)
    await trio.sleep(1.1)  # a document that is signed in another second is another document
    again = (await ask(management, {**to, "eNCF": twice["eNCF"]})).json()
    assert said(again["answers"][0]["body"]) == "1/3"


@pytest.mark.parametrize(
    ("order", "says"),
    [
        ({}, "url"),
        ({"url": "ftp://x", "rnc": OURS}, "url"),
        ({"url": "http://x", "rnc": "1"}, "rnc"),
        ({"url": "http://x", "rnc": OURS, "sample": "none"}, "sample"),
        ({"url": "http://x", "rnc": OURS, "times": 11}, "times"),
        ({"url": "http://x", "rnc": OURS, "eNCF": "E31"}, "eNCF"),
    ],
)
async def test_an_order_that_cannot_be_is_refused(management: str, order: dict[str, Any], says: str) -> None:
    answer = await ask(management, order)

    assert (answer.status_code, says in answer.json()["message"]) == (400, True)


async def test_absent_receiver_is_reported(management: str) -> None:
    sent = (await ask(management, {"url": "http://127.0.0.1:1", "rnc": OURS})).json()

    assert [answer["status"] for answer in sent["answers"]] == [0]
