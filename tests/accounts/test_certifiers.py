"""Issuers of certificates and their revocation, asked of a local responder only."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import h11
import pytest
import trio
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA1, SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID

from fe.accounts.certifiers import read_certifiers, remarks, revocation
from fe.config import ConfigError
from fe.ecf.revocation import Answer, Revocation
from fe.ecf.selfmade import self_made
from tests.factories.certificates import WITHIN, Certifier, default_root, make_intermediate, make_root, name, rsa_key

NOW = WITHIN
DAY = timedelta(days=1)
SIGNER = rsa_key("signer")


@dataclass
class Responder:
    """An HTTP server that answers every request with what `serve` says, and remembers what it was asked."""

    port: int = 0
    serve: Callable[[bytes], tuple[int, bytes]] = lambda _: (200, b"")
    asked: list[tuple[str, str]] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def handle(self, stream: trio.SocketStream) -> None:
        link = h11.Connection(h11.SERVER)
        body = b""
        async with stream:
            while True:
                event = link.next_event()
                if event is h11.NEED_DATA:
                    link.receive_data(await stream.receive_some())
                elif isinstance(event, h11.Request):
                    self.asked.append((event.method.decode(), event.target.decode()))
                elif isinstance(event, h11.Data):
                    body += event.data
                else:
                    break
            status, answer = self.serve(body)
            headers = [("Content-Length", str(len(answer))), ("Location", f"http://{self.host}/elsewhere")]
            for part in (h11.Response(status_code=status, headers=headers), h11.Data(data=answer), h11.EndOfMessage()):
                with suppress(trio.BrokenResourceError):  # who asked had enough
                    await stream.send_all(link.send(part) or b"")


@pytest.fixture
async def responder(nursery: trio.Nursery) -> Responder:
    made = Responder()
    listeners = await nursery.start(partial(trio.serve_tcp, made.handle, 0, host="127.0.0.1"))
    made.port = listeners[0].socket.getsockname()[1]
    return made


def certificate(certifier: Certifier, *, ocsp_at: str = "", crl_at: str = "") -> x509.Certificate:
    more: list[x509.ExtensionType] = []
    if ocsp_at:
        place = x509.UniformResourceIdentifier(f"http://{ocsp_at}/ocsp")
        more.append(
            x509.AuthorityInformationAccess([x509.AccessDescription(AuthorityInformationAccessOID.OCSP, place)])
        )
    if crl_at:
        point = x509.DistributionPoint([x509.UniformResourceIdentifier(f"http://{crl_at}/crl")], None, None, None)
        more.append(x509.CRLDistributionPoints([point]))
    return certifier.issue(name("JUANA", serial_number="IDCDO-00112233445"), SIGNER, more=more)


def answer(
    about: x509.Certificate,
    issuer: Certifier,
    *,
    revoked: bool = False,
    by: Certifier | None = None,
    since: datetime = NOW - DAY,
    until: datetime = NOW + DAY,
    with_certificate: bool = False,
) -> bytes:
    signer = by or issuer
    builder = ocsp.OCSPResponseBuilder().add_response(
        cert=about,
        issuer=issuer.certificate,
        algorithm=SHA1(),
        cert_status=ocsp.OCSPCertStatus.REVOKED if revoked else ocsp.OCSPCertStatus.GOOD,
        this_update=since,
        next_update=until,
        revocation_time=NOW - DAY if revoked else None,
        revocation_reason=None,
    )
    builder = builder.responder_id(ocsp.OCSPResponderEncoding.HASH, signer.certificate)
    if with_certificate:
        builder = builder.certificates([signer.certificate])
    return builder.sign(signer.key, SHA256()).public_bytes(Encoding.DER)


def crl(issuer: Certifier, *serials: int, until: datetime = NOW + DAY, by: Certifier | None = None) -> bytes:
    builder = (
        x509.CertificateRevocationListBuilder()
        .issuer_name(issuer.certificate.subject)
        .last_update(NOW - DAY)
        .next_update(until)
    )
    for serial in serials:
        entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(NOW - DAY).build()
        builder = builder.add_revoked_certificate(entry)
    return builder.sign((by or issuer).key, SHA256()).public_bytes(Encoding.DER)


async def ask(responder: Responder, about: x509.Certificate, *certifiers: Certifier, hosts: str = "") -> Answer:
    trusted = [one.certificate for one in certifiers or (default_root(),)]
    return await trio.to_thread.run_sync(
        partial(revocation, about, trusted, {hosts or responder.host}, now=NOW), abandon_on_cancel=True
    )


async def test_a_responder_s_word_counts(responder: Responder) -> None:
    root = default_root()
    mine = certificate(root, ocsp_at=responder.host)

    for revoked, state in ((False, Revocation.GOOD), (True, Revocation.REVOKED)):
        responder.serve = lambda _, revoked=revoked: (200, answer(mine, root, revoked=revoked))  # type: ignore[misc]
        assert (await ask(responder, mine)).state is state
    assert responder.asked == [("POST", "/ocsp")] * 2


async def test_a_responder_may_be_one_that_the_certifier_certified_for_it(responder: Responder) -> None:
    root, key = default_root(), rsa_key("responder")
    mine = certificate(root, ocsp_at=responder.host)
    for usage, state in (
        (ExtendedKeyUsageOID.OCSP_SIGNING, Revocation.REVOKED),
        (ExtendedKeyUsageOID.SERVER_AUTH, Revocation.UNKNOWN),
    ):
        delegate = Certifier(key, root.issue(name("RESPONDER"), key, more=[x509.ExtendedKeyUsage([usage])]))
        said = answer(mine, root, revoked=True, by=delegate, with_certificate=True)
        responder.serve = lambda _, said=said: (200, said)  # type: ignore[misc]

        assert (await ask(responder, mine)).state is state


async def test_an_answer_that_is_not_the_certifier_s_or_not_of_today_or_not_about_this_one_says_nothing(
    responder: Responder,
) -> None:
    root, stranger = default_root(), make_root("CERTIFICADORA AJENA")
    mine, other = certificate(root, ocsp_at=responder.host), certificate(root)
    for said in (
        answer(mine, root, by=stranger, with_certificate=True),
        answer(mine, root, until=NOW - timedelta(hours=1)),
        answer(mine, root, since=NOW + timedelta(hours=1)),
        answer(other, root),
        ocsp.OCSPResponseBuilder.build_unsuccessful(ocsp.OCSPResponseStatus.TRY_LATER).public_bytes(Encoding.DER),
        b"",
        b"<html>",
    ):
        responder.serve = lambda _, said=said: (200, said)  # type: ignore[misc]
        found = await ask(responder, mine)
        assert found.state is Revocation.UNKNOWN
        assert found.says.startswith("the responder")


async def test_where_there_is_no_responder_the_list_is_looked_at(responder: Responder) -> None:
    root = default_root()
    mine = certificate(root, crl_at=responder.host)

    for said, state in (
        (crl(root), Revocation.GOOD),
        (crl(root, mine.serial_number), Revocation.REVOKED),
        (crl(root, mine.serial_number, by=make_root("CERTIFICADORA AJENA")), Revocation.UNKNOWN),
        (crl(root, until=NOW - timedelta(hours=1)), Revocation.UNKNOWN),
        (b"-----BEGIN X", Revocation.UNKNOWN),
    ):
        responder.serve = lambda _, said=said: (200, said)  # type: ignore[misc]
        assert (await ask(responder, mine)).state is state
    assert set(responder.asked) == {("GET", "/crl")}


async def test_nobody_is_asked_whom_the_operator_did_not_name(responder: Responder) -> None:
    """The certificate's author chooses the addresses in it, for example an internal service."""
    mine = certificate(default_root(), ocsp_at=responder.host, crl_at=responder.host)

    found = await ask(responder, mine, hosts="ocsp.example.com")
    by_port = await ask(responder, mine, hosts="127.0.0.1")

    assert (
        found == by_port == Answer(Revocation.UNKNOWN, f"not checked: {responder.host} is not in FE_REVOCATION_HOSTS")
    )
    assert responder.asked == []


async def test_a_redirection_is_not_followed_and_an_answer_without_end_is_not_read(responder: Responder) -> None:
    mine = certificate(default_root(), crl_at=responder.host)

    responder.serve = lambda _: (302, b"")
    assert (await ask(responder, mine)).says == f"{responder.host} answers with 302"
    responder.serve = lambda _: (200, bytes(9 * 1024 * 1024))
    assert (await ask(responder, mine)).says == f"{responder.host} answers without end"
    assert [target for _, target in responder.asked] == ["/crl"] * 2


async def test_of_an_unknown_certifier_nobody_is_asked(responder: Responder) -> None:
    mine = certificate(make_root("CERTIFICADORA AJENA"), ocsp_at=responder.host)

    assert (await ask(responder, mine)).says == "not checked: its issuer is not in FE_CERTIFIERS_FILE"
    assert responder.asked == []


def test_what_speaks_against_a_certificate_is_said() -> None:
    root = default_root()
    below = make_intermediate(root)
    mine = below.issue(name("JUANA"), SIGNER)
    alone = self_made(SIGNER, holder="X", holder_id="00112233445", not_before=NOW - DAY, not_after=NOW + DAY)

    assert remarks(mine, [below.certificate], NOW) == []
    assert [each.en for each in remarks(mine, [root.certificate], NOW)] == [
        "the certificate was not issued by a trusted certifier (unknown-issuer)"
    ]
    assert [each.en for each in remarks(mine, None, NOW)] == [
        "whether a certifier issued it was not looked at: FE_CERTIFIERS_FILE names none"
    ]
    assert "self-signed" in remarks(alone.certificate, [root.certificate], NOW)[0].en


def test_a_file_of_certifiers_is_read_or_named(tmp_path: Path) -> None:
    file = tmp_path / "certifiers.pem"
    two = [default_root().certificate, make_root("OTRA").certificate]
    file.write_bytes(b"".join(one.public_bytes(Encoding.PEM) for one in two))

    assert read_certifiers(None) is None
    assert read_certifiers(file) == two
    file.write_text("none")
    with pytest.raises(ConfigError, match=f"FE_CERTIFIERS_FILE {file}"):
        read_certifiers(file)
