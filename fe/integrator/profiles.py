"""Stored API keys: one file per profile with its token, readable by its owner only.

A file that other users can read is rejected, not repaired: its secret may have leaked and must be replaced. Files are
written beside and renamed, so that two commands renewing a token at once leave one good file.
"""

import json
import os
import re
import stat
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from fe.cli.failures import CONFIGURATION, Failure
from fe.ecf.json_text import write_canonical_json
from fe.integrator.language import say

#: The variable that names a profile where `--profile` does not.
VARIABLE = "FE_PROFILE"
USUAL = "default"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class Profile:
    """An API and a key for it."""

    name: str
    #: With its prefix, without a slash at the end.
    base_url: str
    api_key_id: str
    api_secret: str = field(repr=False)
    #: Of the key, as the login said.
    environment: str


@dataclass(frozen=True, slots=True)
class StoredToken:
    """A token, and when it is over."""

    access_token: str = field(repr=False)
    until: datetime


def is_name(text: str) -> bool:
    """Return whether a profile may have this name: it becomes a file name."""
    return _NAME.fullmatch(text) is not None


def folder() -> Path:
    """The folder of the profiles: `fe/profiles` in XDG_CONFIG_HOME, or in `~/.config`. Raises Failure for none."""
    configured = os.environ.get("XDG_CONFIG_HOME", "")
    # The specification: a relative path is to be ignored.
    if configured.startswith("/"):
        return Path(configured) / "fe" / "profiles"
    try:
        return Path.home() / ".config" / "fe" / "profiles"
    except RuntimeError:  # a container's user that the system does not know
        raise Failure(
            say(
                "there is no home folder to keep keys in: set HOME, or XDG_CONFIG_HOME",
                "no hay una carpeta personal para guardar claves: defina HOME o XDG_CONFIG_HOME",
            ),
            CONFIGURATION,
        ) from None


def save(profile: Profile) -> Path:
    """Store a profile, replacing one of that name with its token. Returns the file."""
    with suppress(FileNotFoundError):
        _token_file(profile.name).unlink()
    fields = {
        "baseUrl": profile.base_url,
        "apiKeyId": profile.api_key_id,
        "apiSecret": profile.api_secret,
        "environment": profile.environment,
    }
    return _put(_file(profile.name), fields)


def load(name: str) -> Profile:
    """Read a profile. Raises Failure when there is none, or others can read it."""
    file = _file(name)
    try:
        said = _get(file)
        return Profile(name, said["baseUrl"], said["apiKeyId"], said["apiSecret"], said["environment"])
    except FileNotFoundError:
        known = ", ".join(names())
        raise Failure(
            say(
                f"there is no profile {name}: `fe login URL` makes one" + (f" (there are: {known})" if known else ""),
                f"no existe el perfil {name}: `fe login URL` lo crea" + (f" (existen: {known})" if known else ""),
            ),
            CONFIGURATION,
        ) from None
    except (ValueError, KeyError, TypeError):
        raise Failure(
            say(f"{file}: cannot be read; `fe login` replaces it", f"{file}: ilegible; `fe login` lo reescribe"),
            CONFIGURATION,
        ) from None


def names() -> list[str]:
    """Name the profiles there are."""
    return sorted(file.stem for file in folder().glob("*.json") if not file.name.endswith(".token.json"))


def forget(name: str) -> bool:
    """Delete a profile and its token; return whether it existed."""
    with suppress(FileNotFoundError):
        _token_file(name).unlink()
    try:
        _file(name).unlink()
    except FileNotFoundError:
        return False
    return True


def save_token(profile: Profile, token: StoredToken) -> None:
    """Keep the token of a profile."""
    fields = {"accessToken": token.access_token, "until": token.until.isoformat(), "apiKeyId": profile.api_key_id}
    _put(_token_file(profile.name), fields)


def load_token(profile: Profile) -> StoredToken | None:
    """Read a profile's token; None when there is no usable one. Raises Failure when other users can read it."""
    try:
        said = _get(_token_file(profile.name))
        if said["apiKeyId"] != profile.api_key_id:
            return None
        return StoredToken(str(said["accessToken"]), datetime.fromisoformat(said["until"]))
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _file(name: str) -> Path:
    return folder() / f"{name}.json"


def _token_file(name: str) -> Path:
    return folder() / f"{name}.token.json"


def _put(file: Path, fields: dict[str, str]) -> Path:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp makes it for its owner alone, before anything is in it.
    handle, beside = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(write_canonical_json(fields) + b"\n")
        os.replace(beside, file)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    return file


def _get(file: Path) -> Any:
    # Check the open file, so that the checked file is the one that is read.
    with open(os.open(file, os.O_RDONLY | os.O_CLOEXEC), "rb") as opened:
        about = os.fstat(opened.fileno())
        if about.st_mode & _OTHERS or about.st_uid != os.getuid():
            raise Failure(
                say(
                    f"{file}: others can read it. Its secret may be known: make a new key, and `fe login` with it "
                    f"(or, if you are sure: chmod 600 {file})",
                    f"{file}: otros pueden leerlo. Su secreto puede ser conocido: cree otra clave y haga `fe login` "
                    f"con ella (o, si está seguro: chmod 600 {file})",
                ),
                CONFIGURATION,
            )
        return json.loads(opened.read())
