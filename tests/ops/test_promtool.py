"""The rules as Prometheus itself reads and evaluates them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.ops.material import PROMETHEUS, RULE_TESTS, RULES, load

PROMTOOL = shutil.which("promtool")
AMTOOL = shutil.which("amtool")

needs_promtool = pytest.mark.skipif(
    PROMTOOL is None,
    reason="NOT PROVED HERE: that the alerts fire when they should (no promtool: apt-get install prometheus)",
)
needs_amtool = pytest.mark.skipif(
    AMTOOL is None,
    reason="NOT PROVED HERE: Alertmanager's example (no amtool: apt-get install prometheus-alertmanager)",
)


def said_of(tool: str | None, *args: str) -> str:
    """The output of a tool, which must succeed."""
    assert tool is not None
    ended = subprocess.run([tool, *args], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


@needs_promtool
def test_the_rules_and_the_example_can_be_read() -> None:
    config = said_of(PROMTOOL, "check", "config", str(PROMETHEUS / "prometheus.yml"))
    rules = said_of(PROMTOOL, "check", "rules", *map(str, RULES))

    assert "is valid prometheus config file syntax" in config
    assert rules.count("SUCCESS") == len(RULES)


@needs_promtool
@pytest.mark.parametrize("file", RULE_TESTS, ids=lambda file: file.stem)
def test_alerts_fire_when_they_should_and_say_what_they_should(file: Path) -> None:
    assert "SUCCESS" in said_of(PROMTOOL, "test", "rules", str(file))


@needs_amtool
def test_the_example_of_alertmanager_can_be_read() -> None:
    assert "SUCCESS" in said_of(AMTOOL, "check-config", str(PROMETHEUS / "alertmanager.yml"))


@needs_amtool
def test_the_examples_of_receivers_can_be_read_once_they_are_uncommented(tmp_path: Path) -> None:
    routes, heading, receivers = (PROMETHEUS / "alertmanager.yml").read_text(encoding="utf-8").partition("\nreceivers:")
    uncommented = receivers.replace("    # ", "    ")
    file = tmp_path / "alertmanager.yml"
    file.write_text(routes + heading + uncommented, encoding="utf-8")

    assert len(load(file)["receivers"]) == len([one for one in load(file)["receivers"] if len(one) > 1]) + 1
    assert "SUCCESS" in said_of(AMTOOL, "check-config", str(file))
