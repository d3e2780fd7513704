"""Reading a passphrase: from a file, the environment or the terminal, never from the command line, which others see."""

import os
import sys
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
        text = file.read_text(encoding="utf-8").split("\n", 1)[0].removesuffix("\r")
        if not text:
            raise Failure(f"{file}: its first line is empty")
        return text
    if given := os.environ.get(VARIABLE):
        return given
    if not sys.stdin.isatty():
        raise Failure(f"no passphrase: give --passphrase-file or {VARIABLE}, or run it in a terminal", USAGE)
    answer: str = click.prompt("Passphrase", hide_input=True, confirmation_prompt=twice, err=True)
    return answer
