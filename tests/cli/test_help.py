"""Everything can be found from `fe --help` on."""

import click
import pytest

from fe.cli import COMMANDS, cli
from tests.cli.running import Fe


def commands() -> list[list[str]]:
    """Every command there is, as its words."""
    found: list[list[str]] = []

    def walk(words: list[str], command: click.Command) -> None:
        found.append(words)
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                inner = command.get_command(context, name)
                assert inner is not None
                walk([*words, name], inner)

    walk([], cli)
    return found


def test_help_names_every_command_and_every_exit_code(fe: Fe) -> None:
    shown = fe("--help")

    assert shown.code == 0
    assert all(f"  {name} " in shown.out for name in COMMANDS)
    assert all(f"\n    {code}  " in shown.out for code in range(6))


@pytest.mark.parametrize("words", commands(), ids=" ".join)
def test_every_command_explains_itself_and_its_options(words: list[str]) -> None:
    command: click.Command | None = cli
    for word in words:
        assert isinstance(command, click.Group)
        command = command.get_command(click.Context(command), word)
    assert command is not None

    assert command.help
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    unexplained = [o.name for o in options if not o.help and not isinstance(o.type, click.Choice) and not o.hidden]
    assert unexplained == []


def test_no_secret_can_be_given_on_the_command_line() -> None:
    every = [cli.get_command(click.Context(cli), name) for name in COMMANDS]
    inner = [c for group in every if isinstance(group, click.Group) for c in group.commands.values()]
    names = {o for c in [*every, *inner] if c is not None for p in c.params for o in p.opts}

    assert not names & {"--passphrase", "--password", "--secret", "--api-secret", "--kek", "--database-url"}


def test_version_is_the_package_s(fe: Fe) -> None:
    shown = fe("--version")

    assert shown.code == 0
    assert shown.out.startswith("fe, version 0.")


def test_without_a_command_help_is_shown_and_the_code_says_usage(fe: Fe) -> None:
    bare = fe()

    assert bare.code == 2
    assert "Usage: fe" in bare.err
