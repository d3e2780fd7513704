"""Writes the dashboards as JSON, for Grafana's provisioning or its import page: `python -m ops.grafana.build`.

A test says when it has to be run again. No panel can be narrowed to one tenant, because no metric says which tenant it
is about: questions about one tenant are asked with `fe outbox`, or in SQL.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ops.grafana.business import BUSINESS
from ops.grafana.credentials import SEQUENCES, SIGNING
from ops.grafana.model import Dashboard, Panel
from ops.grafana.pipeline import AUTHORITY, PIPELINE
from ops.grafana.processes import PROCESSES
from ops.grafana.traffic import OVERVIEW, SECURITY
from ops.grafana.webhooks import WEBHOOKS

FOLDER = Path(__file__).parent
DASHBOARDS = (OVERVIEW, PIPELINE, AUTHORITY, SIGNING, SECURITY, SEQUENCES, PROCESSES, BUSINESS, WEBHOOKS)

#: Grafana's grid.
WIDTH = 24

_SOURCE = {"type": "prometheus", "uid": "${datasource}"}

_VARIABLES: list[dict[str, Any]] = [
    {
        "name": "datasource",
        "label": "Data source",
        "type": "datasource",
        "query": "prometheus",
        "refresh": 1,
        "hide": 0,
    },
    {
        "name": "environment",
        "label": "Environment",
        "type": "custom",
        "query": "ecf,certecf,testecf",
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "hide": 0,
    },
    {
        "name": "instance",
        "label": "Process",
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": "label_values(fe_build_info, instance)", "refId": "instances"},
        "refresh": 2,
        "sort": 1,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
        "hide": 0,
    },
]


def _turned(*, to: int) -> str:
    """Change against a minute ago, also where a scrape failed just then."""
    now, before = (
        f"max by (environment, host) (last_over_time(fe_authority_circuit_open[1m]{offset}))"
        for offset in ("", " offset 1m")
    )
    return f"{now} == {to} and {before} == {1 - to}"


#: Drawn over every panel: what changed, where one looks for why something changed.
ANNOTATIONS: list[dict[str, Any]] = [
    {
        "name": name,
        "datasource": _SOURCE,
        "enable": True,
        "hide": False,
        "iconColor": colour,
        "target": {"refId": "Anno", "expr": query, "interval": "30s"},
        "titleFormat": title,
        "tagKeys": tags,
    }
    for name, colour, title, tags, query in (
        (
            "Releases",
            "blue",
            "version {{version}} has come",
            "version",
            "count by (version) (fe_build_info)"
            " unless count by (version) (last_over_time(fe_build_info[1h] offset 1m))",
        ),
        (
            "Circuits that open",
            "red",
            "circuit open: {{host}} ({{environment}})",
            "environment,host",
            _turned(to=1),
        ),
        (
            "Circuits that close",
            "green",
            "circuit closed: {{host}} ({{environment}})",
            "environment,host",
            _turned(to=0),
        ),
    )
]


def render(dashboard: Dashboard) -> dict[str, Any]:
    """The dashboard as Grafana reads it."""
    return {
        "uid": dashboard.uid,
        "title": dashboard.title,
        "description": dashboard.means,
        "tags": list(dashboard.tags),
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "time": {"from": dashboard.since, "to": "now"},
        "timezone": "browser",
        "refresh": "30s",
        "links": [
            {
                "type": "dashboards",
                "title": "fe",
                "tags": ["fe"],
                "asDropdown": False,
                "includeVars": True,
                "keepTime": True,
            }
        ],
        "templating": {"list": _VARIABLES},
        "annotations": {"list": ANNOTATIONS},
        "panels": list(_placed(dashboard.rows)),
    }


def _placed(rows: Mapping[str, Sequence[Panel]]) -> Iterator[dict[str, Any]]:
    """Lay the panels out from left to right, and below when a line is full."""
    number, top = 1, 0
    for heading, panels in rows.items():
        yield {
            "id": number,
            "type": "row",
            "title": heading,
            "collapsed": False,
            "panels": [],
            "gridPos": _at(0, top, WIDTH, 1),
        }
        number, top = number + 1, top + 1
        left = tallest = 0
        for panel in panels:
            if left + panel.width > WIDTH:
                left, top, tallest = 0, top + tallest, 0
            yield {"id": number, "gridPos": _at(left, top, panel.width, panel.height), **_panel(panel)}
            number, left, tallest = number + 1, left + panel.width, max(tallest, panel.height)
        top += tallest


def _at(left: int, top: int, width: int, height: int) -> dict[str, int]:
    return {"x": left, "y": top, "w": width, "h": height}


def _panel(panel: Panel) -> dict[str, Any]:
    defaults: dict[str, Any] = {"unit": panel.unit, "color": {"mode": "palette-classic"}}
    if not panel.below_zero:
        defaults["min"] = 0
    if panel.idle:
        defaults["noValue"] = panel.idle
    if panel.leads_to:
        defaults["links"] = [
            {"title": "More", "url": f"/d/{panel.leads_to}?${{__url_time_range}}&${{__all_variables}}"}
        ]
    if panel.floors:
        low, lowest = panel.floors
        steps = [
            {"color": "red", "value": None},
            {"color": "yellow", "value": lowest},
            {"color": "green", "value": low},
        ]
        defaults["thresholds"] = {"mode": "absolute", "steps": steps}
        defaults["color"] = {"mode": "thresholds"}
    elif panel.limits:
        colours: list[dict[str, Any]] = [{"color": "green", "value": None}]
        colours += [{"color": colour, "value": at} for colour, at in zip(("yellow", "red"), panel.limits, strict=True)]
        defaults["thresholds"] = {"mode": "absolute", "steps": colours}
        if panel.shape == "stat":
            defaults["color"] = {"mode": "thresholds"}
    options: dict[str, Any]
    if panel.shape == "timeseries":
        defaults["custom"] = {
            "lineWidth": 1,
            "fillOpacity": 20 if panel.stacked else 5,
            "stacking": {"mode": "normal" if panel.stacked else "none", "group": "A"},
            "thresholdsStyle": {"mode": "dashed" if panel.limits else "off"},
            "showPoints": "never",
        }
        options = {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        }
    elif panel.shape == "stat":
        options = {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value", "graphMode": "area"}
    else:
        options = {"showHeader": True}
    return {
        "type": panel.shape,
        "title": panel.title,
        "description": panel.means,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": defaults, "overrides": []},
        "options": options,
        "targets": [
            {
                "refId": chr(ord("A") + index),
                "datasource": _SOURCE,
                "expr": query,
                "legendFormat": legend,
                **({"instant": True, "format": "table"} if panel.shape == "table" else {}),
            }
            for index, (legend, query) in enumerate(panel.queries.items())
        ],
    }


def written(dashboard: Dashboard) -> str:
    """The very text of a dashboard's file."""
    return json.dumps(render(dashboard), ensure_ascii=False, indent=2) + "\n"


def file_of(dashboard: Dashboard) -> Path:
    """Where it lies."""
    return FOLDER / f"{dashboard.uid}.json"


if __name__ == "__main__":
    for each in DASHBOARDS:
        file_of(each).write_text(written(each), encoding="utf-8")
