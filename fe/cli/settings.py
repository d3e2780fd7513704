"""`fe settings`: list the settings of `fe/config/settings.py`. With --markdown it prints docs/configuration.md."""

import re
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

import click
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from fe.cli.printing import json_option, print_result
from fe.config import Settings
from fe.config.settings import TESTS_ONLY

_MARKDOWN = """# Configuration

For operators: every setting is a variable of the environment. `fe --env-file FILE` reads a file of NAME=VALUE lines
that only its owner, or a group, may read; a variable that is set already stays. This page is made from
`fe/config/settings.py` (`fe settings --markdown > docs/configuration.md`), and a test says so when it is not.

A wrong value ends the program at once with exit code 3 and a line that names the variable, never its value.
Secrets have no defaults: in production they come from your secret store. Each secret, and the address of the database,
may be in a file of its own instead: `FE_KEK_FILE` names the file that holds what `FE_KEK` would, and so on
(systemd's `LoadCredential`, mounted secrets of Kubernetes). `fe run --processes N` reads all files again at SIGHUP.
`FE_DEVELOPMENT=1` creates missing secrets and keeps them under `FE_DATA_DIR`. Single commands read variables of their
own: `fe certificate` a passphrase from `FE_PASSPHRASE`, `fe login` an address and a key from `FE_URL`,
`FE_API_KEY_ID` and `FE_API_SECRET`, commands that call the API a profile's name from `FE_PROFILE`, and `fe webhook`
a secret from `FE_WEBHOOK_SECRET`. Any other variable that begins with `FE_` is an error that names the nearest
setting, since a typing error would leave a default in force.

Dangerous values are rejected too, in one line that says why: a key that repeats one byte, is too long, or is used
twice; a key file that other users may read; trusted proxies wider than any private network; a database on another
machine without TLS (`sslmode=verify-full`), or none named; an authority by `http://` or by address.
`FE_DEVELOPMENT=1` allows a simulated authority on this machine, the embedded Postgres and the settings of the fault
suite (docs/faults.md). It then rejects a database on another machine, a listener open to other machines, and the real
authority. `fe doctor` checks all of this.

| Variable | Value | Default | Meaning |
| --- | --- | --- | --- |
"""

_NAMES = {str: "text", int: "whole number", float: "number", bool: "0 or 1", SecretStr: "secret"}


@click.command()
@click.option("--markdown", is_flag=True, help="Print the page of the documentation.")
@json_option
def settings(markdown: bool, as_json: bool) -> None:
    """List every FE_* variable with its default and meaning. Current values are not shown."""
    public = [(name, field) for name, field in Settings.model_fields.items() if name not in TESTS_ONLY]
    rows = [(f"FE_{name.upper()}", *_describe(field)) for name, field in public]
    if markdown:
        lines = [
            f"| `{name}` | {kind} | {f'`{default}`' if default else ''} | {text} |"
            for name, kind, default, text in rows
        ]
        click.echo(_MARKDOWN + "\n".join(lines))
        return
    width = max(len(name) for name, *_ in rows)
    words = [
        f"{name:<{width}}  {text} ({kind}{f'; default {default}' if default else ''})"
        for name, kind, default, text in rows
    ]
    fields = ("name", "value", "default", "meaning")
    print_result(words, {"settings": [dict(zip(fields, row, strict=True)) for row in rows]}, as_json=as_json)


def _describe(field: FieldInfo) -> tuple[str, str, str]:
    """Return a setting's kind of value, default and meaning."""
    default = field.default.value if isinstance(field.default, Enum) else field.default
    shown = "" if default is None or default == "" else str(int(default) if isinstance(default, bool) else default)
    return _kind(field.annotation) + _bounds(field), shown, _OTHERS.sub(_variable, field.description or "")


#: Names of settings in the description of another one; the page shows their variables.
_OTHERS = re.compile(r"`?\b(" + "|".join(name for name in Settings.model_fields if "_" in name) + r"|kek)\b`?")


def _variable(name: re.Match[str]) -> str:
    return f"FE_{name[1].upper()}"


def _kind(annotation: Any) -> str:
    if get_origin(annotation) is Annotated:
        return _kind(get_args(annotation)[0])
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if isinstance(annotation, UnionType) or get_origin(annotation) is not None:
        return _kind(next(kind for kind in get_args(annotation) if kind is not NoneType))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return ", ".join(f"`{member.value}`" for member in annotation)
    return _NAMES.get(annotation, "path")


def _bounds(field: FieldInfo) -> str:
    low = high = ""
    for rule in field.metadata:
        if (minimum := getattr(rule, "ge", None)) is not None:
            low = f"from {minimum}"
        elif (above := getattr(rule, "gt", None)) is not None:
            low = f"above {above}"
        elif (maximum := getattr(rule, "le", None)) is not None:
            high = f"to {maximum}"
    return "".join(f" {part}" for part in (low, high) if part)
