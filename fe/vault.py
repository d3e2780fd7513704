"""Secrets at rest: .p12 files, passphrases and webhook secrets lie encrypted, and the database alone cannot open them.

Envelope encryption: each secret has its own random data key (AES-256-GCM); the data key is wrapped by a key-encryption
key that comes from a file or the environment. What an encrypted value belongs to (tenant, id, purpose) is authenticated
with it, so a value copied to another row does not open.
"""

import json
import os
from dataclasses import dataclass

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from fe.identifiers import TenantId

#: What the secrets of a certificate are for: whoever encrypts one and whoever decrypts it must say the same.
P12_PURPOSE = "p12"
PASSPHRASE_PURPOSE = "p12-passphrase"  # noqa: S105  (what the secret is for, not the secret)

_FORMAT = 1
_NONCE = 12
_WRAPPED_KEY = 32 + 16
_LONGEST_ID = 255


class VaultError(Exception):
    """An encrypted value could not be opened; the message never tells of its content."""


class UnknownKek(VaultError):
    """The value was encrypted under a key-encryption key that is not configured here."""

    def __init__(self, kek_id: str) -> None:
        super().__init__(f"the key-encryption key {kek_id!r} is not configured: add it to FE_KEK")
        self.kek_id = kek_id


class Tampered(VaultError):
    """The value, or what it is said to belong to, is not what was encrypted."""

    def __init__(self) -> None:
        super().__init__("an encrypted value does not belong to this row, or was changed")


@dataclass(frozen=True, slots=True)
class Belongs:
    """What an encrypted value belongs to."""

    tenant_id: TenantId
    secret_id: str
    purpose: str

    @property
    def associated_data(self) -> bytes:
        """The bytes that are authenticated with the value: never the same for two owners, whatever their ids hold."""
        return json.dumps(["fe", self.tenant_id, self.secret_id, self.purpose]).encode()


class Vault:
    """Encrypts and decrypts. Thread-safe; an encrypted value says which key-encryption key it needs."""

    def __init__(self, keks: dict[str, bytes]) -> None:
        """Take the key-encryption keys by id; the first encrypts, all decrypt."""
        if not keks:
            raise ValueError("a vault needs at least one key-encryption key")
        if any(len(kek_id.encode()) > _LONGEST_ID for kek_id in keks):
            raise ValueError(f"the id of a key-encryption key may have at most {_LONGEST_ID} bytes")
        self._keks = {kek_id: AESGCM(key[:32]) for kek_id, key in keks.items()}
        self._current = next(iter(keks))

    @property
    def current(self) -> str:
        """The id of the key-encryption key that encrypts."""
        return self._current

    def encrypt(self, secret: bytes, belongs: Belongs) -> bytes:
        """Encrypt `secret` for the row it belongs to."""
        data_key = AESGCM.generate_key(bit_length=256)
        return self._pack(self._current, data_key, self._encrypt(data_key, secret, belongs), belongs)

    def decrypt(self, encrypted: bytes, belongs: Belongs) -> bytes:
        """Decrypt. Raises UnknownKek or Tampered."""
        kek_id, wrapped, body = _unpack(encrypted)
        data_key = self._unwrap(kek_id, wrapped, belongs)
        try:
            return AESGCM(data_key).decrypt(body[:_NONCE], body[_NONCE:], belongs.associated_data)
        except InvalidTag:
            raise Tampered from None

    def rewrap(self, encrypted: bytes, belongs: Belongs) -> bytes:
        """Wrap the data key under the current key-encryption key; the secret itself is not decrypted."""
        kek_id, wrapped, body = _unpack(encrypted)
        return self._pack(self._current, self._unwrap(kek_id, wrapped, belongs), body, belongs)

    @staticmethod
    def kek_of(encrypted: bytes) -> str:
        """Name the key-encryption key that a value needs. Raises Tampered when it is no encrypted value."""
        return _unpack(encrypted)[0]

    @staticmethod
    def _encrypt(data_key: bytes, secret: bytes, belongs: Belongs) -> bytes:
        nonce = os.urandom(_NONCE)
        return nonce + AESGCM(data_key).encrypt(nonce, secret, belongs.associated_data)

    def _pack(self, kek_id: str, data_key: bytes, body: bytes, belongs: Belongs) -> bytes:
        nonce = os.urandom(_NONCE)
        name = kek_id.encode()
        wrapped = self._keks[kek_id].encrypt(nonce, data_key, b"dek:" + belongs.associated_data)
        return bytes([_FORMAT, len(name)]) + name + nonce + wrapped + body

    def _unwrap(self, kek_id: str, wrapped: bytes, belongs: Belongs) -> bytes:
        kek = self._keks.get(kek_id)
        if kek is None:
            raise UnknownKek(kek_id)
        try:
            return kek.decrypt(wrapped[:_NONCE], wrapped[_NONCE:], b"dek:" + belongs.associated_data)
        except InvalidTag:
            raise Tampered from None


def _unpack(encrypted: bytes) -> tuple[str, bytes, bytes]:
    """Split into key id, wrapped data key (with its nonce), and body (with its nonce)."""
    if len(encrypted) < 2 or encrypted[0] != _FORMAT:
        raise Tampered
    start = 2 + encrypted[1]
    end = start + _NONCE + _WRAPPED_KEY
    if len(encrypted) < end + _NONCE + 16:
        raise Tampered
    try:
        kek_id = encrypted[2:start].decode()
    except UnicodeDecodeError:
        raise Tampered from None
    return kek_id, encrypted[start:end], encrypted[end:]
