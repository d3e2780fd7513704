"""The count of puzzling sentences, which `make check` runs on changed files."""

import pytest

from tests import plain_words


@pytest.mark.parametrize(
    ("name", "source", "found"),
    [
        ("a.py", '"""What is kept of a key."""\n', [1]),
        ("a.py", '"""Cache of keys."""\n\nx = 1  # nobody reads it\n', [3]),
        ("a.py", 'x = "What is this"\n', []),
        ("a.sql", "SELECT 1;\n-- So many as fit.\n", [2]),
        ("README.md", "# What it is\n\nThe worker retries.\n\n```\nWho asks\n```\nWhoever asks waits.\n", [8]),
        ("README.md", "The worker retries what failed.\n", []),
    ],
)
def test_riddles_of_a_source_are_found_by_line(name: str, source: str, found: list[int]) -> None:
    assert [line for line, _ in plain_words.riddles(name, source)] == found


def test_complaint_without_history_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_words, "_git", lambda *_: None)

    assert plain_words.complaint() == ""


def test_complaint_names_new_riddles_of_changed_files(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = {
        "merge-base": "base",
        "rev-parse": "head",
        "diff": "README.md\n" + "SECURITY.md",
        "show": "Nobody reads.\n",
    }
    monkeypatch.setattr(plain_words, "_git", lambda *words: answers[words[0]])
    monkeypatch.setattr(
        plain_words, "_read", lambda name: "Nobody reads.\n" + "Who asks, waits.\n" * 2 * (name == "README.md")
    )

    assert plain_words.complaint().splitlines() == [
        "4 puzzling texts in the changed files, 2 before. New:",
        "  README.md:2: Who asks, waits.",
        "  README.md:3: Who asks, waits.",
    ]


@pytest.mark.parametrize("folder", plain_words.LIMITS)
def test_share_of_riddles_in_a_folder_is_below_its_limit(folder: str) -> None:
    assert plain_words.shares(folder)[folder] <= plain_words.LIMITS[folder]
