"""The pages for integrators say of a submission's life what the table says."""

import re
from pathlib import Path

from fe.lifecycle import FINAL, EventKind, NumberFate, Status
from tests.lifecycle import page

SEQUENCES = page.PAGE.parent / "sequences.md"


def test_the_states_page_is_made_from_the_table() -> None:
    text = page.PAGE.read_text(encoding="utf-8")

    assert text == page.renewed(text), "run python -m tests.lifecycle.page"


def test_every_event_and_every_place_is_in_the_diagram_or_the_table() -> None:
    made = page.made()

    assert [kind for kind in EventKind if made.count(f"`{kind}`") < 2] == []
    diagram = made.partition("```mermaid")[2].partition("```")[0]
    assert {"sign", "send", "track", "reconcile", "dead_letter", "[*]"} == set(
        re.findall(r"^ {4}(\S+) -->", diagram, re.M)
    )


def first_column(path: Path, head: str) -> list[str]:
    table = re.search(rf"^\| {re.escape(head)} .*\n\|[-| ]+\|\n((?:\|.*\n)+)", path.read_text(encoding="utf-8"), re.M)
    assert table is not None
    return re.findall(r"^\| `([^`]+)`", table[1], re.M)


def test_every_status_and_every_fate_is_explained_once() -> None:
    assert first_column(page.PAGE, "`status`") == list(Status)
    assert first_column(SEQUENCES, "`numberFate`") == list(NumberFate)


def test_what_is_asked_again_is_what_has_not_ended() -> None:
    lines = re.findall(r"^\| `([^`]+)` \| [^|]* \| (after|—)", page.PAGE.read_text(encoding="utf-8"), re.M)

    assert {status for status, again in lines if again == "—"} == FINAL
