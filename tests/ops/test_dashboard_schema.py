"""The dashboards, held against Grafana's own published schema: the models of its SDK read them and lose nothing."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard
from grafana_foundation_sdk.models.prometheus import Dataquery

from ops.grafana.build import DASHBOARDS, FOLDER, file_of

FILES = sorted(FOLDER.glob("*.json"))

#: Fields of an annotation that belong to the data source, not to the dashboard: Grafana passes them on unchanged.
OF_THE_DATA_SOURCE = re.compile(r"/annotations/list/\d+/(target/\w+|titleFormat|tagKeys)")


def lost(given: Any, kept: Any, path: str = "") -> Iterator[str]:
    """The paths at which the parsed dashboard differs from the file."""
    if isinstance(given, dict) and isinstance(kept, dict):
        for name, value in given.items():
            if name in kept:
                yield from lost(value, kept[name], f"{path}/{name}")
            else:
                yield f"{path}/{name}"
    elif isinstance(given, list) and isinstance(kept, list) and len(given) == len(kept):
        for index, (one, other) in enumerate(zip(given, kept, strict=True)):
            yield from lost(one, other, f"{path}/{index}")
    elif given != kept:
        yield f"{path}: {given!r} became {kept!r}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_grafana_s_own_models_read_a_dashboard_and_lose_nothing(file: Path) -> None:
    register_default_plugins()
    given = json.loads(file.read_text(encoding="utf-8"))

    read = Dashboard.from_json(given)
    kept = json.loads(JSONEncoder().encode(read))

    assert [one for one in lost(given, kept) if not OF_THE_DATA_SOURCE.fullmatch(one)] == []
    queries = [target for panel in read.panels or [] for target in getattr(panel, "targets", None) or []]
    assert queries != []
    assert all(isinstance(query, Dataquery) for query in queries)


def test_a_field_that_grafana_does_not_know_is_found() -> None:
    register_default_plugins()
    given = json.loads(FILES[0].read_text(encoding="utf-8"))
    given["panels"][1]["fieldConfig"]["defaults"]["treshold"] = 1

    assert any("treshold" in one for one in lost(given, json.loads(JSONEncoder().encode(Dashboard.from_json(given)))))


def test_dashboards_lead_to_dashboards_that_exist() -> None:
    known = {dashboard.uid for dashboard in DASHBOARDS}
    led_to = {panel.leads_to for one in DASHBOARDS for row in one.rows.values() for panel in row if panel.leads_to}

    assert led_to != set()
    assert led_to <= known
    for one in DASHBOARDS:
        shown = json.loads(file_of(one).read_text(encoding="utf-8"))
        assert [link["tags"] for link in shown["links"]] == [["fe"]]
        assert [note["name"] for note in shown["annotations"]["list"]] == [
            "Releases",
            "Circuits that open",
            "Circuits that close",
        ]
