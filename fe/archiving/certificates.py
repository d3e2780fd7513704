"""The certificate chain of a signed document, from the certification authorities that the installation knows."""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding

from fe.archive.evidence import Addition, Evidence, SignerEvidence
from fe.cache import ExpiringCache

_CERTIFICATE = re.compile(rb"<(?:[A-Za-z]+:)?X509Certificate>([^<]+)<")
#: Certificates from a leaf to its root.
_LONGEST = 6
_REMEMBERED = 1000


class Chains:
    """Finds chains; remembers those of recent signers. One thread at a time."""

    def __init__(self, certifiers: Sequence[x509.Certificate]) -> None:
        self._certifiers = certifiers
        self._known: ExpiringCache[bytes, SignerEvidence] = ExpiringCache(_REMEMBERED)

    def add_to(self, evidence: Evidence) -> Evidence:
        """Return the evidence with the chain of its signer, as far as the authorities are known."""
        if isinstance(evidence, Addition) or not self._certifiers:
            return evidence
        return replace(evidence, signer=self._of(evidence.signed))

    def _of(self, signed: bytes) -> SignerEvidence:
        found = _CERTIFICATE.search(signed)
        if found is None:
            return SignerEvidence()
        digest = sha256(found[1]).digest()
        known = self._known.get(digest)
        if known is None:
            known = SignerEvidence(tuple(self._chain(found[1])))
            self._known.put(digest, known)
        return known

    def _chain(self, encoded: bytes) -> list[bytes]:
        try:
            one = x509.load_der_x509_certificate(b64decode(encoded))
        except (ValueError, NotBase64):
            return []
        chain: list[bytes] = []
        while len(chain) < _LONGEST and one.issuer != one.subject:
            issuer = next((each for each in self._certifiers if _issued(each, one)), None)
            if issuer is None:
                break
            chain.append(issuer.public_bytes(Encoding.DER))
            one = issuer
        return chain


def _issued(issuer: x509.Certificate, one: x509.Certificate) -> bool:
    try:
        one.verify_directly_issued_by(issuer)
    except (ValueError, TypeError, InvalidSignature, UnsupportedAlgorithm):
        return False
    return True
