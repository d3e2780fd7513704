"""The report of a benchmark: ratios first, spreads, and the machine."""

import json
from pathlib import Path

import pytest

from bench.report import Report, Spread, in_turn, line_by_line


def test_competitors_run_in_turn_in_alternating_order() -> None:
    order: list[str] = []

    def measured(name: str) -> int:
        order.append(name)
        return len(order)

    found = in_turn({name: lambda name=name: measured(name) for name in ("a", "b")}, rounds=3)  # type: ignore[misc]  # mypy does not know a default in a lambda

    assert order == ["a", "b", "b", "a", "a", "b"]
    assert found == {"a": [1, 4, 5], "b": [2, 3, 6]}


def test_ratio_is_computed_per_round() -> None:
    report = Report("pairs")

    report.ratio("a : b", [2.0, 9.0, 4.0], [1.0, 3.0, 4.0])

    assert report.ratios[0].value == Spread(2.0, 1.0, 3.0, 3)


@pytest.mark.parametrize(
    ("at_least", "at_most", "holds"),
    [(2.0, None, True), (2.1, None, False), (None, 2.0, True), (None, 1.9, False), (None, None, None)],
)
def test_target_holds_or_is_missed(at_least: float | None, at_most: float | None, holds: bool | None) -> None:
    report = Report("targets")

    report.ratio("a : b", 4, 2, at_least=at_least, at_most=at_most)

    assert report.ratios[0].holds is holds
    assert report.missed == ([] if holds is not False else report.ratios)


def test_result_has_each_figure_on_a_line_of_its_own() -> None:
    said = {
        "name": "año",
        "figures": [{"of": "a", "rounds": [1, 2]}, {"of": "b"}],
        "notes": [],
        "machine": {"cores": 2},
    }

    text = line_by_line(said)

    assert json.loads(text) == said
    assert len(text.splitlines()) == len(said) + 2 + 1 + 2  # the two figures, the end of their list, the braces


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FE_BENCH_RESULTS", str(tmp_path / "results"))
    return tmp_path / "results"


def test_result_includes_facts_of_the_machine(results: Path, postgres: str) -> None:
    with Report("written", postgres) as report:
        report.figure("ours", "jobs/s", [1.0, 2.0])
        report.ratio("ours : theirs", [1.0, 2.0], [1.0, 1.0], at_least=1.0)
        report.plot("rate by connections", "connections", "jobs/s", {"ours": [(1, 1.0), (8, 2.0)]})
        report.skip("theirs", "not installed")

    said = json.loads((results / "written.json").read_text())
    assert list(said)[:2] == ["name", "ratios"]
    assert said["ratios"][0]["value"]["median"] == 1.5
    assert said["ratios"][0]["holds"] is True
    assert said["skipped"] == ["theirs: not installed"]
    assert said["series"][0]["lines"] == {"ours": [[1, 1.0], [8, 2.0]]}
    assert said["machine"]["cores"] >= 1
    assert said["machine"]["postgres_settings"]["fsync"] == "off"


def test_result_of_a_failed_benchmark_is_not_written(results: Path) -> None:
    with pytest.raises(RuntimeError), Report("failed"):
        raise RuntimeError

    assert not results.exists()


def test_spread_without_values_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing was measured"):
        Spread.of([])
