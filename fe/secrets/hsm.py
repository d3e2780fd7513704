"""Key-encryption keys in memory, or in an HSM that never reveals them.

PKCS #11 with the maker's library; the extra `fe[pkcs11]` installs the binding. The HSM does the same AES-256-GCM over
the data key as memory does, so an imported key opens values from before the import.
"""

import contextlib
import hashlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from fe.config import ConfigError, Settings, read_key_file
from fe.process.hardening import close_memory
from fe.secrets.vault import KeyEncryptionKey, KeyInMemory, Tampered, Vault, VaultError

T = TypeVar("T")

_NEEDED = "FE_PKCS11_MODULE, FE_PKCS11_TOKEN, FE_PKCS11_KEYS and FE_PKCS11_PIN_FILE"
_TAG_BITS = 128
#: Fixed nonce for derived keys; the result is never shown. Encrypted values have random nonces.
_NO_NONCE = bytes(12)


class TokenAway(VaultError):
    """The token cannot be asked, or refuses: nothing is known of the value. Trying later may help."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the token with the key-encryption keys cannot be used: {reason}")


def open_vault(settings: Settings) -> Vault:
    """Open the vault of the settings: keys in the token first, then those of FE_KEK or its file.

    Closes this process's memory to other processes (unless FE_DUMPABLE is set). Does not talk to the token yet: forked
    processes must each open it themselves. Raises ConfigError.
    """
    if not settings.dumpable:
        close_memory()
    keys: dict[str, KeyEncryptionKey] = {}
    if token := _token(settings):
        keys |= {label: KeyInToken(token, label) for label in settings.pkcs11_labels()}
    if settings.kek is not None or not keys:
        for name, key in settings.keks().items():
            if name in keys:
                raise ConfigError(f"FE_PKCS11_KEYS and FE_KEK both have a key {name!r}: a value could need either")
            keys[name] = KeyInMemory(key)
    return Vault(keys)


def require_usable(vault: Vault) -> None:
    """See that every key can wrap and unwrap. Raises ConfigError, naming the first that cannot."""
    for name in vault.key_ids:
        try:
            vault.try_key(name)
        except VaultError as error:
            raise ConfigError(f"key-encryption key {name!r}: {error}") from error


def _token(settings: Settings) -> "Pkcs11Token | None":
    given = (settings.pkcs11_module, settings.pkcs11_token, settings.pkcs11_labels(), settings.pkcs11_pin_file)
    if not any(given):
        return None
    module, label, labels, pin_file = given
    if not (module and label and labels and pin_file):
        raise ConfigError(f"{_NEEDED} belong together: all of them, or none")
    try:
        pin = read_key_file(pin_file)
    except (OSError, ValueError) as error:
        raise ConfigError(f"FE_PKCS11_PIN_FILE {pin_file}: {error}") from error
    return Pkcs11Token(module, label, pin)


@dataclass
class Pkcs11Token:
    """A token, one session of it for each process. Thread-safe: one call at a time, each well under a millisecond."""

    module: Path
    label: str
    pin: str

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._session: Any = None
        self._of_process = 0

    def with_key(self, label: str, work: Callable[[Any], T]) -> T:
        """Do `work` with the secret key of this label; once more in a new session when the first was lost.

        Raises TokenAway, or what `work` raises of its own.
        """
        pkcs11 = _binding()
        with self._lock:
            for is_last in (False, True):
                try:
                    return work(self._key(pkcs11, label))
                except pkcs11.exceptions.PKCS11Error as error:
                    self._forget()
                    if is_last:
                        raise TokenAway(_words(error)) from error
        raise AssertionError

    def _key(self, pkcs11: Any, label: str) -> Any:
        if self._session is None or self._of_process != os.getpid():
            self._open(pkcs11)
        return self._session.get_key(
            object_class=pkcs11.ObjectClass.SECRET_KEY, key_type=pkcs11.KeyType.AES, label=label
        )

    def _open(self, pkcs11: Any) -> None:
        library = pkcs11.lib(str(self.module))
        if self._of_process not in (0, os.getpid()):
            library.reinitialize()  # its sessions are the parent's
        token = library.get_token(token_label=self.label)
        try:
            self._session = token.open(user_pin=self.pin)
        except pkcs11.exceptions.UserAlreadyLoggedIn:  # in this process, by another session
            self._session = token.open()
        self._of_process = os.getpid()

    def _forget(self) -> None:
        session, self._session = self._session, None
        if session is not None and self._of_process == os.getpid():
            with contextlib.suppress(Exception):  # it may be what is wrong
                session.close()


@dataclass(frozen=True)
class KeyInToken:
    """A 256-bit AES key of a token."""

    token: Pkcs11Token
    label: str

    def wrap(self, nonce: bytes, data_key: bytes, associated: bytes) -> bytes:
        """Wrap a data key."""
        how = _gcm(nonce, associated)
        return self.token.with_key(self.label, lambda key: bytes(key.encrypt(data_key, **how)))

    def unwrap(self, nonce: bytes, wrapped: bytes, associated: bytes) -> bytes:
        """Unwrap it. Raises Tampered, and TokenAway.

        Tokens do not agree on what they say of a value that was changed. So where one refuses, it is asked to open
        something of its own: if it can, it is the value that is wrong.
        """
        how = _gcm(nonce, associated)
        try:
            return self.token.with_key(self.label, lambda key: bytes(key.decrypt(wrapped, **how)))
        except TokenAway:
            probe = os.urandom(12)
            again = _gcm(probe, b"probe")
            self.token.with_key(self.label, lambda key: key.decrypt(key.encrypt(bytes(32), **again), **again))
            raise Tampered from None

    def root(self, purpose: bytes) -> bytes:
        """Derive 32 bytes from this key, always the same for one purpose."""
        how = _gcm(_NO_NONCE, b"derive:" + purpose)
        made = self.token.with_key(self.label, lambda key: bytes(key.encrypt(bytes(32), **how)))
        return hashlib.sha256(made).digest()


def _gcm(nonce: bytes, associated: bytes) -> dict[str, Any]:
    pkcs11 = _binding()
    return {
        "mechanism": pkcs11.Mechanism.AES_GCM,
        "mechanism_param": pkcs11.GCMParams(nonce, associated, _TAG_BITS),
    }


def _binding() -> Any:
    try:
        import pkcs11  # here: an extra that few installations have
    except ImportError:
        raise TokenAway("the binding is not installed: pip install 'fe[pkcs11]'") from None
    return pkcs11


def _words(error: Exception) -> str:
    """Return the token's error by its standard name, without the PIN."""
    return f"{type(error).__name__}{f' ({error})' if str(error) else ''}"
