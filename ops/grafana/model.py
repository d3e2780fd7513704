"""Parts of dashboards: panels in rows, and the PromQL that most of them share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

ENVIRONMENT = 'environment=~"$environment"'
INSTANCE = 'instance=~"$instance"'
#: Requests of monitoring do not count as service.
SERVED = f'{INSTANCE}, route!~"GET /(healthz|readyz)"'


@dataclass(frozen=True)
class Panel:
    """One panel. `queries` maps the legend of each query to its PromQL.

    `shape` is `timeseries`, `stat` or `table`; `unit` is one of Grafana's; `limits` are the values from which it turns
    yellow and red, `floors` those below which it does; `below_zero` says that the scale need not begin at 0. `idle` is
    shown where there is nothing to draw, and `leads_to` is the dashboard (its uid) that says more.
    """

    title: str
    means: str
    queries: Mapping[str, str]
    unit: str = "short"
    shape: str = "timeseries"
    width: int = 8
    height: int = 8
    stacked: bool = False
    limits: Sequence[float] = ()
    floors: Sequence[float] = ()
    below_zero: bool = False
    idle: str = ""
    leads_to: str = ""


@dataclass(frozen=True)
class Dashboard:
    """One dashboard: rows of panels under their headings."""

    uid: str
    title: str
    means: str
    rows: Mapping[str, Sequence[Panel]]
    #: How far back it looks at first.
    since: str = "now-1h"
    tags: Sequence[str] = field(default=("fe",))


def rate(metric: str, *matchers: str, by: str = "") -> str:
    """The rate of a counter per second, summed by the labels."""
    return f"sum{f' by ({by})' if by else ''} (rate({metric}{{{', '.join(matchers)}}}[$__rate_interval]))"


def quantile(part: float, metric: str, *matchers: str, by: str = "") -> str:
    """A quantile of a histogram, by the labels; nothing, and not NaN, while nothing is observed."""
    return f"histogram_quantile({part}, {rate(f'{metric}_bucket', *matchers, by=f'le, {by}' if by else 'le')}) >= 0"


def share(metric: str, of_these: str, *matchers: str, by: str = "") -> str:
    """Which part of a counter's growth is `of_these` (one matcher), by the labels; nothing while it does not grow."""
    return f"{rate(metric, *matchers, of_these, by=by)} / ({rate(metric, *matchers, by=by)} > 0)"


def quantiles(metric: str, *matchers: str) -> dict[str, str]:
    """The three quantiles that are worth drawing."""
    return {name: quantile(part, metric, *matchers) for name, part in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99))}


def largest(metric: str, *matchers: str, by: str = "") -> str:
    """Maximum of a gauge that every process reads from the same database; survives a stuck process."""
    return f"max{f' by ({by})' if by else ''} ({metric}{{{', '.join(matchers)}}})"
