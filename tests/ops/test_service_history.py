"""The history of the service's own status: pure rules, over periods that processes recorded."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from fe.monitoring.findings import Measurements
from fe.monitoring.service_history import DAYS, Incident, Stretch, first_moment, history_of, timeline
from fe.monitoring.service_status import judge
from fe.store.records.service_states import UNMEASURED_AFTER, PartSeverity, ServicePart, StatePeriod

NOW = datetime(2026, 11, 29, 15, 30, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


def period(began: float, seen: float, severity: PartSeverity, part: ServicePart = ServicePart.SIGNING) -> StatePeriod:
    """A period by its minutes before now."""
    return StatePeriod(part, NOW - began * MINUTE, NOW - seen * MINUTE, severity)


moments = st.integers(1, 200 * 24 * 60)
periods = st.builds(
    lambda began, length, severity: period(began, max(began - length, 0), severity),
    moments,
    st.integers(0, 5000),
    st.sampled_from(PartSeverity),
)


@given(st.lists(periods, min_size=1, max_size=30))
def test_a_timeline_leaves_no_moment_out_and_keeps_the_worst(found: list[StatePeriod]) -> None:
    stretches = timeline(found, NOW)

    assert stretches[0].began_at == min(one.began_at for one in found)
    assert stretches[-1].ended_at == NOW
    for one, after in pairwise(stretches):
        assert one.ended_at == after.began_at
        assert one.severity is not after.severity
    for told in found:
        (there,) = [each for each in stretches if each.began_at <= told.began_at < each.ended_at]
        assert there.severity is not None
        assert there.severity >= told.severity
    for one in stretches:
        if one.severity is None:
            assert one.ended_at - one.began_at > UNMEASURED_AFTER


@given(st.lists(periods, min_size=1, max_size=30))
def test_days_add_up_to_what_was_measured(found: list[StatePeriod]) -> None:
    (history,) = history_of(found, NOW)
    first = first_moment(NOW)

    def within(one: Stretch) -> timedelta:
        return max(one.ended_at - max(one.began_at, first), timedelta(0))

    stretches = timeline(found, NOW)
    assert len(history.days) <= DAYS
    assert history.days[-1].day.isoformat() == "2026-11-29"
    for name, severities in (
        ("measured", set(PartSeverity)),
        ("degraded", {PartSeverity.DEGRADED}),
        ("down", {PartSeverity.DOWN}),
    ):
        told = sum((getattr(day, name) for day in history.days), timedelta(0))
        assert told == sum((within(one) for one in stretches if one.severity in severities), timedelta(0))


def test_trouble_that_grows_is_one_incident_and_a_gap_is_another() -> None:
    (history,) = history_of(
        [
            period(600, 500, PartSeverity.WELL),
            period(500, 480, PartSeverity.DEGRADED),
            period(480, 470, PartSeverity.DOWN),
            period(470, 300, PartSeverity.WELL),
            period(200, 50, PartSeverity.WELL),
            period(50, 0, PartSeverity.DEGRADED),
        ],
        NOW,
    )

    assert history.severity is PartSeverity.DEGRADED
    assert history.incidents == [
        Incident(NOW - 50 * MINUTE, None, PartSeverity.DEGRADED),
        Incident(NOW - 300 * MINUTE, NOW - 200 * MINUTE, None),
        Incident(NOW - 500 * MINUTE, NOW - 470 * MINUTE, PartSeverity.DOWN),
    ]


def test_a_part_that_nobody_measures_any_more_is_unmeasured() -> None:
    (history,) = history_of([period(60, 4, PartSeverity.WELL)], NOW)

    assert history.severity is None
    assert history.since == NOW - 4 * MINUTE
    assert history.incidents == [Incident(NOW - 4 * MINUTE, None, None)]


def test_waiting_for_the_authority_is_no_incident() -> None:
    (history,) = history_of([period(60, 30, PartSeverity.WAITING), period(30, 0, PartSeverity.WELL)], NOW)

    assert history.incidents == []
    assert history.days[-1].measured == 60 * MINUTE


def test_what_is_late_is_judged_by_the_limits_of_the_alerts() -> None:
    late: dict[tuple[str, ...], float] = {
        ("sign", "ecf"): 61.0,
        ("send", "ecf"): 301.0,
        ("reconcile", "testecf"): 5.0,
        ("track", "ecf"): 60.0,
    }

    found = judge(Measurements(late=late, webhooks_late=601.0), (), (), is_worker=True)

    assert found == {
        ServicePart.SIGNING: PartSeverity.DEGRADED,
        ServicePart.SENDING: PartSeverity.DOWN,
        ServicePart.VERDICTS: PartSeverity.WELL,
        ServicePart.WEBHOOKS: PartSeverity.DEGRADED,
    }


def test_what_waits_for_the_authority_is_not_ours() -> None:
    late: dict[tuple[str, ...], float] = {("sign", "ecf"): 400.0, ("send", "ecf"): 400.0, ("send", "testecf"): 70.0}

    found = judge(Measurements(late=late), (), {"ecf"}, is_worker=True)

    assert found == {ServicePart.SIGNING: PartSeverity.DOWN, ServicePart.SENDING: PartSeverity.DEGRADED}


def test_a_front_says_what_is_late_and_never_that_actors_are_well() -> None:
    late: dict[tuple[str, ...], float] = {("sign", "ecf"): 0.0, ("send", "ecf"): 90.0}

    found = judge(Measurements(late=late, writable=True), (), (), is_worker=False)

    assert found == {ServicePart.SENDING: PartSeverity.DEGRADED, ServicePart.ACCEPTING: PartSeverity.WELL}


def test_a_stage_in_trouble_is_degraded_though_nothing_is_late() -> None:
    assert judge(Measurements(), {"track"}, (), is_worker=True) == {ServicePart.VERDICTS: PartSeverity.DEGRADED}


def test_accepting_is_judged_by_the_database_and_by_failed_requests() -> None:
    def accepting(found: Measurements) -> PartSeverity:
        return judge(found, (), (), is_worker=False)[ServicePart.ACCEPTING]

    assert accepting(Measurements(writable=False)) is PartSeverity.DOWN
    assert accepting(Measurements(writable=True, handled=2, failed=2)) is PartSeverity.WELL
    assert accepting(Measurements(writable=True, handled=30, failed=3)) is PartSeverity.DEGRADED
    assert accepting(Measurements(writable=True, handled=1000, failed=9)) is PartSeverity.WELL
