"""TLS to the authority: who is believed, and what a handshake or an encrypted stream that fails leaves behind."""

import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trio
from cryptography import x509
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from fe.authority.client import Authority, LastLook
from fe.authority.errors import OutcomeUnknown, Unavailable
from fe.authority.hosts import Hosts
from fe.authority.replies import Receipt
from fe.egress.tls import default_tls
from tests.authority.scripted import (
    NOW,
    PATIENT,
    QUICK,
    RECEPCION,
    Heard,
    Stream,
    client,
    document,
    hang,
    in_a_hurry,
    in_turn,
    owner,
    raw,
    scripted,
    tell,
)
from tests.factories.certificates import VALID_FROM, VALID_UNTIL, default_root, name, rsa_key
from tests.waiting import until


def server_tls(folder: Path, host: str = "localhost", *, until: datetime = VALID_UNTIL) -> ssl.SSLContext:
    """A server certificate of the test root for `host`."""
    key, root = rsa_key("a web server"), default_root()
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name(host))
        .issuer_name(root.certificate.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(VALID_FROM)
        .not_valid_after(until)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(root.key, SHA256())
    )
    file = folder / "server.pem"
    file.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + certificate.public_bytes(Encoding.PEM)
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(file)
    return context


def trusting() -> ssl.SSLContext:
    """The client's own settings, with the test root among the trusted."""
    context = default_tls.__wrapped__()
    context.load_verify_locations(cadata=default_root().certificate.public_bytes(Encoding.PEM).decode())
    return context


async def test_a_document_travels_over_tls_and_connections_are_kept(tmp_path: Path) -> None:
    async with scripted(server_tls(tmp_path)) as server:
        authority = client(server, tls=trusting())

        for number in (1, 2, 3):
            assert isinstance(await authority.submit(document(number, xml=b" " * 100_000), owner()), Receipt)

        assert server.connections == 1


async def test_server_without_a_trusted_certificate_gets_no_bytes(tmp_path: Path) -> None:
    expired = datetime(2025, 1, 1, tzinfo=UTC)
    for context, ours, why in (
        (server_tls(tmp_path), default_tls(), "self-signed|unable to get local issuer"),
        (server_tls(tmp_path, "elsewhere.example"), trusting(), "Hostname mismatch"),
        (server_tls(tmp_path, until=expired), trusting(), "expired"),
    ):
        async with scripted(context) as server:
            with pytest.raises(Unavailable, match=f"no TLS with localhost.*({why})"):
                await client(server, tls=ours).submit(document(), owner())

            assert server.heard == []


async def test_older_than_tls_1_2_is_not_spoken() -> None:
    assert default_tls().minimum_version is ssl.TLSVersion.TLSv1_2
    assert default_tls().verify_mode is ssl.CERT_REQUIRED
    assert default_tls().check_hostname


def test_only_good_cipher_suites_are_offered() -> None:
    """Each with a key of its own for the connection, none under 128 bits, and the best come first."""
    offered = default_tls().get_ciphers()

    assert {suite["protocol"] for suite in offered} <= {"TLSv1.2", "TLSv1.3"}
    assert min(suite["strength_bits"] for suite in offered) >= 128
    assert all(suite["name"].startswith(("TLS_", "ECDHE-", "DHE-")) for suite in offered)
    assert offered[0]["aead"]


async def test_a_handshake_that_never_ends_is_unavailable_and_can_be_cancelled() -> None:
    accepted = closed = 0

    async def swallow(stream: trio.SocketStream) -> None:
        nonlocal accepted, closed
        accepted += 1
        async for _ in stream:
            pass
        closed += 1

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(trio.serve_tcp, swallow, 0)
        # By its number: nothing is looked up, so that the second is spent on the handshake.
        hosts = Hosts.all_at(f"https://127.0.0.1:{listeners[0].socket.getsockname()[1]}")

        with pytest.raises(Unavailable, match=r"within 1 s"):
            await Authority(hosts, clock=lambda: NOW, timeouts=QUICK).submit(document(), owner())
        await until(lambda: closed == 1)
        async with trio.open_nursery() as trying:
            trying.start_soon(Authority(hosts, clock=lambda: NOW, timeouts=PATIENT).submit, document(), owner())
            await until(lambda: accepted == 2)
            assert closed == 1
            trying.cancel_scope.cancel()
        await until(lambda: closed == 2)

        assert accepted == 2
        nursery.cancel_scope.cancel()


async def test_a_peer_that_speaks_no_tls_is_unavailable() -> None:
    async def refuse(stream: trio.SocketStream) -> None:
        await stream.receive_some()
        await stream.send_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(trio.serve_tcp, refuse, 0)
        port = listeners[0].socket.getsockname()[1]
        authority = Authority(Hosts.all_at(f"https://localhost:{port}"), clock=lambda: NOW, timeouts=PATIENT)

        with pytest.raises(Unavailable, match="no TLS"):
            await authority.submit(document(), owner())
        nursery.cancel_scope.cancel()


async def test_an_encrypted_document_that_is_not_read_is_given_up_without_a_goodbye(tmp_path: Path) -> None:
    async with scripted(server_tls(tmp_path)) as server:
        authority = client(server, tls=trusting(), connections=1)
        await authority.submit(document(1), owner())
        server.ignore_body(RECEPCION)
        arrived = trio.Event()
        server.then(RECEPCION, hang, in_turn(tell(arrived), hang))
        big = b" " * 8_000_000

        with trio.fail_after(60), in_a_hurry(authority), pytest.raises(OutcomeUnknown, match="no complete answer"):
            await authority.submit(document(2, xml=big), owner())
        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(authority.submit, document(3, xml=big), owner())
                await arrived.wait()
                nursery.cancel_scope.cancel()

        assert isinstance(await authority.submit(document(4), owner()), Receipt)


@pytest.mark.parametrize("encrypted", [True, False], ids=["tls", "plain"])
async def test_sender_frozen_while_sending_does_not_send_the_rest(tmp_path: Path, *, encrypted: bool) -> None:
    """A part is sent, so the outcome is unknown; the rest must not complete the document once another worker has the
    row.
    """

    class TooLate(Exception):
        pass

    looks: list[int] = []

    def look() -> None:
        looks.append(1)
        if len(looks) == 2:
            raise TooLate

    async def before_send() -> LastLook:
        return look

    async with scripted(server_tls(tmp_path) if encrypted else None) as server:
        authority = client(server, tls=trusting() if encrypted else None)
        await authority.submit(document(1), owner())
        server.ignore_body(RECEPCION)
        arrived = trio.Event()
        server.then(RECEPCION, in_turn(tell(arrived), hang))

        with trio.fail_after(60), pytest.raises(OutcomeUnknown, match="called off in the middle"):
            await authority.submit(document(2, xml=b" " * 8_000_000), owner(), before_send=before_send)

        assert len(looks) == 2
        assert isinstance(await authority.submit(document(3), owner()), Receipt)


async def test_a_stream_that_is_cut_without_tls_ending_is_an_unknown_outcome(tmp_path: Path) -> None:
    async def cut(stream: Stream, _: Heard) -> bool:
        assert isinstance(stream, trio.SSLStream)
        await stream.transport_stream.send_all(b"this is no TLS record")
        return False

    async with scripted(server_tls(tmp_path)) as server:
        authority = client(server, tls=trusting())
        server.then(RECEPCION, cut, in_turn(raw(b"HTTP/1.1 200 OK\r\n\r\n"), cut))

        for number in (1, 2):
            with pytest.raises(OutcomeUnknown, match=r"reset|HTTP"):
                await authority.submit(document(number), owner())
