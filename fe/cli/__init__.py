"""The `fe` command. One module per group of commands, imported only when one of its commands is called for."""

import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import click
from click.shell_completion import CompletionItem

from fe import __version__
from fe.ecf import libxml

#: Command name -> where it lives, and the line that `fe --help` shows.
COMMANDS = {
    "login": ("fe.integrator.account:login", "Keep a key for the API of a service, for the commands below."),
    "logout": ("fe.integrator.account:logout", "Forget a key that `fe login` kept."),
    "submit": ("fe.integrator.submit:submit", "Hand a receipt in through the API, and wait for its verdict."),
    "import": ("fe.integrator.import_file:import_file", "Import receipts from Excel or CSV through the API."),
    "validate": ("fe.integrator.submit:validate", "Ask the API what is wrong with a document."),
    "status": ("fe.integrator.status:status", "Ask the API for a verdict, and what to do about it."),
    "list": ("fe.integrator.status:list_", "List what was handed in through the API."),
    "xml": ("fe.integrator.status:xml", "Fetch the signed XML of a receipt."),
    "print": ("fe.integrator.print_receipt:print_receipt", "Print a receipt: PDF, or a receipt printer."),
    "verify": ("fe.integrator.signed:verify", "Check a signed XML offline: signature, certificate, rules, QR."),
    "qr": ("fe.integrator.signed:qr", "Give the address for a receipt's QR code, and draw it."),
    "mcp": ("fe.integrator.assistant:mcp", "Serve a developer's assistant with the API (MCP)."),
    "run": ("fe.cli.service:run", "Run the service: the HTTP front, the actors, reception, or all."),
    "migrate": ("fe.cli.service:migrate", "Bring the database to the shape this release needs."),
    "doctor": ("fe.cli.doctor:doctor", "Check this deployment, and say what to do."),
    "settings": ("fe.cli.settings:settings", "List every FE_* variable, its default and its meaning."),
    "openapi": ("fe.cli.openapi:openapi", "Print the description of the API, for client generators or Postman."),
    "tenant": ("fe.cli.tenant:tenant", "Create, change, list, disable and enable tenants."),
    "user": ("fe.cli.user:user", "Create, list and remove a tenant's users."),
    "person": ("fe.cli.person:person", "Create, invite, list and disable people of the portal, and operators."),
    "operator-key": (
        "fe.cli.operator_key:operator_key",
        "Create, list and revoke keys of programs that set up tenants.",
    ),
    "key": ("fe.cli.key:key", "Create, list and revoke API keys."),
    "certificate": ("fe.cli.certificate:certificate", "Add, list, retire and remove certificates."),
    "sequence": ("fe.cli.sequence:sequence", "Set, list and delete number sequences."),
    "void": ("fe.cli.void:void", "Void numbers that were never sent nor handed over."),
    "contingency": ("fe.cli.contingency:contingency", "Show and set the mode of a tenant: offline, contingency."),
    "certification": (
        "fe.cli.certification:certification",
        "Take a tenant through the authority's certification.",
    ),
    "reception": ("fe.cli.reception:reception", "Open, close and list where suppliers' receipts are received."),
    "received": ("fe.integrator.received:received", "List suppliers' receipts, and approve or reject them."),
    "agent": ("fe.integrator.agent.commands:agent", "Issue at a till while its line is down."),
    "customer": ("fe.integrator.catalogue:customer", "Keep your customers: list, write, delete, import CSV."),
    "product": ("fe.integrator.catalogue:product", "Keep your products: list, write, delete, import CSV."),
    "expense": ("fe.integrator.month:expense", "Say what the 606 asks about a supplier."),
    "month": ("fe.integrator.month:month", "Sum up a month; write its workbook, its ZIP, its 606 and its 608."),
    "paper": ("fe.integrator.paper:paper", "Keep receipts issued on paper in a contingency; replace them."),
    "recurring": ("fe.integrator.recurring:recurring", "Keep receipts that are issued every month."),
    "counterparty": (
        "fe.cli.counterparty:counterparty",
        "See what goes to receivers and issuers; replay it.",
    ),
    "mail": ("fe.cli.mail:mail", "Send accepted receipts to buyers by mail; list and replay mails."),
    "webhook": ("fe.cli.webhook:webhook", "Set where events are sent, see deliveries, listen for them."),
    "usage": ("fe.cli.usage:usage", "List what a tenant did, day by day."),
    "rates": ("fe.cli.rates:rates", "Set and list the rates of additional taxes, which change every quarter."),
    "padron": ("fe.cli.padron:padron", "Load the authority's register of taxpayers, and look into it."),
    "billing": ("fe.cli.billing:billing", "Bill tenants: prices, months, charges."),
    "outbox": ("fe.cli.outbox:outbox", "See what waits or gave up; replay it, give it up, pause, resume."),
    "approval": ("fe.cli.approval:approval", "See what waits for a second operator; approve or refuse it."),
    "archive": ("fe.integrator.archive:archive", "Take a tenant's archive home, and check it."),
    "evidence": ("fe.cli.evidence:evidence", "Export what happened to a submission, and prove it unchanged."),
    "audit": ("fe.cli.audit:audit", "Export what was done to the installation, and prove it unchanged."),
    "vault": ("fe.cli.vault:vault", "Rotate the key-encryption key."),
    "authority": ("fe.cli.authority:authority", "Simulate the tax authority, or ask whether it answers."),
    "demo": ("fe.integrator.demo:demo", "Show the whole road in one command, with a simulated authority."),
}

#: Not shown: parts of other commands.
HIDDEN = {"postgres": "fe.cli.postgres:postgres"}

EXIT_CODES = """\b
Exit codes:
  0  done
  1  refused, or it failed: the line on stderr says why
  2  the command line is wrong
  3  the configuration is wrong or incomplete
  4  the database cannot be reached
  5  the authority cannot be reached
  6  a replay stopped before all was released
  7  all was released, and some of it failed again
  8  the API cannot be reached, or is too busy
  9  there is no verdict yet
  10 the API knows nothing of that name
  11 it is asked for, and waits for a second operator
"""


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep the garbage collector off during imports: it would take a quarter of their time, and find nothing."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


class Lazy(click.Group):
    """A group that imports a command when it is called: `fe --help` loads nothing, and xmlsec comes after the check."""

    def __init__(self, *args: Any, commands: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        #: Name -> `module:command`, and the line of the help.
        self._lazy = commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order a newcomer needs them."""
        return [*self.commands, *self._lazy]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of a command."""
        if cmd_name in self.commands:
            return self.commands[cmd_name]
        where = self._lazy[cmd_name][0] if cmd_name in self._lazy else HIDDEN.get(cmd_name)
        if where is None:
            return None
        libxml.require_one_libxml2()
        module, _, name = where.partition(":")
        with without_collection():
            command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name without importing any: a person waits for it."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        return [CompletionItem(name, help=line) for name, line in self._lines() if name.startswith(incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(self._lines())

    def _lines(self) -> list[tuple[str, str]]:
        here = [(name, command.get_short_help_str()) for name, command in self.commands.items()]
        return [*here, *((name, line) for name, (_, line) in self._lazy.items())]


@click.group(cls=Lazy, commands=COMMANDS, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fe")
@click.option("--debug", is_flag=True, help="Show tracebacks, and what is logged at level debug.")
@click.option(
    "--env-file",
    "env_files",
    multiple=True,
    type=click.Path(path_type=Path),
    help="File of settings, NAME=VALUE a line, read without a shell; the environment goes before it. May be repeated.",
)
@click.option("--parent-pipe", type=int, hidden=True, help="Stop when this file descriptor reaches its end.")
def cli(debug: bool, env_files: tuple[Path, ...], parent_pipe: int | None) -> None:
    """Issue electronic fiscal receipts (e-CF, Dominican Republic).

    Settings come from the environment or --env-file: docs/configuration.md lists every FE_* variable. Without
    FE_DATABASE_URL the embedded Postgres under FE_DATA_DIR is used. `fe COMMAND --help` shows more.
    """
    from fe.config import apply_env_file  # not for `fe --help`
    from fe.monitoring.log import configure_logging

    for file in env_files:
        apply_env_file(file)

    # Commands print results on stdout; log lines between them would spoil the output.
    configure_logging("debug" if debug else "critical", human=True)
    if parent_pipe is not None:
        from fe.process.parent_watch import obey  # only the demonstration passes this option

        obey(parent_pipe)


def _one_line(kind: type[BaseException], error: BaseException, _: TracebackType | None) -> None:
    text = " ".join(str(error).split())
    click.echo(f"fe: unexpected {kind.__name__}: {text} (`fe --debug ...` shows where)", err=True)


def _hear_when_to_end() -> None:
    """Exit on SIGTERM as process 1 of a container, where the kernel ignores signals without a handler.

    `fe run` installs its own handler once it serves. Exiting at once is safe at any moment.
    """
    if os.getpid() == 1:
        signal.signal(signal.SIGTERM, lambda number, _: os._exit(128 + number))


def main() -> None:
    """Run the command line of this process and exit with a code that means something."""
    _hear_when_to_end()
    from fe.process.open_files import hold_standard_files  # as below

    hold_standard_files()
    with without_collection():
        from fe.cli.failures import guarded  # with it come the settings, which `import fe.cli` alone does not need

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter gets a question mark, not an error
    if "--debug" not in sys.argv:
        # Unexpected errors become one line too.
        sys.excepthook = _one_line
    sys.exit(guarded(cli))
