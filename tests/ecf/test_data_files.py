"""The data files: every code is used, every placeholder is filled, no key stands twice."""

import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

import fe
from fe.ecf import data_files
from fe.ecf.data_files import csv_rows, toml_rows
from fe.ecf.rules.rule import RULES, Rule
from fe.ecf.schema.messages import MESSAGES

FE = Path(fe.__file__).parent
SOURCE = "\n".join(path.read_text(encoding="utf-8") for path in FE.rglob("*.py"))
#: Words that `problem` and `found_by_rule` get for codes with placeholders.
WORDS_OF_RULES = {"kind", "threshold", "lines", "tax", "quarter", "total", "prices"}
WORDS_OF_MESSAGES = {"name", "found", "found_es", "expected", "expected_es", "kind", "types", "place", "at"}


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{(\w*)\}", text))


@pytest.mark.parametrize("code", [*RULES, *MESSAGES])
def test_code_of_a_table_is_named_in_the_source(code: str) -> None:
    assert f'"{code}"' in SOURCE


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_rule_placeholders_are_the_same_in_both_languages(rule: Rule) -> None:
    assert placeholders(rule.message) == placeholders(rule.message_es)
    assert placeholders(rule.message) <= WORDS_OF_RULES
    assert placeholders(rule.fix + rule.fix_es) == set()


@pytest.mark.parametrize("code", MESSAGES)
def test_message_placeholders_are_the_same_in_both_languages(code: str) -> None:
    text = MESSAGES[code]
    for english, spanish in ((text.message, text.message_es), (text.fix, text.fix_es)):
        assert placeholders(english) == {name.removesuffix("_es") for name in placeholders(spanish)}
        assert placeholders(english) | placeholders(spanish) <= WORDS_OF_MESSAGES


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("ecf/field_help.csv", ("element",)),
        ("ecf/schema/codes.csv", ("list", "value")),
        ("ecf/schema/units.csv", ("value",)),
        ("ecf/schema/geography.csv", ("code",)),
        ("ecf/schema/ecf.csv", ("element",)),
        ("ecf/schema/other_documents.csv", ("root", "element")),
    ],
)
def test_table_has_each_key_once(path: str, key: tuple[str, ...]) -> None:
    counts = Counter(tuple(row[name] for name in key) for row in csv_rows(path))

    assert [each for each, count in counts.items() if count > 1] == []


def test_every_data_file_is_read_by_a_module() -> None:
    files = {str(path.relative_to(FE)) for path in FE.rglob("*") if path.suffix in (".csv", ".toml")}

    assert len(files) >= 10
    assert {name for name in files if f'"{name}"' not in SOURCE} == set()


def test_row_of_another_length_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data_files, "_HERE", tmp_path)
    (tmp_path / "short.csv").write_text("a,b\n1,2\n3\n")

    with pytest.raises(ValueError, match="shorter"):
        csv_rows("short.csv")


@pytest.mark.parametrize("extra", ["", 'fix = "x"\nremedy = "y"\n', "fix = 1\n"])
def test_table_with_missing_or_unknown_field_is_refused(
    extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files, "_HERE", tmp_path)
    fields = 'severity = "rejected"\nmessage = "m"\nmessage_es = "m"\nfix_es = "f"\nsource = "s"\n'
    (tmp_path / "rules.toml").write_text(f"[code]\n{fields}{extra}")

    with pytest.raises(msgspec.ValidationError):
        toml_rows("rules.toml", Rule)
