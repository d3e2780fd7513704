"""Map each known error to one line on stderr and an exit code."""

import os
import sys
from collections.abc import Sequence

import click

from fe.config import ConfigError
from fe.ecf.libxml import LibxmlMismatch
from fe.store.postgres.embedded import NoEmbeddedServer
from fe.store.postgres.errors import DatabaseUnavailable, StoreError

OK, FAILED, USAGE, CONFIGURATION, NO_DATABASE, NO_AUTHORITY = range(6)
#: Of a replay: it stopped before all rows were released; all were, and some failed again.
STOPPED, FAILED_AGAIN = 6, 7
#: Of commands that call the API: it did not answer; there is no verdict yet; nothing goes by that name.
AWAY, NO_VERDICT, NOT_THERE = 8, 9, 10
#: Exit code when a second operator must approve: requested, not done.
WAITS_FOR_APPROVAL = 11
#: Exit code of a program that an interrupt ended.
INTERRUPTED = 130


class Failure(Exception):
    """A command failed; the message is for the person who called it."""

    def __init__(self, message: str, code: int = FAILED) -> None:
        super().__init__(message)
        self.code = code


def guarded(command: click.Command, args: Sequence[str] | None = None) -> int:
    """Run `command` and return the exit code; a known error is printed in one line.

    Unknown errors are bugs and propagate to `sys.excepthook`.
    """
    try:
        result = command.main(args=args, prog_name="fe", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as bare:
        click.echo(bare.format_message(), err=True)
        return USAGE
    except click.UsageError as wrong:
        where = wrong.ctx.command_path if wrong.ctx is not None else "fe"
        _say(f"{wrong.format_message()} (see `{where} --help`)")
        return USAGE
    except click.ClickException as wrong:
        _say(wrong.format_message())
        return FAILED
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has gone. Click itself exits with 1 then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except BaseExceptionGroup as group:
        # Under Trio even a single error arrives in a group.
        error = _single(group)
        if isinstance(error, KeyboardInterrupt):
            return INTERRUPTED
        code = _code(error)
        if code is None:
            raise error from None
        _say(_words(error, code))
        return code
    except Exception as error:  # the one place that maps errors to messages; unknown ones propagate
        code = _code(error)
        if code is None:
            raise
        _say(_words(error, code))
        return code
    return result if isinstance(result, int) else OK


def _single(error: BaseException) -> BaseException:
    """Take an error out of the groups around it; a group of several is left as it is."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def _code(error: BaseException) -> int | None:
    if isinstance(error, Failure):
        return error.code
    if isinstance(error, ConfigError | LibxmlMismatch | NoEmbeddedServer):
        return CONFIGURATION
    if isinstance(error, DatabaseUnavailable):
        return NO_DATABASE
    for module, name, code in KNOWN_LATER:
        # Their modules are heavy, so they are not imported for this: an error of theirs has imported them already.
        known = getattr(sys.modules.get(module), name, None)
        if isinstance(known, type) and isinstance(error, known):
            return code
    return FAILED if isinstance(error, StoreError | OSError) else None


#: Errors of modules that are not imported here: where each is, by its name, and the code it ends with.
KNOWN_LATER = (
    ("psycopg", "OperationalError", NO_DATABASE),
    ("fe.clock", "ClockWrong", FAILED),
    ("fe.secrets.vault", "VaultError", CONFIGURATION),
    ("fe.accounts.provision", "ProvisioningRefused", FAILED),
    ("fe.accounts.people", "PersonRefused", FAILED),
    ("fe.accounts.sequences", "BadSequence", FAILED),
    ("fe.accounts.sequences", "NumberSent", FAILED),
    ("fe.accounts.approvals", "DecisionRefused", FAILED),
    ("fe.webhooks.accounts", "WebhookRefused", FAILED),
    ("fe.ecf.certificate", "CertificateError", FAILED),
    ("fe.ecf.texts", "LocalizedError", FAILED),
    ("fe.authority.errors", "AuthorityError", NO_AUTHORITY),
)


def _words(error: BaseException, code: int) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    text = " ".join(str(error).split()) or type(error).__name__
    return f"the database cannot be reached: {text}" if code == NO_DATABASE else text


def _say(text: str) -> None:
    click.echo(f"fe: {text}", err=True)
