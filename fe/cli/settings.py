"""`fe settings`: what can be set, read off the one place where it is; docs/configuration.md is what it prints."""

import re
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

import click
from pydantic import SecretStr
from pydantic.fields import FieldInfo

from fe.cli.printing import json_option, tell
from fe.config import Settings

_MARKDOWN = """# Configuration

For operators: every setting is a variable of the environment. `fe --env-file FILE` reads a file of NAME=VALUE lines
that only its owner, or a group, may read; a variable that is set already stays. This page is made from
`fe/config/settings.py` (`fe settings --markdown > docs/configuration.md`), and a test says so when it is not.

A value that is wrong ends the program at once, with exit code 3 and a line that names the variable, never its value.
Secrets have no defaults: in production they come from your secret store. Each secret, and the address of the database,
may be in a file of its own instead: `FE_KEK_FILE` names the file that holds what `FE_KEK` would, and so on
(systemd's `LoadCredential`, mounted secrets of Kubernetes). `fe run --processes N` reads all files again at SIGHUP.
`FE_DEVELOPMENT=1` makes secrets up and keeps them under `FE_DATA_DIR`. Beside these, `fe certificate` takes a
passphrase from `FE_PASSPHRASE`, `fe login` an address and a key from `FE_URL`, `FE_API_KEY_ID` and `FE_API_SECRET`,
whatever calls the API the name of a profile from `FE_PROFILE`, and `fe webhook` has a secret from `FE_WEBHOOK_SECRET`
to listen and call with; any other variable that begins with `FE_` is an error that names the nearest one, since a slip
would leave a default in force.

What is dangerous is refused as well, in one line that says why: a key that is one byte over and over, too long, or used
twice; a key file that others may read; trusted proxies wider than any private network; a database elsewhere without TLS
demanded (`sslmode=verify-full`), or none named; an authority by `http://` or by address. `FE_DEVELOPMENT=1` allows a
simulated authority on this machine, the embedded Postgres and the tools of the fault suite, and then refuses a
database on another machine, a listener open to others, and the real authority. `fe doctor` looks at all of it.

| Variable | Value | Default | Meaning |
| --- | --- | --- | --- |
"""

_NAMES = {str: "text", int: "whole number", float: "number", bool: "0 or 1", SecretStr: "secret"}


@click.command()
@click.option("--markdown", is_flag=True, help="As a page of the documentation.")
@json_option
def settings(markdown: bool, as_json: bool) -> None:
    """List every FE_* variable with its default and meaning. What is set at the moment is not shown."""
    rows = [(f"FE_{name.upper()}", *_describe(field)) for name, field in Settings.model_fields.items()]
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
    tell(words, {"settings": [dict(zip(fields, row, strict=True)) for row in rows]}, as_json=as_json)


def _describe(field: FieldInfo) -> tuple[str, str, str]:
    """A setting's kind of value, default and meaning."""
    default = field.default.value if isinstance(field.default, Enum) else field.default
    shown = "" if default is None or default == "" else str(int(default) if isinstance(default, bool) else default)
    return _kind(field.annotation) + _bounds(field), shown, _OTHERS.sub(_variable, field.description or "")


#: Settings that are named in the description of another one, by the names they have in Python.
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
