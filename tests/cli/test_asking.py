"""`fe outbox replay --dry-run --ask`: the authority's word on each row, over real sockets, and nothing is changed."""

from datetime import UTC, datetime
from uuid import UUID

import httpx
import pytest
import trio

from fe.authority.client import Authority, Outgoing
from fe.authority.hosts import Hosts
from fe.ecf.catalogue import Environment, Service
from fe.ecf.signature import verify
from fe.identifiers import CertificateId, SubmissionId
from fe.lifecycle import Stage
from fe.store.postgres.db import Database
from tests.authority.scripted import PATIENT, Owner
from tests.cli.running import Ended, Fe
from tests.factories import bookings
from tests.factories.tenants import make_submission, row, rows, take
from tests.simulator.conftest import http, start
from tests.simulator.support import ISSUER, Running, Start, ecf, number, sign, signer

__all__ = ["http", "start"]

NOW = datetime.now(UTC)
TEST = Environment.TESTECF
ASK = ("outbox", "replay", "--dry-run", "--ask")


@pytest.fixture
async def simulator(start: Start) -> Running:
    return await start(summary_port=0)


@pytest.fixture
def certificate(fe: Fe, tenant: str) -> CertificateId:
    """The tenant's certificate, encrypted with the key the command has."""
    assert fe("certificate", "self-made", "c.p12", passphrase="worth nothing").code == 0
    added = fe("certificate", "add", "c.p12", "--tenant", tenant, "--json", passphrase="worth nothing").json
    return CertificateId(UUID(added["certificateId"]))


async def make_dead(
    db: Database, certificate: CertificateId, sequence: int, *, stage: Stage = Stage.RECONCILE
) -> SubmissionId:
    """A document in doubt."""
    tenant = (await row(db, "SELECT tenant_id FROM tenants"))["tenant_id"]
    signed = sign(ecf(sequence))
    subject = await make_submission(
        db,
        tenant,
        stage=stage,
        at=NOW,
        environment=TEST,
        e_ncf=number(31, sequence),
        signed=signed,
        security_code=verify(signed).security_code,
        certificate_id=certificate,
    )
    await db.run(bookings.dead_letter, await take(db, subject), at=NOW, error="no answer")
    return subject


async def deliver(db: Database, simulator: Running, subject: SubmissionId) -> None:
    """Let the authority have it after all."""
    kept = await row(
        db,
        """SELECT s.e_ncf, d.content
             FROM submissions AS s JOIN submission_documents AS d USING (tenant_id, submission_id)
            WHERE s.submission_id = %(id)s AND d.kind = 'signed'""",
        id=subject,
    )
    client = Authority(Hosts(simulator.at.ecf, simulator.at.fc), clock=lambda: datetime.now(UTC), timeouts=PATIENT)
    outgoing = Outgoing(TEST, Service.RECEPTION, f"{ISSUER}{kept['e_ncf']}.xml", bytes(kept["content"]))
    await client.submit(outgoing, Owner("me", signer()))
    client.close()


async def ask(fe: Fe, simulator: Running, *more: str, **settings: str) -> Ended:
    at = {"authority_ecf_url": simulator.at.ecf, "authority_fc_url": simulator.at.fc} | settings
    return await trio.to_thread.run_sync(lambda: fe(*ASK, *more, **at))


async def test_the_authority_is_asked_about_each_row_and_nothing_is_changed(
    db: Database, fe: Fe, simulator: Running, certificate: CertificateId, http: httpx.AsyncClient
) -> None:
    arrived, lost = await make_dead(db, certificate, 1), await make_dead(db, certificate, 2)
    unsigned = await make_dead(db, certificate, 3, stage=Stage.SIGN)
    await deliver(db, simulator, arrived)
    received_before = (await simulator.manage("GET", "/journal?operation=reception"))["records"]

    told = (await ask(fe, simulator, "--json")).json
    shown = await ask(fe, simulator, "--id", str(arrived))

    assert {one["taxLogId"]: one["authority"] for one in told} == {
        str(arrived): {"known": True, "says": "knows it: Aceptado"},
        str(lost): {"known": False, "says": "does not know it"},
        str(unsigned): {"known": None, "says": "not asked: it was never signed"},
    }
    assert shown.out.splitlines()[-1].split() == ["authority", "knows", "it:", "Aceptado"]
    assert len(await rows(db, "SELECT 1 FROM dead_letters")) == 3
    assert await rows(db, "SELECT 1 FROM operator_actions") == []
    assert (await simulator.manage("GET", "/journal?operation=reception"))["records"] == received_before


async def test_a_document_still_in_process_is_said_to_be_known(
    db: Database, fe: Fe, simulator: Running, certificate: CertificateId
) -> None:
    subject = await make_dead(db, certificate, 1)
    await simulator.order("stuck", operation="reception")
    await deliver(db, simulator, subject)

    (told,) = (await ask(fe, simulator, "--json")).json

    assert told["authority"] == {"known": True, "says": "knows it, and has not judged it yet"}


async def test_where_no_service_tells_it_is_not_asked(
    db: Database, fe: Fe, simulator: Running, certificate: CertificateId
) -> None:
    subject = await make_dead(db, certificate, 1)
    for table in ("submissions", "dead_letters"):
        await rows(db, f"UPDATE {table} SET environment = 'certecf'")

    (told,) = (await ask(fe, simulator, "--json", "--id", str(subject))).json

    assert told["authority"] == {"known": None, "says": "not asked: no service tells about such documents in certecf"}
    assert told["would"].startswith("send the same bytes")


async def test_an_authority_that_does_not_answer_is_said_and_the_rest_is_shown(
    db: Database, fe: Fe, simulator: Running, certificate: CertificateId
) -> None:
    await make_dead(db, certificate, 1)

    (told,) = (await ask(fe, simulator, "--json", authority_ecf_url="http://127.0.0.1:1")).json

    assert told["authority"]["known"] is None
    assert told["authority"]["says"].startswith("no answer: ")
    assert told["would"].startswith("ask the authority")


async def test_a_certificate_that_cannot_be_opened_is_said_per_row(
    db: Database, fe: Fe, simulator: Running, certificate: CertificateId
) -> None:
    subject = await make_dead(db, certificate, 1)
    await rows(db, "UPDATE certificates SET passphrase = NULL")

    (told,) = (await ask(fe, simulator, "--json", "--id", str(subject))).json

    assert told["authority"] == {
        "known": None,
        "says": "not asked: tenant is missing the certificate passphrase setting",
    }


async def test_asking_needs_the_key_that_decrypts_certificates(
    db: Database, fe: Fe, certificate: CertificateId
) -> None:
    await make_dead(db, certificate, 1)

    assert "FE_KEK" in fe.refused(*ASK, code=3, kek="")
    assert fe("outbox", "replay", "--dry-run", kek="").code == 0
