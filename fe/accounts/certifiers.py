"""Checks of a certificate when it is added: its issuer, and whether it was revoked."""

from collections.abc import Collection, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

import httpx
from cryptography import x509

from fe.accounts.provision import ProvisioningRefused
from fe.config.start_checks import read_certificates
from fe.ecf.certificate import Credential, open_p12
from fe.ecf.revocation import Answer, Revocation, ocsp_request, read_crl, read_ocsp, where_to_ask
from fe.ecf.texts import Text
from fe.ecf.trust import Distrust, check_certificate

#: Timeout of one revocation query, and the largest list that is read.
_PATIENCE = 10.0
_LONGEST = 8 * 1024 * 1024

_IN_SPANISH = {
    Distrust.NOT_YET_VALID: "todavía no es válido",
    Distrust.EXPIRED: "está vencido",
    Distrust.WRONG_USAGE: "no está hecho para firmar documentos",
    Distrust.WEAK_KEY: "su clave no es RSA de 2048 bits o más",
    Distrust.WEAK_HASH: "fue emitido con un algoritmo anticuado",
    Distrust.UNKNOWN_ISSUER: "no lo emitió una entidad de certificación de confianza",
    Distrust.UNREADABLE: "no se puede leer",
}


@dataclass(frozen=True, slots=True)
class ExaminedP12:
    """A usable .p12, with remarks for the person who adds it."""

    opened: Credential
    remarks: tuple[Text, ...]


def examine(
    p12: bytes,
    passphrase: str,
    certifiers: Sequence[x509.Certificate] | None,
    hosts: Collection[str],
    *,
    now: datetime,
) -> ExaminedP12:
    """Open a .p12 and check its certificate as the authority does; query revocation if `hosts` allow it.

    Blocks. Raises CertificateError, or ProvisioningRefused for a revoked certificate.
    """
    opened = open_p12(p12, passphrase)
    answer = revocation(opened.certificate, certifiers, hosts, now=now) if hosts else None
    if answer is not None and answer.state is Revocation.REVOKED:
        raise ProvisioningRefused(Text(answer.says, "la entidad de certificación lo revocó: solicítele uno nuevo"))
    found = remarks(opened.certificate, certifiers, now)
    if answer is not None and answer.state is Revocation.UNKNOWN:
        found.append(
            Text(
                f"whether it was revoked is not known: {answer.says}",
                f"no se sabe si fue revocado ({answer.says})",
            )
        )
    return ExaminedP12(opened, tuple(found))


def read_certifiers(path: Path | None) -> list[x509.Certificate] | None:
    """Read the certificates of the certifiers that are trusted, PEM; None without a file. Raises ConfigError."""
    return None if path is None else read_certificates("FE_CERTIFIERS_FILE", path)


def remarks(certificate: x509.Certificate, certifiers: Sequence[x509.Certificate] | None, now: datetime) -> list[Text]:
    """Warn about a certificate that the authority may reject."""
    if certificate.issuer == certificate.subject:
        return [
            Text(
                "it is self-signed: for a simulated authority only, the real one takes none",
                "es autofirmado: solo sirve para una DGII simulada, la real no lo acepta",
            )
        ]
    objections = check_certificate(certificate, roots=certifiers, at=now)
    found = [Text(f"{each.message} ({each.reason})", _IN_SPANISH[each.reason]) for each in objections]
    if certifiers is None:
        found.append(
            Text(
                "whether a certifier issued it was not looked at: FE_CERTIFIERS_FILE names none",
                "no se verificó si lo emitió una entidad de certificación: esta instalación no nombra ninguna",
            )
        )
    return found


def revocation(
    certificate: x509.Certificate,
    certifiers: Sequence[x509.Certificate] | None,
    hosts: Collection[str],
    *,
    now: datetime,
) -> Answer:
    """Ask whether a certificate was revoked: OCSP first, then the revocation list.

    The certificate itself names the addresses, so only `hosts` (host, or host:port) are asked, without following
    redirects. Each query has ten seconds; no answer means unknown. Raises nothing. Blocks, as only the command line
    calls it.
    """
    issuer = next((one for one in certifiers or () if _issued(one, certificate)), None)
    if issuer is None:
        return Answer(Revocation.UNKNOWN, "not checked: its issuer is not in FE_CERTIFIERS_FILE")
    where = where_to_ask(certificate)
    answer = Answer(Revocation.UNKNOWN, "not checked: the certificate names no address for it")
    with httpx.Client(trust_env=False, follow_redirects=False, timeout=_PATIENCE) as client:
        for url in (*where.ocsp, *where.crl):
            if not _is_allowed(url, hosts):
                answer = Answer(Revocation.UNKNOWN, f"not checked: {_place(url)} is not in FE_REVOCATION_HOSTS")
                continue
            ocsp = ocsp_request(certificate, issuer) if url in where.ocsp else None
            data = _fetch(client, url, ocsp)
            if isinstance(data, Answer):
                answer = data
                continue
            answer = (read_ocsp if ocsp is not None else read_crl)(data, certificate, issuer, now)
            if answer.state is not Revocation.UNKNOWN:
                return answer
    return answer


def _issued(issuer: x509.Certificate, certificate: x509.Certificate) -> bool:
    return not check_certificate(certificate, roots=[issuer], at=certificate.not_valid_before_utc)


def _place(url: str) -> str:
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "an address that is none"
    return f"{parts.hostname}:{port}"


def _is_allowed(url: str, hosts: Collection[str]) -> bool:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or parts.hostname is None or parts.username is not None:
        return False
    usual = port in (None, {"http": 80, "https": 443}[parts.scheme])
    return f"{parts.hostname}:{port}" in hosts or (usual and parts.hostname in hosts)


def _fetch(client: httpx.Client, url: str, ocsp: bytes | None) -> bytes | Answer:
    request = (
        client.build_request("GET", url)
        if ocsp is None
        else client.build_request("POST", url, content=ocsp, headers={"Content-Type": "application/ocsp-request"})
    )
    data, until = bytearray(), monotonic() + _PATIENCE
    try:
        reply = client.send(request, stream=True)
        with closing(reply):
            if reply.status_code != httpx.codes.OK:
                return Answer(Revocation.UNKNOWN, f"{_place(url)} answers with {reply.status_code}")
            for chunk in reply.iter_raw():
                data += chunk
                if len(data) > _LONGEST or monotonic() > until:
                    return Answer(Revocation.UNKNOWN, f"{_place(url)} answers without end")
    except (httpx.HTTPError, httpx.InvalidURL):
        return Answer(Revocation.UNKNOWN, f"{_place(url)} cannot be reached")
    return bytes(data)
