"""Pictures of dashboards: how given series are drawn."""

import pytest
from lxml import etree

from ops.grafana.build import DASHBOARDS, render
from ops.grafana.drawing import Line, Mark, Shown, draw
from ops.grafana.figures import scale, show
from ops.grafana.model import Dashboard
from ops.grafana.pictures import named

SVG = "{http://www.w3.org/2000/svg}"
#: A minute, a value a second.
SINCE, UNTIL = 1_800_000_000.0, 1_800_000_060.0


def line(name: str, *values: float) -> Line:
    return Line(name, [(SINCE + nth, value) for nth, value in enumerate(values)], {"instance": name})


def pictured(dashboard: Dashboard, *lines: Line, marks: tuple[Mark, ...] = ()) -> etree._Element:
    """The picture of a dashboard all of whose panels show the same."""
    rendered = render(dashboard)
    of_panels = {panel["id"]: lines for panel in rendered["panels"]}
    return etree.fromstring(draw(rendered, Shown(SINCE, UNTIL, 1.0, of_panels, marks)))


def words(picture: etree._Element) -> list[str]:
    return [text.text or "" for text in picture.iter(f"{SVG}text")]


@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda dashboard: dashboard.uid)
def test_every_panel_has_its_place_its_title_and_its_lines(dashboard: Dashboard) -> None:
    picture = pictured(dashboard, line("one", 0.0, 1.0, 2.0), line("other", 3.0, 2.0, 1.0))

    said = words(picture)
    panels = [panel for panel in render(dashboard)["panels"] if panel["type"] != "row"]
    assert said[:2] == [dashboard.title, dashboard.means]
    assert {panel["title"] for panel in panels} <= set(said)
    assert set(dashboard.rows) <= set(said)
    drawn = picture.findall(f"{SVG}g")
    assert [group.get("id") for group in drawn] == [f"panel-{panel['id']}" for panel in panels]
    for panel, group in zip(panels, drawn, strict=True):
        assert list(group.iter(f"{SVG}path")) or panel["type"] == "table"
        assert {"one", "other"} <= set(words(group))
    frames = [group.find(f"{SVG}rect") for group in drawn]
    corners = [(frame.get("x"), frame.get("y")) for frame in frames if frame is not None]
    assert len(set(corners)) == len(panels)


def test_what_has_no_data_says_so_in_the_words_of_its_panel() -> None:
    overview = DASHBOARDS[0]
    said = words(pictured(overview))

    idle = [panel.idle or "No data" for panels in overview.rows.values() for panel in panels]
    assert sorted(word for word in said if word in set(idle)) == sorted(idle)


def test_thresholds_and_what_happened_are_drawn_across() -> None:
    (failed,) = (panel for panel in render(DASHBOARDS[0])["panels"] if panel["title"] == "Failed, by route")
    happened = Mark(SINCE + 30, "red", "circuit open: ecf (testecf)")

    picture = pictured(DASHBOARDS[0], line("one", 0.0, 0.02), marks=(happened,))

    (panel,) = (group for group in picture.iter(f"{SVG}g") if group.get("id") == f"panel-{failed['id']}")
    dashed = {rule.get("stroke") for rule in panel.iter(f"{SVG}line") if rule.get("stroke-dasharray") == "6 4"}
    assert len(dashed) == 2  # yellow and red
    assert happened.text in [title.text for title in panel.iter(f"{SVG}title")]


def test_a_line_is_broken_where_values_are_missing_and_a_legend_that_is_too_long_is_counted() -> None:
    gap = Line("gap", [(SINCE, 1.0), (SINCE + 1, 2.0), (SINCE + 9, 3.0), (SINCE + 10, 1.0)], {})
    (answered,) = (panel for panel in render(DASHBOARDS[0])["panels"] if panel["title"] == "Answered with")

    def panel_of(*lines: Line) -> etree._Element:
        return next(
            g for g in pictured(DASHBOARDS[0], *lines).iter(f"{SVG}g") if g.get("id") == f"panel-{answered['id']}"
        )

    strokes = [path for path in panel_of(gap).iter(f"{SVG}path") if path.get("fill") == "none"]
    many = panel_of(*(line(f"GET /a/rather/long/route/{number}", 1.0, 2.0) for number in range(40)))

    assert len(strokes) == 2
    assert any(word.startswith("and ") and word.endswith(" more") for word in words(many))


@pytest.mark.parametrize(
    ("value", "unit", "said"),
    [
        (0.0, "s", "0"),
        (0.25, "s", "250 ms"),
        (90.0, "s", "1.5 min"),
        (0.9995, "percentunit", "100 %"),
        (0.0123, "percentunit", "1.23 %"),
        (1536.0, "bytes", "1.5 KiB"),
        (2.5 * 1024**2, "Bps", "2.5 MiB/s"),
        (3.456, "reqps", "3.46 req/s"),
        (12345.0, "short", "12.3k"),
        (1.0, "short", "1"),
        (-2.0, "short", "-2"),
    ],
)
def test_a_value_is_written_with_its_unit(value: float, unit: str, said: str) -> None:
    assert show(value, unit) == said


@pytest.mark.parametrize("high", [0.0, 0.003, 0.7, 1.0, 7.0, 55.0, 1e9])
@pytest.mark.parametrize("unit", ["s", "short", "bytes", "percentunit"])
def test_a_scale_holds_what_it_is_to_hold_in_few_steps(high: float, unit: str) -> None:
    ticks = scale(0.0, high, unit)

    assert ticks[0] == 0.0
    assert ticks[-1] >= high
    assert 3 <= len(ticks) <= 7


def test_a_series_is_named_as_its_legend_says() -> None:
    assert named("{{stage}} of {{ environment }}", {"stage": "send", "environment": "ecf"}) == "send of ecf"
    assert named("p95", {}) == "p95"
