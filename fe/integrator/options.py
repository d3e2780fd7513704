"""Options and printing shared by the integrators' commands."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from fe.cli.failures import FAILED, NO_VERDICT, OK
from fe.cli.printing import show
from fe.integrator import profiles
from fe.integrator.api import PATIENCE
from fe.lifecycle import FINAL, Status

F = TypeVar("F", bound=Callable[..., Any])


def profile_name(_ctx: click.Context, _param: click.Parameter, value: str) -> str:
    """A name that a file may have."""
    if not profiles.is_name(value):
        raise click.BadParameter("should be 1 to 40 letters, digits, - or _")
    return value


def complete_profile(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """The profiles there are, for the shell."""
    return [name for name in profiles.names() if name.startswith(incomplete)]


def profile_option(command: F) -> F:
    """Add which stored key is meant."""
    return click.option(
        "--profile",
        default=profiles.USUAL,
        show_default=True,
        envvar=profiles.VARIABLE,
        show_envvar=True,
        metavar="NAME",
        callback=profile_name,
        shell_complete=complete_profile,
        help="Which of the keys that `fe login` kept.",
    )(command)


def api_options(command: F) -> F:
    """Add which stored key is meant, and for how long a service that is away is tried again."""
    tried = click.option(
        "--patience",
        type=click.FloatRange(0, 3600),
        default=PATIENCE,
        show_default=True,
        metavar="SECONDS",
        help="For so long a call is tried again when the service is away or too busy.",
    )(command)
    return profile_option(tried)


def remark(text: str) -> None:
    """Print a remark on standard error; standard output holds the answer only."""
    click.echo(text, err=True)


def verdict_code(record: Mapping[str, Any]) -> int:
    """Return the exit code for a submission: accepted, rejected or failed, or pending."""
    status = record["status"]
    if status not in FINAL:
        return NO_VERDICT
    return OK if status in (Status.ACCEPTED, Status.CONDITIONAL) else FAILED


def print_submission(record: Mapping[str, Any]) -> None:
    """Print a submission as text: its data, then the authority's messages with their meaning."""
    beside = ("response", "explained", "warnings", "receiver", "facts")
    shown = {name: value for name, value in record.items() if name not in beside} | (record.get("facts") or {})
    show({name: value for name, value in shown.items() if value is not None}, as_json=False)
    response = record.get("response") or {}
    if error := response.get("error"):
        click.echo(f"\n{error}")
    explained = {str(one["codigo"]): one for one in record.get("explained") or ()}
    for message in response.get("mensajes") or ():
        code, text = str(message.get("codigo", "")), str(message.get("valor", ""))
        if not code.strip("0") and text in ("", record["status"]):
            continue  # it says the status again
        click.echo(f"\n{code} {text}")
        if meaning := explained.get(code):
            click.echo(f"  {meaning['meaning']}\n  -> {meaning['action']}")
    if warnings := record.get("warnings"):
        click.echo("")
        print_problems(warnings)


def print_problems(problems: list[dict[str, Any]]) -> None:
    """Print problems of a document: where, what, and how to mend it."""
    for one in problems:
        line, column = one.get("line"), one.get("column")
        place = "" if line is None else f":{line}" if column is None else f":{line}:{column}"
        click.echo(f"{one['severity']}  {one['path'] or '-'}{place}  {one['code']}")
        expected = f" <> {one['expected']}" if "expected" in one else ""
        click.echo(f"  {one['message']}" + (f" ({one['found']!r}{expected})" if "found" in one else ""))
        if "allowed" in one:
            click.echo(f"  {' '.join(one['allowed'])}")
        if "fix" in one:
            click.echo(f"  -> {one['fix']}")
        if repair := one.get("repair"):
            click.echo(f"  -> {_repair(repair)}")


def _repair(repair: Mapping[str, Any]) -> str:
    unsure = "" if repair["certain"] else " (?)"
    match repair["op"]:
        case "rename":
            return f"rename {repair['path']} -> {repair.get('to')}{unsure}"
        case "remove":
            return f"remove {repair['path']}{unsure}"
        case _:
            return f"set {repair['path']} = {repair.get('value')!r}{unsure}"
