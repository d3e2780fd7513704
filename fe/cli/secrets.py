"""Reading a passphrase: from a file, the environment or the terminal, never from the command line, which others see."""

import os
import sys
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from fe.cli.failures import USAGE, Failure

F = TypeVar("F", bound=Callable[..., Any])

#: A command's own input like an option, and not a setting of the service: so it is read here and not in fe.config.
VARIABLE = "FE_PASSPHRASE"

passphrase_option = click.option(
    "--passphrase-file",
    type=click.Path(path_type=Path),
    help=f"File whose first line is the passphrase. Without it {VARIABLE} is used, or it is asked for.",
)


def read_passphrase(file: Path | None, *, twice: bool = False) -> str:
    """Get the passphrase of a .p12 file; `twice` asks again to catch slips when a new one is chosen."""
    if file is not None:
        text = first_line(file)
        if not text:
            raise Failure(f"{file}: its first line is empty")
        return text
    if given := os.environ.get(VARIABLE):
        return given
    if not sys.stdin.isatty():
        raise Failure(f"no passphrase: give --passphrase-file or {VARIABLE}, or run it in a terminal", USAGE)
    answer: str = click.prompt("Passphrase", hide_input=True, confirmation_prompt=twice, err=True)
    return answer


def first_line(file: Path) -> str:
    """Read the first line as Windows' editors save it, too: with a byte order mark, or in UTF-16."""
    data = file.read_bytes()
    encoding = "utf-16" if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return data.decode(encoding).split("\n", 1)[0].removesuffix("\r")
    except UnicodeDecodeError:
        raise Failure(f"{file}: is not UTF-8 text: save it as UTF-8 (Windows: «UTF-8», not «ANSI»)") from None
