"""`make bench`: each benchmark runs even if others fail, and the page's table shows the results."""

import json
import sys
from pathlib import Path

import pytest

from bench.__main__ import ALL, LAST_SECONDS, MAX_SECONDS, Benchmark, found, run, run_all
from bench.growth import arguments_of
from bench.targets import PAGE, PROFILE, TARGETS, table, with_table, worst

#: A benchmark that finds one thing, and then does what its text says.
_FINDS = """
import sys
from bench.report import Report

with Report(sys.argv[1]) as report:
    report.ratio("ours : theirs", 3, 2, at_least=2)
    {then}
"""
_WAITS = "print('found', flush=True); import signal; signal.pause()"


def one(name: str, seconds: float = 60, then: str = "") -> Benchmark:
    return Benchmark(name, seconds, (name,), ("-c", _FINDS.format(then=then)))


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FE_BENCH_RESULTS", str(tmp_path))
    return tmp_path


def test_benchmark_that_fails_is_named_and_the_others_run(results: Path) -> None:
    ends = run_all([one("first"), one("fails", then="sys.exit(3)"), one("last")], {})

    assert ends["fails"].startswith("ENDED with 3")
    assert [ends[name].split()[0] for name in ("first", "last")] == ["took", "took"]
    rows, _ = found(results, 0.0)
    assert [(row["benchmark"], row["median"], row["target"], row[""]) for row in rows] == [
        ("first", 1.5, "at least 2", "MISSED"),
        ("last", 1.5, "at least 2", "MISSED"),
    ]


def test_benchmark_over_its_time_is_cut_off_and_keeps_its_results(results: Path) -> None:
    end = run(one("slow", then=_WAITS), None, seconds=10, last_seconds=60)

    assert end == "CUT OFF after 10 s"
    rows, skipped = found(results, 0.0)
    assert [row["benchmark"] for row in rows] == ["slow"]
    assert skipped == ["slow: the rest: it was cut off"]


def test_benchmark_that_ignores_the_stop_is_killed(results: Path) -> None:
    deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); signal.pause()"

    end = run(one("deaf", then=deaf), None, seconds=10, last_seconds=1)

    assert end.endswith("and killed")
    assert found(results, 0.0) == ([], [])


def test_results_of_another_run_are_not_printed(results: Path) -> None:
    run(one("old"), None, 60)

    assert found(results, (results / "old.json").stat().st_mtime + 1) == ([], [])


def test_command_names_the_folder_of_peers() -> None:
    assert Benchmark("http", 1).command(Path("/peers")) == [
        sys.executable,
        "-m",
        "bench.http",
        "--short",
        "--peers",
        "/peers",
    ]


def test_limits_of_all_benchmarks_fit_the_whole_limit() -> None:
    assert sum(each.seconds for each in ALL) + LAST_SECONDS <= MAX_SECONDS


def test_short_form_of_growth_matches_its_help() -> None:
    short, whole = arguments_of(["--short"]), arguments_of([])

    assert (short.history, short.tenants, short.backlog) == ([200_000], [1_000, 20_000], 200_000)
    assert (whole.history, whole.tenants, whole.backlog) == ([1_000_000, 10_000_000], [1_000, 20_000], 1_000_000)


def test_table_of_the_page_matches_the_results() -> None:
    """After `make bench`, or `python -m bench.targets --write`."""
    text = PAGE.read_text(encoding="utf-8")

    assert with_table(text, table()) == text


def test_ratios_with_one_target_show_the_worst(tmp_path: Path) -> None:
    def ratio(name: str, value: float, at_most: float | None) -> dict[str, object]:
        spread = {"median": value, "lowest": value, "highest": value, "rounds": 1}
        holds = None if at_most is None else value <= at_most
        return {"name": name, "value": spread, "at_least": None, "at_most": at_most, "holds": holds}

    ratios = [ratio("CPU, as empty : empty", 1.01, 1.1), ratio("CPU, 1,000 old : empty", 1.2, 1.1)]
    machine = {"load_before": 0.5, "load_after": 2.0, "usable_cores": 2, "commit": "1234567890"}
    result = {"ratios": ratios, "machine": machine, "command": "python -m bench.growth", "taken_at": "2026-11-23T01:00"}
    (tmp_path / "growth.json").write_text(json.dumps(result), encoding="utf-8")

    lines = table(tmp_path)

    assert worst(ratios)["name"] == "CPU, 1,000 old : empty"
    assert "at most 1.1 | 1.2, the worst of 2: 1,000 old : empty | MISSED |" in lines
    assert "commit 1234567, 2 cores, load 0.5 before, 2.0 after" in lines
    assert "- not in the results: CPU of service and Postgres" in lines


def test_table_includes_profile_and_plots(tmp_path: Path) -> None:
    machine = {"load_before": 0.5, "load_after": 2.0, "usable_cores": 2, "commit": "1234567890"}
    parts = [{"part": "the front", "us": 150.2, "share": "60%"}, {"part": "the rest", "us": 3.0, "share": "1%"}]
    series = [{"title": "rate by history", "lines": {"ours": [[0, 1.0]]}}, {"title": "nothing", "lines": {"ours": []}}]
    result = {"name": "road", "ratios": [], "machine": machine, "tables": {PROFILE: parts}, "series": series}
    (tmp_path / "road.json").write_text(json.dumps(result), encoding="utf-8")

    lines = table(tmp_path)

    assert "| the front | 150 | 60% |" in lines
    assert "the rest" not in lines
    assert lines.endswith("![rate by history](performance/road-rate-by-history.svg)")


def test_every_target_belongs_to_a_benchmark_of_make_bench() -> None:
    names = {each.name for each in ALL}

    assert {target.result.replace("accept", "http") for target in TARGETS} <= names
