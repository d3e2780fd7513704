"""The clock check: which differences stop signing, which prove nothing, and when signing may go on."""

from datetime import UTC, datetime, timedelta

import pytest

from fe.clock import ClockCheck, Comparison

NOON = datetime(2026, 11, 26, 12, tzinfo=UTC)


class Machine:
    """A machine whose wall clock may be set; `seconds` pass on both of its clocks."""

    def __init__(self) -> None:
        self.seconds, self.ahead = 0.0, 0.0
        self.check = ClockCheck(self.clock, steady=lambda: self.seconds)

    def clock(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds + self.ahead)

    def compare(self, *, took: float = 0.001, database_ahead: float = 0.0) -> None:
        before, theirs = self.clock(), NOON + timedelta(seconds=self.seconds + took / 2 + database_ahead)
        self.seconds += took
        self.check.compared(Comparison.of(before, took, theirs))


def test_clock_check_before_the_first_comparison_reports_a_fault() -> None:
    assert "has not been compared" in (Machine().check.fault() or "")


@pytest.mark.parametrize("ahead", [0.0, 1.9, -1.9])
def test_clock_check_within_two_seconds_reports_no_fault(ahead: float) -> None:
    machine = Machine()
    machine.ahead = ahead
    machine.compare()

    assert machine.check.fault() is None


@pytest.mark.parametrize(("ahead", "said"), [(30.0, "30.0 s ahead of"), (-2.5, "2.5 s behind")])
def test_clock_check_beyond_two_seconds_reports_the_difference(ahead: float, said: str) -> None:
    machine = Machine()
    machine.ahead = ahead
    machine.compare()

    assert said in (machine.check.fault() or "")


@pytest.mark.parametrize("took", [4.5, 60.0])
def test_clock_check_after_a_slow_round_trip_changes_nothing(took: float) -> None:
    machine = Machine()
    machine.compare()
    machine.compare(took=took)
    assert machine.check.fault() is None

    machine.ahead = 3.0
    machine.compare()
    assert machine.check.fault() is not None
    machine.ahead = 0.0
    machine.compare(took=took)
    assert machine.check.fault() is not None


def test_clock_check_when_the_clock_is_set_reports_it_before_the_next_comparison() -> None:
    machine = Machine()
    machine.compare()

    machine.ahead = 5.0
    assert "5.0 s ahead" in (machine.check.fault() or "")
    machine.ahead = 0.0
    assert machine.check.fault() is None


def test_clock_check_when_the_database_is_set_reports_it_and_recovers_by_itself() -> None:
    machine = Machine()
    machine.compare(database_ahead=7200.0)
    assert "7200.0 s behind" in (machine.check.fault() or "")

    machine.compare()
    assert machine.check.fault() is None
