"""Check a time stamp: an RFC 3161 token, whose signer's certificate is inside it."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from . import der
from .certificates import ALGORITHMS, Certificate, read_certificate
from .faults import Broken
from .keys import RsaKey

_SIGNED_DATA = "2a864886f70d010702"
_TST_INFO = "2a864886f70d0109100104"
_CONTENT_TYPE, _MESSAGE_DIGEST = "2a864886f70d010903", "2a864886f70d010904"
_DIGESTS = {"608648016503040201": "sha256", "608648016503040202": "sha384", "608648016503040203": "sha512"}
_RSA = "2a864886f70d010101"


@dataclass(frozen=True)
class TimeStamp:
    """A token whose signature holds: when, by whom, and the certificates that came with it."""

    at: datetime
    signer: Certificate
    certificates: tuple[Certificate, ...]


def read_time_stamp(raw: bytes, imprint: bytes) -> TimeStamp:
    """Check a TimeStampToken about a SHA-256 digest. Raises Broken."""
    try:
        return _read(raw, imprint)
    except (ValueError, IndexError) as wrong:
        raise Broken(f"the time stamp does not hold: {wrong}") from None


def _read(raw: bytes, imprint: bytes) -> TimeStamp:
    kind, wrapped = der.read(raw).parts()
    (signed,) = wrapped.parts(0xA0)
    if kind.oid() != _SIGNED_DATA:
        raise Broken("it is no signed data")
    _, _, content, *rest = signed.parts()
    content_kind, content_wrapped = content.parts()
    (octets,) = content_wrapped.parts(0xA0)
    info_raw = octets.expect(der.OCTET_STRING).content
    if content_kind.oid() != _TST_INFO:
        raise Broken("its content is no time stamp")
    certificates = tuple(read_certificate(one.raw) for part in rest if part.tag == 0xA0 for one in part.parts(0xA0))
    (signer_info,) = rest[-1].parts(der.SET)
    at = _info(info_raw, imprint)
    return TimeStamp(at, _signer(signer_info, info_raw, certificates, at), certificates)


def _info(raw: bytes, imprint: bytes) -> datetime:
    _, _, message, _, at, *_ = der.read(raw).parts()
    algorithm, digest = message.parts()
    if _DIGESTS.get(algorithm.parts()[0].oid()) != "sha256" or digest.expect(der.OCTET_STRING).content != imprint:
        raise Broken("it is about something else")
    return at.time()


def _signer(info: der.Value, content: bytes, certificates: Sequence[Certificate], at: datetime) -> Certificate:
    _, name, hashing, attributes, algorithm, signature, *_ = info.parts()
    issuer, serial = name.parts()
    digest = _DIGESTS.get(hashing.parts()[0].oid())
    if digest is None:
        raise Broken("its digest is not SHA-2")
    values = {}
    for attribute in attributes.parts(0xA0):
        kind, listed = attribute.parts()
        values[kind.oid()] = listed.parts(der.SET)
    (content_type,), (told,) = values.get(_CONTENT_TYPE, []), values.get(_MESSAGE_DIGEST, [])
    if content_type.oid() != _TST_INFO:
        raise Broken("it was signed as something else")
    if told.expect(der.OCTET_STRING).content != hashlib.new(digest, content).digest():
        raise Broken("its content was changed")
    signer = next((c for c in certificates if (c.issuer, c.serial) == (issuer.raw, serial.integer())), None)
    if signer is None or not signer.stamps_time or not signer.is_valid_at(at):
        raise Broken("its signer's certificate is not there, not for time stamps, or was not valid")
    used = algorithm.parts()[0].oid()
    hashed = digest if used == _RSA and isinstance(signer.key, RsaKey) else ALGORITHMS.get(used)
    covered = b"\x31" + attributes.raw[1:]
    if hashed is None or not signer.key.verifies(signature.expect(der.OCTET_STRING).content, covered, hashed):
        raise Broken("its signature is not its signer's")
    return signer
