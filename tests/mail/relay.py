"""SMTP relay with TLS for tests: `python -m tests.mail.relay FOLDER starttls|plain|implicit PORT`.

Writes each message to FOLDER/taken before it answers, and prints its port. The recipient decides its answer: absent@
(550), policy@ (550 5.7.1), later@ (451), toobig@ (552 at DATA), cut@ (takes the message and hangs up).
"""

import asyncio
import datetime
import ipaddress
import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

USER, PASSWORD = "fe", "a secret of the relay"

_REFUSALS = {
    "absent": "550 5.1.1 no such mailbox here",
    "bare": "550 no",
    "norelay": "554 5.7.1 Relay access denied",
    "badsender": "550 5.1.8 Sender address rejected: Domain not found",
    "login": "530 5.7.0 Authentication required",
    "gone": "550 5.1.1 unknown user",
    "policy": "550 5.7.1 policy: too many links",
    "later": "451 4.3.0 try again later",
}


class Handler:
    """Answers by the recipient, and keeps what it takes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "taken"
        self.folder.mkdir(exist_ok=True)

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if refusal := _REFUSALS.get(address.partition("@")[0]):
            return refusal
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        (recipient,) = envelope.rcpt_tos
        if recipient.startswith("toobig@"):
            return "552 5.3.4 message too big"
        content = envelope.content
        assert isinstance(content, bytes)
        name = f"{len(os.listdir(self.folder)):05}"
        about = {
            "from": envelope.mail_from,
            "to": recipient,
            "tls": session.ssl is not None,
            "login": bool(session.authenticated),
        }
        (self.folder / f".{name}").write_bytes(json.dumps(about).encode() + b"\n" + content)
        (self.folder / f".{name}").rename(self.folder / name)
        if recipient.startswith("cut@"):
            assert server.transport is not None
            server.transport.close()
        return "250 2.0.0 taken"


def _authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    good = isinstance(data, LoginPassword) and (data.login, data.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=good, handled=good)


def write_certificate(folder: Path, host: str = "localhost") -> None:
    """Make a certificate of its own root for `host` and 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests' relay")])
    now = datetime.datetime.now(datetime.UTC)
    names: list[x509.GeneralName] = [x509.DNSName(host)]
    if host == "localhost":
        names.append(x509.IPAddress(ipaddress.ip_address("127.0.0.1")))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    (folder / "relay.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "relay.key").write_bytes(private)


async def _serve(folder: Path, mode: str, port: int) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "relay.pem", folder / "relay.key")
    handler = Handler(folder)

    def session() -> SMTP:
        return SMTP(
            handler,
            tls_context=context if mode == "starttls" else None,
            require_starttls=mode == "starttls",
            auth_require_tls=mode == "starttls",
            authenticator=_authenticate,
        )

    loop = asyncio.get_running_loop()
    server = await loop.create_server(session, "127.0.0.1", port, ssl=context if mode == "implicit" else None)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201
    await server.serve_forever()


def taken_in(folder: Path) -> list[tuple[dict[str, Any], EmailMessage]]:
    """Return envelope and message of each mail that the relay of this folder has taken, in their order."""
    found = []
    for path in sorted((folder / "taken").glob("[0-9]*")):
        about, _, content = path.read_bytes().partition(b"\n")
        message = message_from_bytes(content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        found.append((json.loads(about), message))
    return found


@dataclass
class RunningRelay:
    """The relay's process, and what it has taken."""

    folder: Path
    port: int
    process: subprocess.Popen[str]

    @property
    def roots(self) -> Path:
        return self.folder / "relay.pem"

    @property
    def taken(self) -> list[tuple[dict[str, Any], EmailMessage]]:
        """Envelope and message of each, in their order."""
        return taken_in(self.folder)


@contextmanager
def running_relay(
    folder: Path, mode: str = "starttls", *, host: str = "localhost", port: int = 0
) -> Iterator[RunningRelay]:
    """Run the relay until the block ends."""
    folder.mkdir(exist_ok=True)
    if not (folder / "relay.pem").exists():
        write_certificate(folder, host)
    command = [sys.executable, "-m", "tests.mail.relay", str(folder), mode, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield RunningRelay(folder, int(process.stdout.readline()), process)
        finally:
            process.kill()


if __name__ == "__main__":
    given, mode, port = sys.argv[1:]
    asyncio.run(_serve(Path(given), mode, int(port)))
