"""Keys and secrets in settings: parsing and checks."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, SecretStr

from fe.config.errors import ConfigError


def _key(value: str, longest: int) -> bytes:
    """Parse a key of 32 to `longest` random bytes. Raises ValueError with the expected form, never the value."""
    try:
        key = bytes.fromhex(value)
    except ValueError:
        key = b""
    if len(key) < 32:
        raise ValueError("should be at least 64 hexadecimal characters (32 random bytes)")
    if len(key) > longest:
        # The part of a longer key that counted so far: its first 32 bytes for AES, its hash for HMAC.
        instead = (
            "the first 64 of them are what was used so far" if longest == 32 else "the SHA-256 of it does the same"
        )
        raise ValueError(f"should be at most {2 * longest} hexadecimal characters: {instead}")
    if len(set(key)) == 1:
        raise ValueError("is one byte over and over: make it with `openssl rand -hex 32`")
    return key


def _named(value: SecretStr, longest: int) -> SecretStr:
    keys: dict[str, bytes] = {}
    for entry in value.get_secret_value().split(","):
        name, _, key = entry.strip().partition(":")
        if not name or not key:
            raise ValueError("should be `id:hex[,id:hex]`, the first being the one in use")
        if name in keys:
            raise ValueError("should have each id once")
        read = _key(key, longest)
        if read in keys.values():
            raise ValueError("should have each key once: two ids have the same")
        keys[name] = read
    return value


def _peppers(value: SecretStr) -> SecretStr:
    """Like named keys, but one may have no id: the only one there was before there were ids."""
    text = value.get_secret_value()
    entries = [entry if ":" in entry else f"-:{entry.strip()}" for entry in text.split(",")]
    _named(SecretStr(",".join(entries)), 64)
    return value


def _named_keys(value: SecretStr) -> SecretStr:
    return _named(value, 64)


def key_encryption_keys(value: SecretStr) -> SecretStr:
    """Check key-encryption keys. Raises ValueError."""
    return _named(value, 32)


def _one_line(value: SecretStr) -> SecretStr:
    """A secret that others made. A file that it comes from may end it with a line's end."""
    line = value.get_secret_value().strip()
    if not line:
        raise ValueError("is empty: leave it out where there is none")
    if not (line.isascii() and line.isprintable()):
        raise ValueError("should be one line of visible ASCII")
    return SecretStr(line)


def _one_word(value: SecretStr) -> SecretStr:
    """Check a secret that goes into a header: one word."""
    word = _one_line(value)
    if " " in word.get_secret_value():
        raise ValueError("should be one word")
    return word


#: A client's secret may have blanks in it (RFC 6749, appendix A.2).
Line = Annotated[SecretStr, AfterValidator(_one_line)]
Word = Annotated[SecretStr, AfterValidator(_one_word)]
Peppers = Annotated[SecretStr, AfterValidator(_peppers)]
NamedKeys = Annotated[SecretStr, AfterValidator(_named_keys)]
KeyEncryptionKeys = Annotated[SecretStr, AfterValidator(key_encryption_keys)]


def named_keys(text: str) -> dict[str, bytes]:
    """Read `id:hex[,id:hex]`, in its order."""
    pairs = (entry.strip().partition(":") for entry in text.split(","))
    return {name: bytes.fromhex(key) for name, _, key in pairs}


def require(secret: SecretStr | None, name: str) -> str:
    """Give out a secret that this process cannot do without."""
    if secret is None:
        raise ConfigError(f"{name} is not set (FE_DEVELOPMENT=1 makes one up and keeps it in FE_DATA_DIR)")
    return secret.get_secret_value()


def read_key_file(path: Path, *, encoding: str = "ascii") -> str:
    """Read a file that holds keys. Raises ValueError when others may read it or a group change it, OSError."""
    with path.open(encoding=encoding) as file:
        mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
        if mode & (stat.S_IRWXO | stat.S_IWGRP | stat.S_IXGRP):
            raise ValueError(
                f"others may read or change it (mode {mode:04o}): chmod 600, or 640 for a group of its own"
            )
        return file.read().strip()


def require_different(secrets_by_name: Mapping[str, Mapping[str, bytes]]) -> None:
    """Check that no key serves two purposes. Raises ConfigError naming both."""
    seen: dict[bytes, str] = {}
    for name, keys in secrets_by_name.items():
        for key in keys.values():
            other = seen.setdefault(key[:32], name)
            if other != name:
                raise ConfigError(f"{other} and {name} have the same key: each needs one of its own")
