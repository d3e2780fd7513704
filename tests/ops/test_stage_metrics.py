"""Steps are counted in plain numbers and told as the library's own counters would tell them."""

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from fe.monitoring.stage_metrics import StageCollector

TAKEN = (0.0, 0.001, 0.0011, 0.3, 10.0, 11.5)


def test_steps_are_told_as_by_the_librarys_own_counters() -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    steps = StageCollector(ours)
    counter = Counter("fe_steps_total", "Steps of the outbox booked", ("stage", "outcome"), registry=theirs)
    bounds = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
    histogram = Histogram("fe_step_seconds", "One step, claim to booking", ("stage",), buckets=bounds, registry=theirs)
    for stage in ("sign", "send"):
        for outcome in ("done", "retry", "done"):
            steps.of(stage).count(outcome)
            counter.labels(stage, outcome).inc()
        for seconds in TAKEN:
            steps.of(stage).took(seconds)
            histogram.labels(stage).observe(seconds)

    told, expected = (generate_latest(registry).decode().splitlines() for registry in (ours, theirs))

    assert sorted(told) == sorted(line for line in expected if "_created" not in line)


def test_a_stage_is_told_of_before_its_first_step() -> None:
    registry = CollectorRegistry()
    StageCollector(registry).of("sign")

    assert registry.get_sample_value("fe_step_seconds_count", {"stage": "sign"}) == 0
