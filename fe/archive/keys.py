"""The installation's archive key: an RSA key that signs manifests."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_der_private_key,
)

MIN_KEY_BITS, MAX_KEY_BITS = 3072, 8192


class NotAnArchiveKey(ValueError):
    """No RSA key of 3,072 to 8,192 bits in PKCS #8."""


class ArchiveKey(Protocol):
    """Signs manifests; the private part may be in a token."""

    @property
    def public_der(self) -> bytes:
        """The public key, SubjectPublicKeyInfo in DER."""

    def sign(self, data: bytes) -> bytes:
        """Sign with RSASSA-PKCS1-v1_5 and SHA-256."""


def key_id(public_der: bytes) -> str:
    """Return the id of a key: SHA-256 of its SubjectPublicKeyInfo, in hexadecimal."""
    return sha256(public_der).hexdigest()


@dataclass(frozen=True)
class MemoryKey:
    """An archive key in memory. Its representation does not show the key."""

    private: RSAPrivateKey

    def __repr__(self) -> str:
        return f"MemoryKey({key_id(self.public_der)})"

    @classmethod
    def generate(cls, bits: int = MIN_KEY_BITS) -> "MemoryKey":
        """Make a new key."""
        return cls(generate_private_key(65537, bits))

    @classmethod
    def from_der(cls, data: bytes) -> "MemoryKey":
        """Read an unencrypted PKCS #8 key in DER. Raises NotAnArchiveKey."""
        try:
            key = load_der_private_key(data, None)
        except (ValueError, TypeError):
            raise NotAnArchiveKey("the archive key cannot be read") from None
        if not isinstance(key, RSAPrivateKey) or not MIN_KEY_BITS <= key.key_size <= MAX_KEY_BITS:
            raise NotAnArchiveKey(f"the archive key is not RSA of {MIN_KEY_BITS} to {MAX_KEY_BITS} bits")
        return cls(key)

    def to_der(self) -> bytes:
        """Return the key as unencrypted PKCS #8 in DER: a secret."""
        return self.private.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())

    @cached_property
    def public_der(self) -> bytes:
        """The public key, SubjectPublicKeyInfo in DER."""
        return self.private.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)

    def sign(self, data: bytes) -> bytes:
        """Sign with RSASSA-PKCS1-v1_5 and SHA-256."""
        # hashlib leaves the interpreter to other threads, and a manifest has megabytes.
        return self.private.sign(sha256(data).digest(), PKCS1v15(), Prehashed(SHA256()))
