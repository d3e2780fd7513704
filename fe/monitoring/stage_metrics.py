"""Outcomes and durations of tries per stage, counted in plain numbers and exported when Prometheus scrapes.

Locks and look-ups of the library's counters take longer than all other counting per row, so only a scrape pays for
them.
"""

from bisect import bisect_left
from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector, CollectorRegistry
from prometheus_client.utils import floatToGoString

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class StageMetrics:
    """Counts of one stage."""

    __slots__ = ("booked", "buckets", "seconds")

    def __init__(self) -> None:
        self.booked: dict[str, int] = {}
        self.buckets = [0] * (len(_BOUNDS) + 1)
        self.seconds = 0.0

    def count(self, outcome: str) -> None:
        """Count an outcome."""
        self.booked[outcome] = self.booked.get(outcome, 0) + 1

    def took(self, seconds: float) -> None:
        """Count a duration, from the claim until the outcome was written or given up."""
        self.buckets[bisect_left(_BOUNDS, seconds)] += 1
        self.seconds += seconds


class StageCollector(Collector):
    """Counts of all stages of a process, as fe_steps_total and fe_step_seconds."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._of: dict[str, StageMetrics] = {}
        registry.register(self)

    def of(self, stage: str) -> StageMetrics:
        """Return the counts of a stage; from now on it is exported."""
        return self._of.setdefault(stage, StageMetrics())

    def collect(self) -> Iterable[Metric]:
        """Export the counts; from any thread, because each number is read in one step of the interpreter."""
        steps, seconds = self.describe()
        for stage, counted in list(self._of.items()):
            for outcome, many in list(counted.booked.items()):
                steps.add_metric((stage, outcome), many)
            below, buckets = 0, list[tuple[str, float]]()
            for bound, many in zip((*map(floatToGoString, _BOUNDS), "+Inf"), list(counted.buckets), strict=True):
                below += many
                buckets.append((bound, below))
            seconds.add_metric((stage,), buckets, counted.seconds)
        return steps, seconds

    def describe(self) -> tuple[CounterMetricFamily, HistogramMetricFamily]:
        """Return both metrics without series."""
        return (
            CounterMetricFamily("fe_steps_total", "Steps of the outbox booked", labels=("stage", "outcome")),
            HistogramMetricFamily("fe_step_seconds", "One step, claim to booking", labels=("stage",)),
        )
