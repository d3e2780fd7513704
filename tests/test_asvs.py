"""docs/security/asvs.md says what its table says, and the tests that it names are there."""

import re

from tests import asvs


def test_the_page_is_made_of_the_table() -> None:
    shown = (asvs.ROOT / "docs" / "security" / "asvs.md").read_text(encoding="utf-8")

    assert shown == asvs.page(asvs.read()), "run: python -m tests.asvs > docs/security/asvs.md"


def test_every_requirement_of_levels_1_and_2_is_in_the_table_once() -> None:
    table = asvs.read()
    numbers = [one.number for one in table]

    assert len(set(numbers)) == len(numbers)
    # The numbers of requirements in version 5.0.0 of the standard.
    assert {level: sum(one.level == level for one in table) for level in (1, 2)} == {1: 70, 2: 183}
    assert all(re.fullmatch(r"V\d+\.\d+\.\d+", number) for number in numbers)
    assert numbers == sorted(numbers, key=lambda number: [int(part) for part in number[1:].split(".")])


def test_every_test_that_is_named_is_there() -> None:
    assert [test for one in asvs.read() for test in one.tests if not asvs.is_there(test)] == []


def test_every_verdict_is_one_of_the_four_and_says_something() -> None:
    assert [one for one in asvs.read() if one.verdict not in "TRNX" or not one.told or not one.asks] == []


def test_pages_that_reasons_name_are_there() -> None:
    named = {
        path
        for one in asvs.read()
        if one.verdict != "T"
        for path in re.findall(r"\b(?:docs|ops|fe)/[\w./-]+\.(?:md|py)", one.told)
    }

    assert named
    assert [path for path in sorted(named) if not (asvs.ROOT / path).is_file()] == []
