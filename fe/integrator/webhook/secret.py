"""Where `fe webhook` takes a secret from: a file or the environment, never the command line, which others see."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from fe.cli.failures import USAGE, Failure
from fe.cli.secrets import first_line
from fe.integrator.webhook.verify import BadSecret, key_of

F = TypeVar("F", bound=Callable[..., Any])

#: A command's own input like an option, and not a setting of the service: so it is read here and not in fe.config.
VARIABLE = "FE_WEBHOOK_SECRET"

secret_option = click.option(
    "--secret-file",
    type=click.Path(path_type=Path),
    help=f"File whose first line is the endpoint's secret (whsec_...). Without it {VARIABLE} is used.",
)


def read_secret(file: Path | None) -> str | None:
    """Get the secret, None where none is given. Raises Failure when what is given is none."""
    if file is not None:
        where, text = str(file), first_line(file)
    else:
        where, text = VARIABLE, os.environ.get(VARIABLE, "")
        if not text:
            return None
    try:
        key_of(text)
    except BadSecret as bad:
        raise Failure(f"{where}: {bad}", USAGE) from None
    return text
