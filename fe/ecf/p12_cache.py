"""Cache of .p12 files that were opened before: opening one again takes a twentieth of the time.

Opening one takes 40 to 50 ms, nearly all of it for the check that its key is a good RSA key. The result depends on the
bytes alone, so the same bytes are checked once.
"""

import threading
from collections import OrderedDict
from hashlib import sha256

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_der_private_key
from cryptography.x509 import Certificate

from fe.ecf import p12_cost
from fe.ecf.certificate import Credential, open_p12

#: Files of which the certificate is remembered, some 4 kB each.
_KEPT = 8192


class P12Opener:
    """Opens .p12 files as `open_p12` does, and remembers of each its digest and its certificate: nothing secret.

    Thread-safe.
    """

    def __init__(self, *, kept: int = _KEPT) -> None:
        self._kept = kept
        self._known: OrderedDict[bytes, Certificate] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, data: bytes, passphrase: str | None) -> Credential:
        """Open a file. Raises a CertificateError, as `open_p12`, whether it was opened before or not."""
        digest = sha256(data).digest()
        with self._lock:
            certificate = self._known.get(digest)
            if certificate is not None:
                self._known.move_to_end(digest)
        if certificate is not None and passphrase:
            again = _open_again(data, passphrase, certificate)
            if again is not None:
                return again
        opened = open_p12(data, passphrase)
        with self._lock:
            self._known[digest] = opened.certificate
            while len(self._known) > self._kept:
                self._known.popitem(last=False)
        return opened


def _open_again(data: bytes, passphrase: str, certificate: Certificate) -> Credential | None:
    """Open a file whose key was found good and to belong to this certificate; None where that takes the whole way.

    That is so of a key that stands in it in a form that only the whole way reads, and of another passphrase.
    """
    if "\0" in passphrase:  # to HMAC a passphrase is the same with zeros after it
        return None
    for encrypted in p12_cost.encrypted_keys(data):
        try:
            key = load_der_private_key(encrypted, passphrase.encode(), unsafe_skip_rsa_key_validation=True)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            continue
        if isinstance(key, RSAPrivateKey) and key.public_key() == certificate.public_key():
            return Credential(key, certificate)
    return None
