"""The files under test, read from the repository: dashboards and rules; and the metrics that a process exports."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]  # ships no types
from prometheus_client.metrics import MetricWrapperBase

from fe.monitoring.metrics import Metrics
from ops.grafana.build import DASHBOARDS

ROOT = Path(__file__).resolve().parent.parent.parent
PROMETHEUS = ROOT / "ops" / "prometheus"
RUNBOOKS = ROOT / "ops" / "runbooks"
RULES = sorted((PROMETHEUS / "rules").glob("*.yml"))
ALERT_URL = re.compile(r"\{\{ \$externalURL \}\}/user/([\w-]+\.md)")
RULE_TESTS = sorted((PROMETHEUS / "tests").glob("*.yml"))

#: Labels that Prometheus itself adds to every series of a target.
TARGET_LABELS = frozenset({"job", "instance"})


def load(path: Path) -> Any:
    """A YAML file."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@cache
def rules() -> list[dict[str, Any]]:
    """Every rule of every file: alerts have `alert`, recordings have `record`."""
    return [rule for path in RULES for group in load(path)["groups"] for rule in group["rules"]]


def runbook_of(alert: dict[str, Any]) -> str:
    """The file that an alert leads to."""
    found = ALERT_URL.fullmatch(alert["annotations"]["runbook_url"])
    assert found is not None, alert["annotations"]
    return found[1]


def alerts() -> list[dict[str, Any]]:
    return [rule for rule in rules() if "alert" in rule]


@dataclass(frozen=True)
class Expression:
    """PromQL, and where it stands."""

    where: str
    text: str


def expressions() -> list[Expression]:
    """All PromQL of rules and dashboards."""
    of_rules = [Expression(rule.get("alert") or rule["record"], rule["expr"]) for rule in rules()]
    of_panels = [
        Expression(f"{dashboard.uid}: {panel.title}", query)
        for dashboard in DASHBOARDS
        for panels in dashboard.rows.values()
        for panel in panels
        for query in panel.queries.values()
    ]
    return of_rules + of_panels


@cache
def exported() -> dict[str, frozenset[str]]:
    """The name of every series that a process exports, and its labels."""
    metrics = Metrics()
    found: dict[str, frozenset[str]] = {}
    # The library has no public way to ask for the labels of a metric that has no series yet.
    own = [metric for metric in vars(metrics).values() if isinstance(metric, MetricWrapperBase)]
    own += [metric for metric in vars(metrics.rejections).values() if isinstance(metric, MetricWrapperBase)]
    described = [(family, frozenset(metric._labelnames)) for metric in own for family in metric.describe()]
    described += [(family, frozenset(family._labelnames)) for family in metrics.steps.describe()]
    for family, labels in described:
        if family.type == "histogram":
            found |= {f"{family.name}_sum": labels, f"{family.name}_count": labels}
            found[f"{family.name}_bucket"] = labels | {"le"}
        else:
            found[f"{family.name}_total" if family.type == "counter" else family.name] = labels
    process = [family for family in metrics.registry.collect() if family.name.startswith("process_")]
    return found | {sample.name: frozenset() for family in process for sample in family.samples}
