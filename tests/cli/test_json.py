"""`--json`: every command has it, its forms are those of docs/cli.md, and nothing else prints JSON."""

import ast
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import click
import pytest

from fe.cli import cli
from fe.cli.printing import form
from fe.ecf.catalogue import Environment
from tests.cli.in_process import FeHere

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")

#: Commands without it, and why.
WITHOUT = {
    "mcp": "it speaks a protocol of its own",
    "run": "it does not end, and says what happens in its log, which is JSON",
    "agent run": "it does not end, and says on standard error what to see to",
    "openapi": "one JSON object, the description or the collection, is all it prints",
    "demo": "it is for people, and does not end",
    "archive key": "the key is all it prints",
    "void xml": "the signed ANECF is all it prints",
    "audit export": "a link a line, in JSON, is all it prints",
    "evidence export": "one JSON object, with the very text that was hashed, is all it prints",
}

#: Modules that write JSON by themselves, and why.
WRITERS = {
    "printing.py": "this is where it is done",
    "webhook/listen.py": "the body of a call is shown as it came",
    "webhook/show.py": "likewise, for people",
    "postgres.py": "hidden: part of another command, which reads it",
    "openapi.py": "the description, as the service serves it",
    "stack.py": "a file for the simulated authority",
    "integrator/api.py": "bodies of requests, and not output",
    "demo/client.py": "of an answer that is not as expected, for people",
    "demo/documents.py": "documents, and not output",
    "demo/scenario.py": "a receipt within a command that is to be pasted",
    "demo/other_side.py": "documents, and not output",
}

_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def commands(group: click.Command = cli, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every command that is no group, by the words it is called with."""
    if not isinstance(group, click.Group):
        yield " ".join(path), group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from commands(command, (*path, name))


COMMANDS = dict(commands())


def on_the_page() -> dict[str, str]:
    """Return each command's form of JSON from the page."""
    found: dict[str, str] = {}
    for line in PAGE.splitlines():
        if line.startswith("| `fe "):
            names, said = line.strip("| ").split(" | ")
            found |= dict.fromkeys(re.findall(r"`fe ([a-z -]+)`", names), said)
    return found


def fields(said: str) -> list[str]:
    """The fields that a command is promised to print, those of what it prints in other cases not among them."""
    top = re.sub(r"`: \[[^\]]*\]", "`", said)
    return re.findall(r"`(\w+)`", re.split(r"[;\]]", top)[0])


def test_every_command_prints_json_for_programs_or_has_a_reason_not_to() -> None:
    without = {
        name
        for name, command in COMMANDS.items()
        if not any("--json" in parameter.opts for parameter in command.params)
    }

    assert len(COMMANDS) > 60
    assert without == WITHOUT.keys()


def test_every_command_with_json_has_its_form_on_the_page() -> None:
    assert on_the_page().keys() == COMMANDS.keys() - WITHOUT.keys()


def test_nothing_but_the_printer_writes_json() -> None:
    """Else a command could print ids as numbers, or moments in a form of its own."""
    folder = ROOT / "fe" / "cli"
    writing = set()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node) in ("json.dumps", "write_json"):
                writing.add(str(path.relative_to(folder)))

    assert writing <= WRITERS.keys()


def test_what_is_printed_has_one_form_for_each_kind_of_value() -> None:
    record = {
        "tenantId": 7,
        "id": 8,
        "rows": 9,
        "amount": Decimal("35.10"),
        "taxLogId": UUID(int=1),
        "at": datetime(2026, 11, 22, 8, 0, 0, 123456, tzinfo=UTC),
        "from": date(2026, 11, 22),
        "environment": Environment.ECF,
        "late": 0.5,
        "is": True,
        "not": None,
        "below": {"subjects": [UUID(int=2)], "subjectId": 3},
    }

    assert form(record) == {
        "tenantId": "7",
        "id": "8",
        "rows": 9,
        "amount": "35.10",
        "taxLogId": str(UUID(int=1)),
        "at": "2026-11-22T08:00:00.123Z",
        "from": "2026-11-22",
        "environment": "ecf",
        "late": 0.5,
        "is": True,
        "not": None,
        "below": {"subjects": [str(UUID(int=2))], "subjectId": "3"},
    }
    with pytest.raises(TypeError, match="secret: no form for bytes"):
        form({"secret": b"x"})


def look_at_forms(value: Any, name: str = "") -> None:
    """See that a value has the form that its name promises."""
    match value:
        case dict():
            for key, below in value.items():
                look_at_forms(below, key)
        case list():
            for each in value:
                look_at_forms(each, name)
        case None:
            pass
        case _:
            if name == "id" or name.endswith("Id"):
                assert isinstance(value, str), name
            if name.endswith(("At", "Since")) or name in ("at", "since", "until", "notBefore", "notAfter"):
                assert _MOMENT.fullmatch(value) or (name == "until" and _DAY.fullmatch(value)), (name, value)
            assert not isinstance(value, float) or name.endswith("Seconds"), name


#: A life of one tenant, as a program sees it; what needs another system is looked at by tests of its own.
LIFE = (
    "migrate",
    "settings",
    "tenant create Ozama --rnc 131880738 --legal-name Cafe --address Here",
    "tenant update Ozama --legal-name Café",
    "tenant list",
    "tenant show Ozama",
    "tenant delegate Ozama 101000001 --reason letter",
    "tenant delegations Ozama",
    "tenant withdraw Ozama 101000001",
    "user create ana@ozama.example --tenant Ozama",
    "user update ana@ozama.example --tenant Ozama --no-override",
    "user list --tenant Ozama",
    "person create luz@ozama.example --name Luz --tenant Ozama --role owner",
    "person list",
    "person list --tenant Ozama",
    "person role luz@ozama.example --tenant Ozama --role owner",
    "person invite ana@ozama.example --tenant Ozama --role member",
    "person operator luz@ozama.example",
    "person reset luz@ozama.example",
    "person disable luz@ozama.example",
    "person enable luz@ozama.example",
    "key create --tenant Ozama --environment ecf",
    "key list --tenant Ozama",
    "key unlock --address 10.0.0.1",
    "certificate self-made signer.p12",
    "certificate add signer.p12 --tenant Ozama",
    "certificate list --tenant Ozama",
    "certificate choice --tenant Ozama",
    "sequence put E31 --tenant Ozama --environment ecf --expires 2028-12-31",
    "sequence set E31 --tenant Ozama --environment ecf --inactive --next 5",
    "sequence set E31 --tenant Ozama --environment ecf --to 500 --next-range 501-600 --next-expires 2099-12-31",
    "sequence list --tenant Ozama --environment ecf",
    "sequence outlook --tenant Ozama --environment ecf",
    "sequence fates E31 --tenant Ozama --environment ecf",
    "sequence delete E31 --tenant Ozama --environment ecf",
    "reception open Ozama --environment ecf",
    "reception list Ozama",
    "reception close Ozama --environment ecf",
    "counterparty list",
    "counterparty sending Ozama on",
    "webhook set --tenant Ozama --environment ecf --url https://erp.example/",
    "webhook show --tenant Ozama --environment ecf",
    "webhook test --tenant Ozama --environment ecf",
    "webhook deliveries --tenant Ozama --environment ecf",
    "webhook recover --tenant Ozama --environment ecf --since 2026-01-01",
    "webhook recoveries --tenant Ozama",
    "webhook reveal --tenant Ozama --environment ecf",
    "webhook rotate --tenant Ozama --environment ecf",
    "webhook disable --tenant Ozama --environment ecf",
    "rates set 006 632.58 --from 2030-01-01",
    "rates list",
    "rates unset 006 --from 2030-01-01",
    "usage --tenant Ozama --environment ecf",
    "billing enable Ozama --subscription sub_1 --price 0.035 --reason contract",
    "billing price Ozama --price 0.04 --reason contract",
    "billing show Ozama",
    "billing rebuild-usage Ozama",
    "billing disable Ozama --reason contract",
    "outbox pause --tenant Ozama --reason quiet",
    "outbox status",
    "outbox resume --tenant Ozama --reason loud",
    "outbox list",
    "outbox signed-by nowhere",
    "outbox log",
    "tenant disable Ozama --reason unpaid",
    "tenant enable Ozama --reason paid",
    "vault rewrap --dry-run",
    "user remove ana@ozama.example --tenant Ozama --reason left",
    "tenant changes Ozama",
    "audit verify",
    "evidence verify --tenant Ozama",
)


def test_what_commands_print_has_the_forms_and_the_fields_of_the_page(
    tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fe = FeHere(tmp_path, dsn, monkeypatch, capsys)
    page = on_the_page()
    empty = set()
    for line in LIFE:
        name = max((name for name in COMMANDS if line.startswith(name)), key=len)
        told = fe.json(
            *line.split(),
            passphrase="only for trying",
            webhook_keys=f"w:5a{'66' * 31}",
            portal_bind="127.0.0.1:0",
            development="1",
        )

        look_at_forms(told)
        if line == "person list --tenant Ozama":
            continue  # of its other form
        if isinstance(told, list) and not told:
            empty.add(name)
            continue
        first = told[0] if isinstance(told, list) else told
        assert isinstance(first, Mapping)
        promised = [one for one in fields(page[name]) if one in first or f"`{one}` if there is one" not in page[name]]
        assert [field for field in first if field != "secret"] == promised or name == "evidence verify", name

    assert empty == {"counterparty list", "outbox list", "outbox signed-by"}, "the others have something to show"


def test_an_answer_in_words_and_one_for_programs_are_of_the_same_facts(
    tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fe = FeHere(tmp_path, dsn, monkeypatch, capsys)
    fe("tenant", "create", "Ozama", "--rnc", "131880738", "--legal-name", "Café", "--address", "Here")

    shown, (listed,) = fe("tenant", "list").out, fe.json("tenant", "list")

    assert shown.splitlines()[0].split() == list(listed)
    assert str(listed["tenantId"]) in shown
    assert "Café" in shown
    assert fe("outbox", "pause", "--reason", "x").out.startswith("paused: ")
    assert fe.json("outbox", "resume", "--reason", "x") == {"tenant": None, "environment": None, "paused": False}


def test_what_fails_says_nothing_on_standard_output(
    tmp_path: Path, dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fe = FeHere(tmp_path, dsn, monkeypatch, capsys)

    assert fe.refused("tenant", "update", "Nobody", "--name", "X", "--json") == "there is no tenant 'Nobody'"
    assert "choose at least one change" in fe.refused("tenant", "update", "Nobody", "--json", code=2)
