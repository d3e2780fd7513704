"""Rules, dashboards, runbooks and metrics speak of the same things. No tool is needed to see that."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

import pytest

from fe.authority.gateway import OUTCOMES
from fe.contingency import TermState
from fe.ecf.catalogue import Environment, Host
from fe.lifecycle import FINAL, Stage
from fe.monitoring.collectors import CERTIFICATE_TIMES, CHARGE_STATES, NUMBERS_LEFT, SEQUENCE_TIMES
from fe.monitoring.initial_series import HANDED_ON
from ops.grafana.build import DASHBOARDS, FOLDER, file_of, written
from ops.grafana.model import Panel
from tests.ops.material import (
    PROMETHEUS,
    RULE_TESTS,
    RUNBOOKS,
    TARGET_LABELS,
    Expression,
    alerts,
    exported,
    expressions,
    load,
    rules,
    runbook_of,
)
from tests.ops.promql import alternatives, grouped_by, selectors

#: Which alerts keep which others quiet, in Alertmanager's example.
INHIBIT_RULES = load(PROMETHEUS / "alertmanager.yml")["inhibit_rules"]

PANELS = [panel for dashboard in DASHBOARDS for panels in dashboard.rows.values() for panel in panels]

#: Series of Prometheus itself, and of node_exporter beside the database.
_OF_NODE_EXPORTER = frozenset({"mountpoint", "fstype"})
OF_PROMETHEUS = {
    "node_filesystem_avail_bytes": _OF_NODE_EXPORTER,
    "node_filesystem_size_bytes": _OF_NODE_EXPORTER,
    "up": frozenset[str](),
    "ALERTS": frozenset({"alertname", "alertstate", "severity"}),
}

#: The values of labels that are closed sets, where the code says what they are.
VALUES: dict[str, set[str]] = {
    "stage": {*Stage},
    "environment": {*Environment},
    "host": {*Host},
    "left": set(NUMBERS_LEFT),
    "expires": {*CERTIFICATE_TIMES, *SEQUENCE_TIMES},
    "actor": {*Stage, "metering", "charge", "circuits", "rescuer", "outbox watch", "gauges"},
    "state": {*CHARGE_STATES, *TermState},
    "kind": {"live", "dead", *HANDED_ON[0]},
    "source": {"cache", "disk"},
    "end": {"committed", "rolled back"},
    "bucket": {"address", "key"},
}
OUTCOMES_OF = {"fe_authority_requests_total": set(OUTCOMES), "fe_login_total": {"granted", "refused", "throttled"}}

#: Runbooks that no alert leads to.
PROCEDURES = {"poison-document.md", "rotate-secrets.md", "restore-backup.md", "tenant-leaves.md"}

SEVERITIES = {"page", "ticket", "heartbeat", "none"}


def known() -> dict[str, frozenset[str]]:
    recorded = {rule["record"]: frozenset(grouped_by(rule["expr"])) for rule in rules() if "record" in rule}
    return {**exported(), **recorded, **OF_PROMETHEUS}


@pytest.mark.parametrize("expression", expressions(), ids=lambda one: one.where)
def test_an_expression_speaks_of_metrics_and_labels_that_exist(expression: Expression) -> None:
    names = known()
    asked = selectors(expression.text)

    assert [one.metric for one in asked if one.metric not in names] == []
    unknown = [
        (one.metric, label)
        for one in asked
        for label, _, _ in one.matchers
        if label not in names[one.metric] | TARGET_LABELS
    ]
    assert unknown == []
    everywhere = frozenset(chain.from_iterable(names[one.metric] for one in asked)) | TARGET_LABELS
    assert grouped_by(expression.text) - everywhere == set()


@pytest.mark.parametrize("expression", expressions(), ids=lambda one: one.where)
def test_an_expression_asks_for_values_that_occur(expression: Expression) -> None:
    for one in selectors(expression.text):
        for label, operator, value in one.matchers:
            possible = OUTCOMES_OF.get(one.metric) if label == "outcome" else VALUES.get(label)
            if one.metric == "fe_verdicts_total" and label == "status":
                possible = set(FINAL)
            assert possible is None or set(alternatives(operator, value)) <= possible, (one.metric, label, value)


def test_every_metric_of_ours_is_looked_at() -> None:
    looked_at = {one.metric for expression in expressions() for one in selectors(expression.text)}

    stems = {re.sub(r"_(bucket|sum|count)$", "", name) for name in looked_at}
    unused = {name for name in exported() if re.sub(r"_(bucket|sum|count)$", "", name) not in stems}
    assert {name for name in unused if name.startswith("fe_")} == set()


def test_no_metric_says_which_tenant_it_is_about() -> None:
    labels = set().union(*exported().values())

    assert {
        label for label in labels if re.search(r"tenant|key|encf|e_ncf|rnc|track|url|error|user|id$", label)
    } == set()


def test_the_dashboards_that_are_kept_are_those_that_are_built() -> None:
    assert {path.name for path in FOLDER.glob("*.json")} == {file_of(one).name for one in DASHBOARDS}
    for dashboard in DASHBOARDS:
        kept = file_of(dashboard).read_text(encoding="utf-8")
        assert kept == written(dashboard), "run: python -m ops.grafana.build"


def test_dashboards_are_told_apart_and_share_their_variables() -> None:
    shown = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.json"))]

    assert len({one["uid"] for one in shown}) == len({one["title"] for one in shown}) == len(shown) == 9
    for one in shown:
        assert [variable["name"] for variable in one["templating"]["list"]] == ["datasource", "environment", "instance"]
        ids = [panel["id"] for panel in one["panels"]]
        assert len(set(ids)) == len(ids)
        assert all(panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24 for panel in one["panels"])


@pytest.mark.parametrize("panel", PANELS, ids=lambda panel: panel.title)
def test_a_panel_says_what_it_means_and_names_what_it_draws(panel: Panel) -> None:
    assert panel.means.endswith(".")
    for legend, query in panel.queries.items():
        by = grouped_by(query) or set().union(*(known()[one.metric] for one in selectors(query))) | TARGET_LABELS
        assert set(re.findall(r"\{\{(\w+)\}\}", legend)) <= by
        variables = set(re.findall(r"\$(\w+)", query))
        assert variables <= {"environment", "instance", "__rate_interval", "__range"}


@pytest.mark.parametrize("alert", alerts(), ids=lambda alert: f"{alert['alert']}-{alert['labels']['severity']}")
def test_an_alert_says_how_bad_it_is_and_what_to_do(alert: dict[str, dict[str, str]]) -> None:
    assert re.fullmatch(r"[0-9]+[smh]", str(alert["for"]))
    assert alert["labels"]["severity"] in SEVERITIES
    assert set(alert["annotations"]) == {"summary", "runbook_url"}
    assert (RUNBOOKS / runbook_of(alert)).is_file()


def test_test_environments_wake_nobody() -> None:
    of_an_environment = [
        alert
        for alert in alerts()
        if any("environment" in known()[one.metric] for one in selectors(alert["expr"]))
        and alert["labels"]["severity"] == "page"
    ]

    assert len(of_an_environment) == 10
    assert [alert["alert"] for alert in of_an_environment if 'environment="ecf"' not in alert["expr"]] == []


def test_every_alert_is_tested_when_it_fires_and_when_it_does_not() -> None:
    fires, is_quiet = set(), set()
    for path in RULE_TESTS:
        for case in load(path)["tests"]:
            for look in case["alert_rule_test"]:
                expected = look.get("exp_alerts") or []
                fires |= {(look["alertname"], one["exp_labels"]["severity"]) for one in expected}
                is_quiet |= set() if expected else {look["alertname"]}

    assert {(alert["alert"], alert["labels"]["severity"]) for alert in alerts()} == fires
    assert {alert["alert"] for alert in alerts()} - is_quiet == {"FeDeadMansSwitch"}


def test_runbooks_are_led_to() -> None:
    led_to = {runbook_of(alert) for alert in alerts()}

    assert {path.name for path in RUNBOOKS.glob("*.md")} == led_to | PROCEDURES


def test_one_alert_silences_another_that_exists() -> None:
    names = {alert["alert"] for alert in alerts()}

    for rule in INHIBIT_RULES:
        for matcher in chain(rule["source_matchers"], rule["target_matchers"]):
            label, _, value = re.split(r"(=~|=)", matcher, maxsplit=1)
            if label == "alertname":
                for pattern in value.strip('"').split("|"):
                    assert any(re.fullmatch(pattern, name) for name in names), pattern


def test_a_summary_of_an_increase_has_no_fractions() -> None:
    """Prometheus extrapolates increases: 2 of them are 2.034."""
    estimated = [alert for alert in alerts() if re.search(r"\b(increase|delta)\(", alert["expr"])]

    fractions = [
        alert["alert"]
        for alert in estimated
        if "$value" in alert["annotations"]["summary"]
        and not re.search(r'\$value \| (printf "%.0f"|humanizePercentage)', alert["annotations"]["summary"])
    ]
    assert len(estimated) > 5
    assert fractions == []


def inhibitions() -> dict[str, set[str]]:
    """Which alerts each alert may inhibit, by name."""
    labels = [{"alertname": alert["alert"], **alert["labels"]} for alert in alerts()]
    everywhere = {"environment": "ecf", "instance": "one", "stage": "send"}
    return {
        source["alertname"]: {
            target["alertname"]
            for target in labels
            if target["alertname"] != source["alertname"] and is_kept_quiet(everywhere | target, everywhere | source)
        }
        for source in labels
    }


def test_an_alert_that_is_inhibited_inhibits_nothing_that_its_inhibitor_does_not() -> None:
    """Else one harmless alert silences a chain: a missing process FeNobodyWorks, and that all late work."""
    inhibited = inhibitions()
    chains = [
        (first, second, third)
        for first, seconds in inhibited.items()
        for second in seconds
        for third in inhibited[second] - seconds - {first}
    ]

    assert chains == []


def test_a_page_that_receipts_are_not_sent_is_inhibited_by_nothing() -> None:
    silencers = {
        source for source, targets in inhibitions().items() if targets & {"FeNobodyWorks", "FeDatabaseReadOnly"}
    }

    assert silencers == set()


def is_kept_quiet(target: Mapping[str, str], source: Mapping[str, str]) -> bool:
    """Whether Alertmanager's example says nothing of an alert with these labels while the other fires."""

    def meets(labels: Mapping[str, str], matchers: Sequence[str]) -> bool:
        split = (re.split(r"(=~|=)", matcher, maxsplit=1) for matcher in matchers)
        return all(
            re.fullmatch(value.strip('"') if is_like == "=~" else re.escape(value.strip('"')), labels.get(label, ""))
            for label, is_like, value in split
        )

    return any(
        meets(source, rule["source_matchers"])
        and meets(target, rule["target_matchers"])
        and all(source.get(label, "") == target.get(label, "") for label in rule.get("equal", ()))
        for rule in INHIBIT_RULES
    )


def test_a_process_without_the_database_silences_what_follows_there_and_nothing_of_the_others() -> None:
    portal = {"alertname": "FeDatabaseUnreachable", "severity": "page", "instance": "portal-1"}
    away = {"alertname": "FeDatabaseAway", "severity": "none"}
    of_a_process = [
        {"alertname": name, "severity": "page", "instance": instance}
        for name in ("FeActorSilent", "FeStageInTrouble")
        for instance in ("portal-1", "actors-1")
    ]
    of_all = [
        {"alertname": "FeOutboxVeryLate", "severity": "page", "environment": "ecf"},
        {"alertname": "FeAvailabilityBurnsFast", "severity": "page"},
    ]

    assert [is_kept_quiet(one, portal) for one in of_a_process] == [True, False, True, False]
    assert [is_kept_quiet(one, portal) for one in of_all] == [False, False]
    assert [is_kept_quiet(one, away) for one in of_all] == [True, True]


def test_alerts_of_one_name_differ_in_severity() -> None:
    named = Counter((alert["alert"], alert["labels"]["severity"]) for alert in alerts())

    assert [name for name, count in named.items() if count > 1] == []
