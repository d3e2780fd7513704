"""Files of settings: `fe --env-file FILE`, lines of NAME=VALUE as systemd and Kubernetes read them, without a shell."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from fe.config.errors import ConfigError
from fe.config.keys import read_key_file

_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")

#: Names that a file has put into the environment of this process.
_from_files: set[str] = set()


def read_env_file(path: Path) -> dict[str, str]:
    """Read NAME=VALUE lines. Quotes around a value are taken off; nothing in it is expanded: `&` and `$` are letters.

    Raises ConfigError naming the file and the line, never its value; also when others may read or change the file.
    """
    try:
        text = read_key_file(path, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise ConfigError(f"--env-file {path}: {getattr(error, 'strerror', None) or error}") from error
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip()[0] in "#;":
            continue
        parts = _LINE.fullmatch(line.strip())
        if parts is None:
            raise ConfigError(f"--env-file {path}, line {number}: should be NAME=VALUE")
        name, value = parts[1], parts[2]
        if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
            value = value[1:-1]
        found[name] = value
    return found


def apply_env_file(path: Path) -> None:
    """Load a file's variables into this process's environment; existing variables stay.

    Child processes inherit them, except with `without_env_files`.
    """
    for name, value in read_env_file(path).items():
        if name not in os.environ:
            os.environ[name] = value
            _from_files.add(name)


def set_by_env_file(name: str) -> bool:
    """Return whether a variable comes from a file."""
    return name in _from_files


def without_env_files(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without variables from files: a child process reads the file itself."""
    return {name: value for name, value in environ.items() if name not in _from_files}
