"""Secrets at rest: .p12 files, passphrases and webhook secrets lie encrypted, and the database alone cannot open them.

Envelope encryption: each secret has its own random data key (AES-256-GCM), wrapped by a key-encryption key that comes
from a file or the environment, or stays in a token (fe/secrets/hsm.py). Tenant, id and purpose are authenticated with
the value, so a value copied to another row does not open.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from fe.identifiers import TenantId

#: Purposes of a certificate's secrets, bound to the ciphertext.
P12_PURPOSE = "p12"
PASSPHRASE_PURPOSE = "p12-passphrase"  # noqa: S105  (what the secret is for, not the secret)
#: And what those of webhooks are for.
WEBHOOK_SECRET_PURPOSE = "webhook-secret"  # noqa: S105  (likewise)
WEBHOOK_HEADERS_PURPOSE = "webhook-headers"
#: Purpose of one-time password seeds.
TOTP_PURPOSE = "totp-seed"

#: 1: what a value belongs to is authenticated. 2: its format too, so that it cannot be passed off as another's.
_FORMATS = (1, 2)
#: Format version that is written. The previous release reads no other; the next one may write 2.
_WRITTEN = 1
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
    """The encrypted value or its associated data was changed."""

    def __init__(self) -> None:
        super().__init__("an encrypted value does not belong to this row, or was changed")


@dataclass(frozen=True, slots=True)
class Belongs:
    """Owner and purpose that an encrypted value is bound to."""

    tenant_id: TenantId
    secret_id: str
    purpose: str

    def associated_data(self, version: int) -> bytes:
        """The bytes that are authenticated with the value: never the same for two owners, whatever their ids hold.

        Nor for two formats: from the second on, its number is among them.
        """
        which = [] if version == 1 else [version]
        return json.dumps(["fe", *which, self.tenant_id, self.secret_id, self.purpose]).encode()


class KeyEncryptionKey(Protocol):
    """Wraps data keys with AES-256-GCM, wherever the key is kept; a key that moves opens old values."""

    def wrap(self, nonce: bytes, data_key: bytes, associated: bytes) -> bytes:
        """Wrap a data key. Raises VaultError."""

    def unwrap(self, nonce: bytes, wrapped: bytes, associated: bytes) -> bytes:
        """Unwrap a key. Raises Tampered if it or its associated data was changed; VaultError."""

    def root(self, purpose: bytes) -> bytes:
        """Derive a secret for other keys from this key."""


@dataclass(frozen=True, slots=True, repr=False)
class KeyInMemory:
    """A key-encryption key that this process has."""

    key: bytes

    def wrap(self, nonce: bytes, data_key: bytes, associated: bytes) -> bytes:
        """Wrap a data key."""
        return AESGCM(self.key[:32]).encrypt(nonce, data_key, associated)

    def unwrap(self, nonce: bytes, wrapped: bytes, associated: bytes) -> bytes:
        """Unwrap it. Raises Tampered."""
        try:
            return AESGCM(self.key[:32]).decrypt(nonce, wrapped, associated)
        except InvalidTag:
            raise Tampered from None

    def root(self, purpose: bytes) -> bytes:
        """Give the key itself: the derivation names the purpose."""
        return self.key


class Vault:
    """Encrypts and decrypts. Thread-safe; an encrypted value says which key-encryption key it needs."""

    def __init__(self, keks: Mapping[str, bytes | KeyEncryptionKey], *, writes: int = _WRITTEN) -> None:
        """Take the key-encryption keys by id; the first encrypts, all decrypt. `writes` is the format of new values."""
        if not keks:
            raise ValueError("a vault needs at least one key-encryption key")
        if any(len(kek_id.encode()) > _LONGEST_ID for kek_id in keks):
            raise ValueError(f"the id of a key-encryption key may have at most {_LONGEST_ID} bytes")
        self._keks: dict[str, KeyEncryptionKey] = {
            kek_id: KeyInMemory(key) if isinstance(key, bytes) else key for kek_id, key in keks.items()
        }
        self._current = next(iter(keks))
        self._writes = writes

    @property
    def current(self) -> str:
        """The id of the key-encryption key that encrypts."""
        return self._current

    @property
    def key_ids(self) -> tuple[str, ...]:
        """The ids of all key-encryption keys, the one that encrypts first."""
        return tuple(self._keks)

    def try_key(self, kek_id: str) -> None:
        """See that a key-encryption key works. Raises VaultError."""
        nonce, data_key = os.urandom(_NONCE), os.urandom(32)
        kek = self._keks[kek_id]
        if kek.unwrap(nonce, kek.wrap(nonce, data_key, b"try"), b"try") != data_key:
            raise Tampered

    def roots(self, purpose: bytes) -> dict[str, bytes]:
        """Give the secrets that the keys of `purpose` are derived from, by the ids of the key-encryption keys."""
        return {kek_id: kek.root(purpose) for kek_id, kek in self._keks.items()}

    def encrypt(self, secret: bytes, belongs: Belongs) -> bytes:
        """Encrypt `secret` for the row it belongs to."""
        data_key, nonce = AESGCM.generate_key(bit_length=256), os.urandom(_NONCE)
        body = nonce + AESGCM(data_key).encrypt(nonce, secret, belongs.associated_data(self._writes))
        return self._pack(self._writes, self._current, data_key, body, belongs)

    def decrypt(self, encrypted: bytes, belongs: Belongs) -> bytes:
        """Decrypt. Raises UnknownKek or Tampered."""
        packed = _unpack(encrypted)
        data_key, body = self._unwrap(packed, belongs), packed.body
        try:
            return AESGCM(data_key).decrypt(body[:_NONCE], body[_NONCE:], belongs.associated_data(packed.version))
        except InvalidTag:
            raise Tampered from None

    def rewrap(self, encrypted: bytes, belongs: Belongs) -> bytes:
        """Wrap the data key under the current key-encryption key; the secret itself is not decrypted.

        The format stays as it is, because the secret was encrypted with it.
        """
        packed = _unpack(encrypted)
        return self._pack(packed.version, self._current, self._unwrap(packed, belongs), packed.body, belongs)

    @staticmethod
    def kek_of(encrypted: bytes) -> str:
        """Name the key-encryption key that a value needs. Raises Tampered when it is no encrypted value."""
        return _unpack(encrypted).kek_id

    def _pack(self, version: int, kek_id: str, data_key: bytes, body: bytes, belongs: Belongs) -> bytes:
        nonce = os.urandom(_NONCE)
        name = kek_id.encode()
        wrapped = self._keks[kek_id].wrap(nonce, data_key, b"dek:" + belongs.associated_data(version))
        return bytes([version, len(name)]) + name + nonce + wrapped + body

    def _unwrap(self, packed: "_Packed", belongs: Belongs) -> bytes:
        kek = self._keks.get(packed.kek_id)
        if kek is None:
            raise UnknownKek(packed.kek_id)
        nonce, wrapped = packed.wrapped[:_NONCE], packed.wrapped[_NONCE:]
        return kek.unwrap(nonce, wrapped, b"dek:" + belongs.associated_data(packed.version))


@dataclass(frozen=True, slots=True)
class _Packed:
    """The parts of an encrypted value."""

    version: int
    kek_id: str
    #: The data key, wrapped, with its nonce before it.
    wrapped: bytes
    #: The secret, encrypted, with its nonce before it.
    body: bytes


def _unpack(encrypted: bytes) -> _Packed:
    """Take an encrypted value apart. Raises Tampered."""
    if len(encrypted) < 2 or encrypted[0] not in _FORMATS:
        raise Tampered
    start = 2 + encrypted[1]
    end = start + _NONCE + _WRAPPED_KEY
    if len(encrypted) < end + _NONCE + 16:
        raise Tampered
    try:
        kek_id = encrypted[2:start].decode()
    except UnicodeDecodeError:
        raise Tampered from None
    return _Packed(encrypted[0], kek_id, encrypted[start:end], encrypted[end:])
