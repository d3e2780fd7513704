"""Plots are SVG that a reader of XML takes, whatever the figures; and the plan multiplies what was measured."""

from lxml import etree

from bench.plan import plan
from bench.plots import draw


def test_plot_shows_each_line_and_zero_on_a_logarithmic_axis() -> None:
    lines = {"ours & theirs": [[0, 1.0], [1_000_000, 0.95]], "one point": [[0, 3.0]]}

    svg = draw({"title": "rate <by> history", "x": "rows", "y": "times", "lines": lines, "logarithmic": True})

    root = etree.fromstring(svg.encode())
    polylines = root.findall("{http://www.w3.org/2000/svg}polyline")
    assert len(polylines) == 2
    assert "1M" in "".join(map(str, root.itertext()))
    assert polylines[0].get("points", "").startswith("70")


def test_plot_of_zeros_is_drawn() -> None:
    svg = draw({"title": "flat", "x": "s", "y": "ms", "lines": {"a": [[0, 0.0], [1, 0.0]]}, "logarithmic": False})

    (line,) = etree.fromstring(svg.encode()).findall("{http://www.w3.org/2000/svg}polyline")
    assert len(line.get("points", "").split()) == 2


def test_plan_multiplies_the_cost_of_a_document_by_the_rate() -> None:
    found = {
        "ms of CPU, service": 3.0,
        "ms of CPU, Postgres": 1.2,
        "round trips per document": 5.0,
        "commits per document": 2.0,
        "WAL bytes per document": 8_000.0,
        "dead row versions per document": 6.0,
    }

    rows = {row["what"]: row["value"] for row in plan(found, 1_000, signature_ms=0.6, connections=8)}

    assert rows["cores of the service"] == 5.0
    assert rows["cores of Postgres"] == 2.0
    assert rows["connections"] == 5 * 11
    assert rows["WAL, MB a second"] == 8.0
