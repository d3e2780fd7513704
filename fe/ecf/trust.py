"""Whether a signer's certificate may be trusted. A signature says which key signed; only this says whose key that is.

Pure, so two things are left to the caller: comparing the holder with whom the document says it is from, and asking the
certifier for revocations, which needs the network.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import MD5, SHA1

from fe.ecf.certificate import MIN_KEY_BITS, UNREADABLE, is_for_signing, key_usage


class Distrust(StrEnum):
    """Why a certificate is not trusted; stable, for programs and metrics."""

    NOT_YET_VALID = "not-yet-valid"
    EXPIRED = "expired"
    WRONG_USAGE = "wrong-usage"
    WEAK_KEY = "weak-key"
    WEAK_HASH = "weak-hash"
    UNKNOWN_ISSUER = "unknown-issuer"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Objection:
    """One reason against a certificate, with a text for people."""

    reason: Distrust
    message: str


def check_certificate(
    certificate: x509.Certificate, *, roots: Iterable[x509.Certificate] | None, at: datetime
) -> list[Objection]:
    """Everything that speaks against trusting `certificate` for a signature made at `at`; empty when nothing does.

    `roots` are the certificates of the certifiers that are trusted, those below a root included: a signature carries
    its leaf only, so the issuer must be among them, and must itself be valid at `at`. A certificate that is among
    `roots` itself is trusted too (a pinned self-made one). With None every issuer will do: for test environments.

    `at` must have a zone. Checked beside the issuer: validity in time, key usage (digitalSignature or nonRepudiation,
    where the certificate names any), an RSA key of 2048 bits at least, and that the issuer's hash is not MD5 or SHA-1.
    """
    if at.utcoffset() is None:
        raise ValueError("a time without a zone cannot be compared with a validity")
    try:
        objections = _validity(certificate, at, "the certificate")
        objections += _fitness(certificate)
        if roots is not None:
            objections += _issuer(certificate, list(roots), at)
    except UNREADABLE:  # X.509 is read piece by piece: any field may turn out to be broken
        return [Objection(Distrust.UNREADABLE, "the certificate cannot be read")]
    return objections


def _validity(certificate: x509.Certificate, at: datetime, who: str) -> list[Objection]:
    if at < certificate.not_valid_before_utc:
        since = certificate.not_valid_before_utc.date()
        return [Objection(Distrust.NOT_YET_VALID, f"{who} is valid only from {since} on")]
    if at > certificate.not_valid_after_utc:
        until = certificate.not_valid_after_utc.date()
        return [Objection(Distrust.EXPIRED, f"{who} expired on {until}")]
    return []


def _fitness(certificate: x509.Certificate) -> list[Objection]:
    objections = []
    if not is_for_signing(certificate):
        objections.append(Objection(Distrust.WRONG_USAGE, "the certificate is not meant for signing documents"))
    key = certificate.public_key()
    if not isinstance(key, RSAPublicKey) or key.key_size < MIN_KEY_BITS:
        objections.append(Objection(Distrust.WEAK_KEY, f"the key is not RSA of at least {MIN_KEY_BITS} bits"))
    return objections


def _issuer(certificate: x509.Certificate, roots: list[x509.Certificate], at: datetime) -> list[Objection]:
    if certificate in roots:
        return []
    if isinstance(certificate.signature_hash_algorithm, MD5 | SHA1):
        return [Objection(Distrust.WEAK_HASH, "the certificate was issued with an outdated hash")]
    issuers = [root for root in roots if _may_issue(root) and _issued(root, certificate)]
    if not issuers:
        return [Objection(Distrust.UNKNOWN_ISSUER, "the certificate was not issued by a trusted certifier")]
    # A certifier renews its certificate under the same name and key: one that is valid is enough.
    return min((_validity(issuer, at, "the issuer's certificate") for issuer in issuers), key=len)


def _may_issue(root: x509.Certificate) -> bool:
    try:
        constraints = root.extensions.get_extension_for_class(x509.BasicConstraints).value
    except x509.ExtensionNotFound:
        return False
    usage = key_usage(root)
    return constraints.ca and (usage is None or usage.key_cert_sign)


def _issued(root: x509.Certificate, certificate: x509.Certificate) -> bool:
    try:
        certificate.verify_directly_issued_by(root)
    except (ValueError, TypeError, InvalidSignature):  # another name, another kind of key, another key
        return False
    return True
