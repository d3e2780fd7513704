"""`fe import`: what it sends and asks, and how it ends; the API is scripted."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fe.integrator import import_file
from tests.cli.in_process import FeHere
from tests.workbooks.books import csv, row

COUNTS = ("waiting", "valid", "faulty", "issued", "issuedBefore", "failed")


def answer(state: str, **counts: int) -> dict[str, Any]:
    fault = {"row": 3, "column": "x", "heading": "Unit price", "message": "must be a number", "messageEs": "x"}
    faults = [fault] if counts.get("faulty") else []
    whole = {"importId": "i-1", "state": state, "receipts": 2, **dict.fromkeys(COUNTS, 0), **counts}
    sums = {"types": [{"prefix": "E32", "receipts": 2, "montoTotal": 236.0}], "montoTotal": 236.0}
    return {**whole, **sums, "faults": faults, "notes": []}


class Api:
    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.calls: list[str] = []

    def post(self, path: str, body: object) -> dict[str, Any]:
        self.calls.append(f"POST {path}")
        return self.answers.pop(0)

    def get(self, path: str) -> dict[str, Any]:
        self.calls.append(f"GET {path}")
        return self.answers.pop(0)

    def file(self, path: str) -> bytes:
        self.calls.append(f"GET {path}")
        return b"copy"


@contextmanager
def scripted(monkeypatch: pytest.MonkeyPatch, *answers: dict[str, Any]) -> Iterator[Api]:
    api = Api(*answers)

    @contextmanager
    def opened(*_: object) -> Iterator[Api]:
        yield api

    monkeypatch.setattr(import_file, "opened", opened)
    monkeypatch.setattr(import_file, "_BETWEEN", 0.0)
    yield api
    assert not api.answers


def test_import_validates_issues_and_keeps_the_copy(
    here: FeHere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "v.csv").write_bytes(csv([row("A"), row("B")]))
    steps = (answer("validating", waiting=2), answer("validated", valid=2), answer("issuing", valid=2))
    with scripted(monkeypatch, *steps, answer("issued", issued=2)) as api:
        ended = here("import", str(tmp_path / "v.csv"), "--yes", "--copy", str(tmp_path / "c.csv"))

    assert ended.code == 0, ended
    assert api.calls == [
        "POST /imports",
        "GET /imports/i-1",
        "POST /imports/i-1/issue",
        "GET /imports/i-1",
        "GET /imports/i-1/workbook",
    ]
    assert (tmp_path / "c.csv").read_bytes() == b"copy"


def test_import_without_a_yes_issues_nothing_and_names_the_errors(
    here: FeHere, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "v.csv").write_bytes(csv([row("A"), row("B", "x")]))
    with scripted(monkeypatch, answer("validated", valid=1, faulty=1)):
        ended = here("import", str(tmp_path / "v.csv"))

    assert ended.code == 1
    assert "row 3: Unit price: must be a number" in ended.out
    assert "nothing was issued" in ended.err
    assert "E32: 2, RD$ 236.00" in ended.err


def test_import_refuses_an_unreadable_file_before_any_call(here: FeHere, tmp_path: Path) -> None:
    (tmp_path / "v.csv").write_bytes(b"%PDF-1.7")

    ended = here("import", str(tmp_path / "v.csv"))

    assert ended.code == 1
    assert "The file is no workbook" in ended.err
