"""Whether a certifier has taken a certificate back: questions and answers of OCSP (RFC 6960) and CRLs (RFC 5280).

Pure: where to ask is read off the certificate, asking is the caller's. An answer that is not the certifier's own, is
about another certificate, or is out of date, says nothing: never that all is well.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA1
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import ocsp
from cryptography.x509.oid import AuthorityInformationAccessOID, ExtendedKeyUsageOID

from fe.ecf.certificate import UNREADABLE

#: How far the certifier's clock may be from ours.
_SKEW = timedelta(minutes=5)


class Revocation(StrEnum):
    """Status of a certificate."""

    GOOD = "good"
    REVOKED = "revoked"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Answer:
    """Answer of a certification body, with a text for people."""

    state: Revocation
    says: str


@dataclass(frozen=True, slots=True)
class WhereToAsk:
    """Addresses that a certificate names. Its maker chose them: call only those that are allowed."""

    ocsp: tuple[str, ...]
    crl: tuple[str, ...]


def where_to_ask(certificate: x509.Certificate) -> WhereToAsk:
    """Read the addresses off a certificate; none where it names none, or cannot be read."""
    try:
        extensions = certificate.extensions
    except UNREADABLE:
        return WhereToAsk((), ())
    responders: list[str] = []
    lists: list[str] = []
    for extension in extensions:
        if isinstance(extension.value, x509.AuthorityInformationAccess):
            responders += [
                one.access_location.value
                for one in extension.value
                if one.access_method == AuthorityInformationAccessOID.OCSP
                and isinstance(one.access_location, x509.UniformResourceIdentifier)
            ]
        elif isinstance(extension.value, x509.CRLDistributionPoints):
            names = [name for point in extension.value for name in point.full_name or ()]
            lists += [name.value for name in names if isinstance(name, x509.UniformResourceIdentifier)]
    return WhereToAsk(tuple(responders), tuple(lists))


def ocsp_request(certificate: x509.Certificate, issuer: x509.Certificate) -> bytes:
    """The request to be posted to a responder. SHA-1 only names the issuer in it, which is what all responders know."""
    builder = ocsp.OCSPRequestBuilder().add_certificate(certificate, issuer, SHA1())  # noqa: S303  (a name)
    return builder.build().public_bytes(Encoding.DER)


def read_ocsp(data: bytes, certificate: x509.Certificate, issuer: x509.Certificate, now: datetime) -> Answer:
    """Read a responder's answer about `certificate`, which `issuer` issued."""
    try:
        response = ocsp.load_der_ocsp_response(data)
        if response.response_status is not ocsp.OCSPResponseStatus.SUCCESSFUL:
            return _nothing(f"the responder answers {response.response_status.name.lower()}")
        asked = ocsp.load_der_ocsp_request(ocsp_request(certificate, issuer))
        single = next(
            (
                one
                for one in response.responses
                if one.serial_number == asked.serial_number
                and isinstance(one.hash_algorithm, SHA1)
                and (one.issuer_key_hash, one.issuer_name_hash) == (asked.issuer_key_hash, asked.issuer_name_hash)
            ),
            None,
        )
        if single is None:
            return _nothing("the responder's answer is about another certificate")
        if not _signed_for(response, issuer, now):
            return _nothing("the responder's answer is not signed by the certifier")
        if not _is_fresh(single.this_update_utc, single.next_update_utc, now):
            return _nothing("the responder's answer is out of date")
        if single.certificate_status is ocsp.OCSPCertStatus.REVOKED:
            return _revoked(single.revocation_time_utc)
        if single.certificate_status is ocsp.OCSPCertStatus.GOOD:
            return Answer(Revocation.GOOD, "the certifier's responder says it is good")
    except UNREADABLE:
        return _nothing("the responder's answer cannot be read")
    return _nothing("the responder does not know the certificate")


def read_crl(data: bytes, certificate: x509.Certificate, issuer: x509.Certificate, now: datetime) -> Answer:
    """Look `certificate` up in a certifier's list, in DER or PEM."""
    try:
        is_pem = data.lstrip().startswith(b"-----BEGIN")
        crl = x509.load_pem_x509_crl(data) if is_pem else x509.load_der_x509_crl(data)
        key = issuer.public_key()
        if crl.issuer != issuer.subject or not isinstance(key, RSAPublicKey) or not crl.is_signature_valid(key):
            return _nothing("the list is not signed by the certifier")
        if not _is_fresh(crl.last_update_utc, crl.next_update_utc, now):
            return _nothing("the list is out of date")
        entry = crl.get_revoked_certificate_by_serial_number(certificate.serial_number)
        if entry is None:
            return Answer(Revocation.GOOD, "the certifier's list does not name it")
        return _revoked(entry.revocation_date_utc)
    except UNREADABLE:
        return _nothing("the list cannot be read")


def _signed_for(response: ocsp.OCSPResponse, issuer: x509.Certificate, now: datetime) -> bool:
    """Check that the issuer signed the answer, or a responder that it certified for this."""
    signers = [issuer, *(one for one in response.certificates if _may_answer(one, issuer, now))]
    return any(_signed(response, signer) for signer in signers)


def _may_answer(responder: x509.Certificate, issuer: x509.Certificate, now: datetime) -> bool:
    try:
        responder.verify_directly_issued_by(issuer)
        usage = responder.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except (ValueError, TypeError, InvalidSignature, x509.ExtensionNotFound):
        return False
    in_time = responder.not_valid_before_utc <= now <= responder.not_valid_after_utc
    return in_time and ExtendedKeyUsageOID.OCSP_SIGNING in usage


def _signed(response: ocsp.OCSPResponse, signer: x509.Certificate) -> bool:
    key, algorithm = signer.public_key(), response.signature_hash_algorithm
    if not isinstance(key, RSAPublicKey) or algorithm is None:
        return False
    try:
        key.verify(response.signature, response.tbs_response_bytes, PKCS1v15(), algorithm)
    except InvalidSignature:
        return False
    return True


def _is_fresh(since: datetime, until: datetime | None, now: datetime) -> bool:
    return since <= now + _SKEW and (until is None or now - _SKEW <= until)


def _revoked(at: datetime | None) -> Answer:
    since = f" on {at:%Y-%m-%d}" if at is not None else ""
    return Answer(Revocation.REVOKED, f"the certifier revoked it{since}: ask for a new one")


def _nothing(why: str) -> Answer:
    return Answer(Revocation.UNKNOWN, why)
