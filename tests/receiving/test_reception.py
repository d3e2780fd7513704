"""An e-CF arrives and is acknowledged: each refusal in the protocol's order, and nothing said that is not stored."""

import hashlib
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import trio
from cryptography.hazmat.primitives.serialization import Encoding

from fe.ecf.catalogue import EcfType
from fe.ecf.signature import verify
from fe.receiving.assess import Trust
from fe.store.postgres.db import Database, open_database
from fe.store.postgres.roles import RECEPTION
from tests.factories.certificates import default_root, make_credential, make_root
from tests.factories.companies import company_credential
from tests.factories.tenants import rows
from tests.receiving.supplier import (
    BASE,
    OURS,
    THEIRS,
    Running,
    document,
    read,
    sign,
    start_reception,
    unsigned,
)
from tests.waiting import until

OTHER = "131880657"


async def kept(db: Database) -> list[tuple[str, int, bool]]:
    """Number, reason and whether the document is kept, of every acknowledgement."""
    found = await rows(
        db, "SELECT e_ncf, reason, document IS NOT NULL AS is_kept FROM acknowledgements ORDER BY said_at"
    )
    return [(each["e_ncf"], each["reason"], each["is_kept"]) for each in found]


async def test_a_document_is_acknowledged_and_kept_to_the_byte(reception: Running, db: Database) -> None:
    raw = document()

    answer = await reception.send(raw)

    said = read(answer)
    assert (said.state, said.reason) == ("0", None)
    assert said.fields == {
        "Version": "1.0",
        "RNCEmisor": THEIRS,
        "RNCComprador": OURS,
        "eNCF": "E310000000007",
        "Estado": "0",
        "FechaHoraAcuseRecibo": "06-11-2026 10:15:30",
    }
    assert verify(answer.content).certificate == company_credential().certificate
    (row,) = await rows(db, "SELECT * FROM acknowledgements")
    assert (bytes(row["document"]), bytes(row["acknowledgement"])) == (raw, answer.content)
    assert bytes(row["digest"]) == hashlib.sha256(raw).digest()
    (received,) = await rows(db, "SELECT * FROM received")
    assert (received["tenant_id"], received["environment"], received["ecf_type"]) == (reception.tenant, "testecf", "31")
    assert (received["issuer_rnc"], received["buyer_rnc"], str(received["total"])) == (THEIRS, OURS, "118.00")


async def test_the_same_bytes_again_get_the_very_first_acknowledgement(reception: Running, db: Database) -> None:
    raw = document()
    first = await reception.send(raw)
    reception.clock.forward(timedelta(days=400))

    again = await reception.send(raw)

    assert again.content == first.content
    assert await kept(db) == [("E310000000007", 0, True)]


async def test_another_document_of_the_same_issuer_and_number_is_a_duplicate(reception: Running, db: Database) -> None:
    await reception.send(document())
    other = document(Encabezado__Emisor__NombreComercial="OTRO")

    first, again = await reception.send(other), await reception.send(other)

    assert (read(first).state, read(first).reason) == ("1", "3")
    assert again.content == first.content
    assert await kept(db) == [("E310000000007", 0, True), ("E310000000007", 3, True)]
    assert len(await rows(db, "SELECT 1 FROM received")) == 1


async def test_another_issuer_may_have_the_same_number(reception: Running) -> None:
    await reception.send(document())

    answer = await reception.send(document(Encabezado__Emisor__RNCEmisor=OTHER))

    assert read(answer).state == "0"


@pytest.mark.parametrize("ecf_type", [EcfType.DEBIT_NOTE, EcfType.CREDIT_NOTE, EcfType.SPECIAL_REGIME])
async def test_every_type_that_is_sent_to_receivers_is_received(reception: Running, ecf_type: EcfType) -> None:
    assert read(await reception.send(document(ecf_type))).state == "0"


@pytest.mark.parametrize(
    "ecf_type",
    [
        EcfType.CONSUMER,
        EcfType.PURCHASES,
        EcfType.MINOR_EXPENSES,
        EcfType.GOVERNMENTAL,
        EcfType.EXPORTS,
        EcfType.PAYMENTS_ABROAD,
    ],
)
async def test_no_other_type_is(reception: Running, ecf_type: EcfType) -> None:
    said = read(await reception.send(document(ecf_type)))

    assert (said.state, said.reason) == ("1", "1")


@pytest.mark.parametrize(
    "written",
    [
        pytest.param(lambda raw: raw.replace(b"<ECF>", b"<!-- Hecho por Facturador 3.1 --><ECF>", 1), id="before it"),
        pytest.param(lambda raw: raw + b"\n<!-- fin -->", id="behind it"),
        pytest.param(lambda raw: raw.replace(b"<Emisor>", b"<Emisor><!-- x -->", 1), id="in it"),
        pytest.param(
            lambda raw: b"\xef\xbb\xbf" + raw.replace(b"<ECF>", b"<?xml-stylesheet x?><ECF>", 1), id="a style"
        ),
        pytest.param(
            lambda raw: raw.replace(b"<ECF>", b"<!-- <RNCEmisor>101000001</RNCEmisor> --><ECF>", 1), id="another issuer"
        ),
    ],
)
async def test_a_document_with_a_comment_is_answered_too_and_refused_with_reason_1(
    reception: Running, db: Database, written: Callable[[bytes], bytes]
) -> None:
    """400 is for what is no XML to answer to (authority.md#receivers)."""
    raw = written(document())

    said = read(await reception.send(raw))

    assert (said.state, said.reason) == ("1", "1")
    assert (said.fields["RNCEmisor"], said.fields["eNCF"]) == (THEIRS, "E310000000007")
    assert await kept(db) == []


async def test_a_document_that_breaks_the_format_is_refused_with_reason_1(reception: Running, db: Database) -> None:
    broken = unsigned()
    broken.find("Encabezado/Totales").append(broken.makeelement("NoExiste"))  # type: ignore[union-attr]

    said = read(await reception.send(sign(broken)))

    assert (said.state, said.reason) == ("1", "1")
    assert await kept(db) == []


async def test_strangers_fill_no_table_and_are_refused_each_time(reception: Running, db: Database) -> None:
    """A hundred and thirty-five bytes are enough for an answer of 4 KB, whose row would never be deleted."""
    issuer = f"<Emisor><RNCEmisor>{THEIRS}</RNCEmisor></Emisor>"
    for number in range(10):
        heading = f"<Encabezado><IdDoc><eNCF>E31{number:010}</eNCF></IdDoc>{issuer}</Encabezado>"
        said = read(await reception.send(f"<ECF>{heading}</ECF>".encode()))
        assert (said.state, said.reason, said.fields["eNCF"]) == ("1", "1", f"E31{number:010}")
    raw = document()
    never_signed = raw[: raw.index(b"<Signature")] + b"</ECF>"
    not_trusted = sign(unsigned(), make_credential(issuer=make_root("OTRA RAIZ")))
    for refused in (never_signed, not_trusted):
        first, again = await reception.send(refused), await reception.send(refused)
        assert read(first).reason == "2"
        assert again.content == first.content  # the clock stands still
        reception.clock.forward(timedelta(seconds=1))
        later = read(await reception.send(refused))
        assert {**later.fields, "FechaHoraAcuseRecibo": ""} == {**read(first).fields, "FechaHoraAcuseRecibo": ""}
        assert later.fields != read(first).fields
    assert await kept(db) == []
    assert await rows(db, "SELECT 1 FROM received") == []

    # Their attempts do not block the real supplier.
    assert read(await reception.send(raw)).state == "0"


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda raw: raw.replace(b"<MontoTotal>118.00", b"<MontoTotal>119.00"), id="changed"),
        pytest.param(lambda raw: raw[: raw.index(b"<Signature")] + b"</ECF>", id="unsigned"),
    ],
)
async def test_a_document_that_was_changed_or_never_signed_is_refused_with_reason_2(
    reception: Running, spoil: object
) -> None:
    assert callable(spoil)
    said = read(await reception.send(spoil(document())))

    assert (said.state, said.reason) == ("1", "2")


@pytest.mark.parametrize(
    "more",
    ["<KeyValue><RSAKeyValue><Modulus>AQAB</Modulus><Exponent>AQAB</Exponent></RSAKeyValue></KeyValue>", "chain"],
)
async def test_document_whose_key_info_holds_more_than_the_certificate_is_received(
    reception: Running, db: Database, more: str
) -> None:
    """The signer of the JDK writes such a KeyInfo."""
    der = default_root().certificate.public_bytes(Encoding.DER)
    chain = f"<X509Data><X509Certificate>{b64encode(der).decode()}</X509Certificate></X509Data>"
    raw = document().replace(b"<KeyInfo>", b"<KeyInfo>" + (chain if more == "chain" else more).encode())

    assert read(await reception.send(raw)).state == "0"
    (stored,) = await rows(db, "SELECT document FROM acknowledgements")
    assert bytes(stored["document"]) == raw


async def test_untrusted_or_expired_certificate_is_reason_2(reception: Running) -> None:
    stranger = make_credential(issuer=make_root("OTRA RAIZ"))
    expired = make_credential(not_after=datetime(2026, 11, 5, tzinfo=UTC))

    for credential in (stranger, expired):
        said = read(await reception.send(sign(unsigned(), credential)))
        assert (said.state, said.reason) == ("1", "2")


async def test_signer_may_differ_from_the_issuer(reception: Running) -> None:
    """A person signs for a company: the certificate has a cédula, the document an RNC."""
    assert read(await reception.send(document(Encabezado__Emisor__RNCEmisor=OTHER))).state == "0"


async def test_a_document_for_another_buyer_is_reason_4_and_kept(reception: Running, db: Database) -> None:
    said = read(await reception.send(document(Encabezado__Comprador__RNCComprador=OTHER)))

    assert (said.state, said.reason, said.fields["RNCComprador"]) == ("1", "4", OTHER)
    assert await kept(db) == [("E310000000007", 4, True)]


async def test_duplicates_are_looked_for_before_the_buyer_as_the_protocol_has_it(reception: Running) -> None:
    await reception.send(document())

    said = read(await reception.send(document(Encabezado__Comprador__RNCComprador=OTHER)))

    assert said.reason == "3"


async def test_refused_document_is_assessed_again(nursery: trio.Nursery, db: Database, reception_db: Database) -> None:
    raw = document()
    before = await start_reception(nursery, db, reception_db, trust=Trust([make_root("OTRA RAIZ").certificate]))
    assert read(await before.send(raw)).reason == "2"

    after = await start_reception(nursery, db, reception_db, tenant=before.tenant)

    assert read(await after.send(raw)).state == "0"


@pytest.mark.parametrize(
    "content",
    [
        b"hello",
        b"<a>",
        b"<ECF/>",
        b"<!DOCTYPE a><a/>",
        b"\x1f\x8b\x08\x00compressed",
        "<a>\u00e9</a>".encode("latin-1"),
    ],
)
async def test_request_without_a_document_gets_400(reception: Running, db: Database, content: bytes) -> None:
    answer = await reception.send(content)

    assert (answer.status_code, answer.json()["statusCode"]) == (400, 400)
    assert await kept(db) == []


async def test_envelopes_of_other_programs_are_lived_with(reception: Running) -> None:
    """A byte order mark, no declaration, Version 1, indentation between elements that were signed without."""
    tree = unsigned(Encabezado__Version="1")
    signed = sign(tree)
    bare = signed[signed.index(b"?>") + 2 :]

    assert read(await reception.send(b"\xef\xbb\xbf" + bare)).state == "0"


async def test_two_documents_of_one_number_at_once_are_decided_by_the_database(
    dsn: str, nursery: trio.Nursery, db: Database, reception_db: Database
) -> None:
    """Two processes, as far as they can know of each other: each has pools and caches of its own."""
    one = await start_reception(nursery, db, reception_db, threads=4)
    async with open_database(dsn, role=RECEPTION) as other_db:
        two = await start_reception(nursery, db, other_db, tenant=one.tenant, threads=4)
        contents = [sign(unsigned(Encabezado__Emisor__NombreComercial=f"N{n}")) for n in range(4)]
        answers: list[tuple[int, bytes]] = []

        async def send(where: Running, number: int) -> None:
            answer = await where.send(contents[number])
            assert answer.status_code == 200
            answers.append((number, answer.content))

        async with trio.open_nursery() as senders:
            for number in range(4):
                for where in (one, two, one, two):
                    senders.start_soon(send, where, number)

    said: dict[int, set[bytes]] = {}
    for number, content in answers:
        said.setdefault(number, set()).add(content)
    assert [len(said[number]) for number in range(4)] == [1, 1, 1, 1]  # the same bytes in, the same bytes out
    states = [b"<Estado>0</Estado>" in next(iter(said[number])) for number in range(4)]
    assert sum(states) == 1
    assert len(await rows(db, "SELECT 1 FROM received")) == 1
    assert sorted(reason for _, reason, _ in await kept(db)) == [0, 3, 3, 3]


async def test_document_that_cannot_be_stored_is_not_acknowledged(reception: Running, db: Database) -> None:
    await rows(db, "REVOKE EXECUTE ON FUNCTION keep_received FROM fe_reception")

    answer = await reception.send(document())

    assert answer.status_code == 500
    assert answer.json() == {"message": "Internal Server Error", "statusCode": 500}


async def test_tenant_without_a_certificate_asks_the_sender_to_retry(
    nursery: trio.Nursery, db: Database, reception_db: Database
) -> None:
    running = await start_reception(nursery, db, reception_db, certificate=False)

    answer = await running.send(document())

    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert await kept(db) == []


async def test_environments_are_kept_apart(reception: Running) -> None:
    assert (await reception.post(f"/ecf/{OURS}/fe/recepcion/api/ecf", document())).status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"{BASE}/recepcion/api/ecf", 405),
        ("POST", f"{BASE}/autenticacion/api/semilla", 405),
        ("POST", "/testecf/999999999/fe/recepcion/api/ecf", 404),
        ("POST", f"{BASE}/recepcion/api/otro", 404),
        ("GET", "/", 404),
        ("GET", "/healthz", 200),
        ("GET", "/readyz", 200),
    ],
)
async def test_path_or_method_of_no_service_is_refused(reception: Running, method: str, path: str, status: int) -> None:
    async with reception.client() as client:
        answer = await client.request(method, path)

    assert answer.status_code == status
    if status == 405:
        assert answer.headers["allow"] in ("GET", "POST")


@pytest.mark.parametrize(
    "path",
    [
        f"/TestECF/{OURS}/FE/Recepcion/API/ECF",
        f"/testecf/{OURS}/fe/recepci\u00f3n/api/ecf",
        f"/testecf/{OURS}/fe/recepcio\u0301n/api/ecf",
        f"/testecf/{OURS}/fe/RECEPCI\u00d3N/api/ecf/",
        f"/testecf/{OURS}//fe/recepcion/api/ecf",
        f"//testecf/{OURS}/fe//recepcion/api///ecf//",
    ],
)
async def test_path_in_any_case_with_accents_or_doubled_slashes_is_received(reception: Running, path: str) -> None:
    url = f"http://127.0.0.1:{reception.port}{path}"

    assert read(await reception.post(url, document())).state == "0"


async def test_calls_are_counted_by_service_only(reception: Running) -> None:
    await reception.send(document())
    async with reception.client() as client:
        await client.get("/healthz")
        await client.get("/nowhere")

    def counted() -> set[str]:
        samples = next(iter(reception.metrics.http_requests.collect())).samples
        return {sample.labels["route"] for sample in samples if sample.name.endswith("_total")}

    await until(lambda: len(counted()) >= 3)  # a request is counted when its answer is on its way
    assert counted() == {"reception reception", "GET /healthz", "none"}


async def test_reception_with_a_wrong_clock_acknowledges_nothing_and_is_not_ready(
    nursery: trio.Nursery, db: Database, dsn: str
) -> None:
    faults: list[str | None] = ["the clock of this process is 30.0 s ahead of the database's"]
    async with open_database(dsn, role=RECEPTION) as own:
        reception = await start_reception(nursery, db, own, clock_fault=lambda: faults[-1])
        async with reception.client() as client:
            assert (await client.get("/readyz")).status_code == 503
            assert (await reception.send(document())).status_code == 503
            assert await rows(db, "SELECT * FROM acknowledgements") == []

            faults.append(None)
            assert (await client.get("/readyz")).status_code == 200
            assert read(await reception.send(document())).state == "0"
