"""Read X.509 certificates as far as signatures, validity and chains need it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from . import der
from .faults import Broken
from .keys import Key, read_key

#: Signature algorithms by the content of their OIDs: RSA and ECDSA with SHA-2. Older hashes are refused.
ALGORITHMS = {
    "2a864886f70d01010b": "sha256",
    "2a864886f70d01010c": "sha384",
    "2a864886f70d01010d": "sha512",
    "2a8648ce3d040302": "sha256",
    "2a8648ce3d040303": "sha384",
    "2a8648ce3d040304": "sha512",
}
_BASIC_CONSTRAINTS, _EXTENDED_USAGE = "551d13", "551d25"
_TIME_STAMPING = "2b06010505070308"
_COMMON_NAME = "550403"


@dataclass(frozen=True)
class Certificate:
    """A certificate. `issuer` and `subject` are DER, so that names compare byte by byte."""

    raw: bytes
    signed: bytes
    algorithm: str
    signature: bytes
    serial: int
    issuer: bytes
    subject: bytes
    not_before: datetime
    not_after: datetime
    key: Key
    is_ca: bool
    stamps_time: bool

    def is_valid_at(self, at: datetime) -> bool:
        """Whether a time is within the validity."""
        return self.not_before <= at <= self.not_after

    def issued(self, other: "Certificate") -> bool:
        """Whether this certificate's key signed the other."""
        digest = ALGORITHMS.get(other.algorithm)
        if digest is None or not self.is_ca or self.subject != other.issuer:
            return False
        return self.key.verifies(other.signature, other.signed, digest)

    @property
    def name(self) -> str:
        """The subject's common name, for people."""
        try:
            for part in der.read(self.subject).parts():
                for pair in part.parts(der.SET):
                    kind, text = pair.parts()
                    if kind.oid() == _COMMON_NAME:
                        return text.content.decode("utf-8", "replace")
        except ValueError:
            pass
        return "?"


@lru_cache(maxsize=256)  # one certificate signs many documents
def read_certificate(raw: bytes) -> Certificate:
    """Read a certificate in DER. Raises Broken."""
    try:
        signed, algorithm, signature = der.read(raw).parts()
        parts = signed.parts()
        if parts[0].tag == 0xA0:
            del parts[0]
        serial, inner, issuer, validity, subject, info, *more = parts
        not_before, not_after = (one.time() for one in validity.parts())
        extensions = _extensions(more)
        if inner.raw != algorithm.raw:
            raise Broken("the certificate names two algorithms")
        return Certificate(
            raw=raw,
            signed=signed.raw,
            algorithm=algorithm.parts()[0].oid(),
            signature=signature.bits(),
            serial=serial.integer(),
            issuer=issuer.expect(der.SEQUENCE).raw,
            subject=subject.expect(der.SEQUENCE).raw,
            not_before=not_before,
            not_after=not_after,
            key=read_key(info),
            is_ca=_is_ca(extensions.get(_BASIC_CONSTRAINTS)),
            stamps_time=_stamps_time(extensions.get(_EXTENDED_USAGE)),
        )
    except (ValueError, IndexError) as wrong:
        raise Broken(f"a certificate cannot be read: {wrong}") from None


def _extensions(more: Sequence[der.Value]) -> dict[str, bytes]:
    found = {}
    for outer in more:
        if outer.tag == 0xA3:
            (listed,) = outer.parts(0xA3)
            for one in listed.parts():
                kind, *_, content = one.parts()
                found[kind.oid()] = content.expect(der.OCTET_STRING).content
    return found


def _is_ca(raw: "bytes | None") -> bool:
    parts = der.read(raw).parts() if raw is not None else []
    return bool(parts) and parts[0].tag == der.BOOLEAN and parts[0].content == b"\xff"


def _stamps_time(raw: "bytes | None") -> bool:
    return raw is not None and [one.oid() for one in der.read(raw).parts()] == [_TIME_STAMPING]


def faults_of_chain(signer: Certificate, chain: Sequence[Certificate], at: datetime) -> "str | None":
    """Say why a signer's certificate, or one above it, did not hold at a time; None if all did."""
    if not signer.is_valid_at(at):
        # Each with its offset from UTC: certificates are in UTC, documents in the time of Santo Domingo.
        start, end, signed = (one.isoformat(" ", "seconds") for one in (signer.not_before, signer.not_after, at))
        return f"valid {start} to {end}, signed {signed}"
    below = signer
    for one in chain:
        if not one.issued(below):
            return f"{below.name} was not issued by {one.name}"
        if not one.is_valid_at(at):
            return f"{one.name} was not valid"
        below = one
    return None
